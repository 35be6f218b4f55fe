"""Endpoints 14 and 15: protected search. Always 501, whatever the body says: complete by that."""

from typing import NoReturn

from fastapi import APIRouter

from api.responses.errors import VerificationRequiredError
from api.schemas import MUSIC_SEARCH_BODY, PROTECTED_ANSWERS, VIDEO_SEARCH_BODY

router = APIRouter(tags=["Search"])


@router.post(
    "/api/v1/vidplat/search/fetch_music_search",
    summary="Music search (always refused)",
    response_model=None,
    responses=PROTECTED_ANSWERS,
    openapi_extra=MUSIC_SEARCH_BODY,
)
async def fetch_music_search() -> NoReturn:
    """Search for music: protected by the platform, never bypassed, never simulated. 音乐搜索."""
    raise VerificationRequiredError("The platform's music search demands verification")


@router.post(
    "/api/v1/vidplat/search/fetch_video_search_v1",
    summary="Video search (always refused)",
    response_model=None,
    responses=PROTECTED_ANSWERS,
    openapi_extra=VIDEO_SEARCH_BODY,
)
async def fetch_video_search_v1() -> NoReturn:
    """Search for videos: protected by the platform, never bypassed, never simulated. 视频搜索."""
    raise VerificationRequiredError("The platform's video search demands verification")
