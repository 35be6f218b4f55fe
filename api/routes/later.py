"""Operations of the interface that this version does not carry out yet: they say so, with 501.

An operation leaves this table when its route is written.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import NoReturn

from fastapi import APIRouter

from api.schemas import LATER_ANSWERS
from pipelines.domain.errors import ProviderUnsupportedError

VIDPLAT = "/api/v1/vidplat"


@dataclass(frozen=True, slots=True)
class Later:
    """One operation: `summary` is what it will do."""

    method: str
    path: str
    tag: str
    summary: str

    @property
    def name(self) -> str:
        """The last part of the path, as the interface calls the operation."""
        return self.path.rsplit("/", 1)[1]


LATER = (
    Later("GET", f"{VIDPLAT}/web/get_sec_user_id", "User", "Read a sec_user_id from a link"),
    Later("GET", f"{VIDPLAT}/app/v3/handler_user_profile", "User", "User profile"),
    Later("GET", f"{VIDPLAT}/app/v3/fetch_user_post_videos", "User", "Posts of a user"),
    Later("GET", f"{VIDPLAT}/app/v3/fetch_user_metrics", "User", "Creator metrics"),
    Later("GET", f"{VIDPLAT}/app/v3/fetch_music_video_list", "Music", "Videos of a music id"),
    Later("GET", f"{VIDPLAT}/app/v3/fetch_hashtag_video_list", "Hashtag", "Videos of a hashtag"),
)


def _refuse(operation: Later) -> Callable[[], Awaitable[NoReturn]]:
    async def refuse() -> NoReturn:
        raise ProviderUnsupportedError(f"{operation.name} is not carried out by this version")

    return refuse


def build_router(operations: tuple[Later, ...]) -> APIRouter:
    """One route per operation."""
    router = APIRouter()
    for operation in operations:
        router.add_api_route(
            operation.path,
            _refuse(operation),
            methods=[operation.method],
            name=operation.name,
            tags=[operation.tag],
            summary=operation.summary,
            description="Not carried out by this version yet. 本版本暂不提供该操作。",
            response_model=None,
            responses=LATER_ANSWERS,
        )
    return router


router = build_router(LATER)
