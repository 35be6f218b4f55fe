"""Schemas for accounts, video lists and creator metrics."""

from typing import Annotated, Literal

from pydantic import Field

from api.schemas.shape import Count, IsExperimental, MaybeCount, Moment, Shape
from api.schemas.video import Addresses, Video


class ResolvedUser(Shape):
    """The account that an input resolves to."""

    sec_user_id: str
    resolved_url: Annotated[str, Field(description="public page of the account")]
    source: Annotated[
        Literal["text", "profile_link", "short_link", "work_author"],
        Field(description="kind of input it was resolved from"),
    ]
    data_provider: str
    is_experimental: IsExperimental
    is_demo_data: bool


class User(Shape):
    """Public profile of an account. Unknown values are null."""

    sec_uid: str
    uid: str | None
    unique_id: str | None
    short_id: str | None
    nickname: str | None
    signature: str | None
    avatar_thumb: Addresses
    follower_count: MaybeCount
    following_count: MaybeCount
    aweme_count: MaybeCount
    total_favorited: MaybeCount
    favoriting_count: MaybeCount
    ip_location: str | None


class UserProfile(Shape):
    """An account with the time and source of the observation."""

    user: User
    observed_at: Moment
    data_provider: str
    is_experimental: IsExperimental
    is_demo_data: bool


class ObservationHistory(Shape):
    """First screens of a list over time."""

    snapshot_count: Annotated[Count, Field(description="first screens read")]
    distinct_snapshot_count: Annotated[
        Count, Field(description="first screens with distinct content")
    ]
    first_observed_at: Moment | None
    last_observed_at: Moment | None


class VideoList(Shape):
    """A page of videos, with what is known about the whole list."""

    aweme_list: list[Video]
    has_more: Annotated[bool, Field(description="whether the next page is known to have videos")]
    platform_has_more: Annotated[
        bool | None, Field(description="the platform's own signal; deeper pages are not read")
    ]
    pagination_mode: Annotated[
        Literal["public_first_screen_local_cursor", "platform_cursor"],
        Field(description="kind of cursor"),
    ]
    public_first_screen_count: Annotated[
        Count, Field(description="videos on the latest first screen")
    ]
    public_observed_union_count: Annotated[
        Count, Field(description="all videos ever observed in the list")
    ]
    observation_history: ObservationHistory
    coverage_complete: Literal[False]
    data_provider: str
    is_experimental: IsExperimental
    is_demo_data: bool


class CursorList(VideoList):
    """A page over the union of observed first screens."""

    cursor: Annotated[Count, Field(description="cursor of the next page")]


class PostList(VideoList):
    """A page of posts."""

    max_cursor: Annotated[Count, Field(description="cursor of the next page")]
    local_cursor_mode: Annotated[bool, Field(description="the setting LOCAL_CURSOR_MODE")]


class CreatorMetrics(Shape):
    """Likes of the newest videos in a window, with the account's own counts."""

    sec_user_id: str
    nickname: str | None
    follower_count: MaybeCount
    total_favorited: MaybeCount
    days: Count
    window_start: Moment
    window_end: Moment
    analyzed_count: Annotated[Count, Field(description="videos of the window with known likes")]
    average_digg_count: Annotated[float | None, Field(description="null: no video")]
    median_digg_count: Annotated[float | None, Field(description="null: no video")]
    top_video: Annotated[Video | None, Field(description="most liked video of the window")]
    statistics_complete: Annotated[
        bool, Field(description="false: some counts are missing or rounded")
    ]
    coverage_complete: Literal[False]
    data_provider: str
    is_experimental: IsExperimental
    is_demo_data: bool
