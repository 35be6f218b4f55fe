"""Endpoints 14 and 15: protected search. By design they answer 501 to any body of allowed size."""

from typing import NoReturn

from fastapi import APIRouter, Depends, Request

from api.responses.errors import VerificationRequiredError
from api.schemas.responses import error_responses
from warehouse.records.values import Document

_UNUSED = "accepted but unused"
_RESPONSES = error_responses("platform_verification_required", "body_too_large")


async def _read_body(request: Request) -> None:
    """Read the whole body: the size limit comes before the refusal, for a chunked body too."""
    async for _ in request.stream():
        pass


def _body(**texts: str) -> Document:
    """Describe a body with `keyword` (required), `cursor`, `search_id` and the given text
    fields.
    """
    more = {
        name: {"type": "string", "default": default, "description": _UNUSED}
        for name, default in texts.items()
    }
    schema = {
        "type": "object",
        "required": ["keyword"],
        "properties": {
            "keyword": {"type": "string", "description": "search keyword"},
            "cursor": {"type": "integer", "default": 0, "description": _UNUSED},
            "search_id": {"type": "string", "default": "", "description": _UNUSED},
            **more,
        },
    }
    content = {"application/json": {"schema": schema, "example": {"keyword": "Paper Boats"}}}
    return {"requestBody": {"content": content, "required": True}}


router = APIRouter(tags=["Search"], dependencies=[Depends(_read_body)])


@router.post(
    "/api/v1/vidplat/search/fetch_music_search",
    summary="Music search (always refused)",
    response_model=None,
    responses=_RESPONSES,
    openapi_extra=_body(),
)
async def fetch_music_search() -> NoReturn:
    """Always refused: the platform requires verification, which is never bypassed. 音乐搜索."""
    raise VerificationRequiredError("The platform's music search requires verification")


@router.post(
    "/api/v1/vidplat/search/fetch_video_search_v1",
    summary="Video search (always refused)",
    response_model=None,
    responses=_RESPONSES,
    openapi_extra=_body(
        backtrace="", sort_type="0", publish_time="0", filter_duration="0", content_type="0"
    ),
)
async def fetch_video_search_v1() -> NoReturn:
    """Always refused: the platform requires verification, which is never bypassed. 视频搜索."""
    raise VerificationRequiredError("The platform's video search requires verification")
