"""Endpoints 14 and 15: protected search. By design they answer 501 to any body of allowed size."""

from typing import NoReturn

from fastapi import APIRouter, Depends, Request

from api.responses.errors import VerificationRequiredError
from api.schemas.bodies import MUSIC_SEARCH_BODY, VIDEO_SEARCH_BODY
from api.schemas.responses import PROTECTED_RESPONSES


async def _read_body(request: Request) -> None:
    """Read the whole body: the size limit comes before the refusal, for a chunked body too."""
    async for _ in request.stream():
        pass


router = APIRouter(tags=["Search"], dependencies=[Depends(_read_body)])


@router.post(
    "/api/v1/vidplat/search/fetch_music_search",
    summary="Music search (always refused)",
    response_model=None,
    responses=PROTECTED_RESPONSES,
    openapi_extra=MUSIC_SEARCH_BODY,
)
async def fetch_music_search() -> NoReturn:
    """Always refused: the platform requires verification, which is never bypassed. 音乐搜索."""
    raise VerificationRequiredError("The platform's music search requires verification")


@router.post(
    "/api/v1/vidplat/search/fetch_video_search_v1",
    summary="Video search (always refused)",
    response_model=None,
    responses=PROTECTED_RESPONSES,
    openapi_extra=VIDEO_SEARCH_BODY,
)
async def fetch_video_search_v1() -> NoReturn:
    """Always refused: the platform requires verification, which is never bypassed. 视频搜索."""
    raise VerificationRequiredError("The platform's video search requires verification")
