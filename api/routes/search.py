"""Endpoints 14 and 15: protected search. By design they always answer 501, whatever the body."""

from typing import NoReturn

from fastapi import APIRouter

from api.responses.errors import VerificationRequiredError
from api.schemas.bodies import MUSIC_SEARCH_BODY, VIDEO_SEARCH_BODY
from api.schemas.responses import PROTECTED_RESPONSES

router = APIRouter(tags=["Search"])


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
