"""Accounts, lists and metrics."""

from typing import Annotated, Literal

from pydantic import Field

from api.schemas.shape import Count, IsExperimental, MaybeCount, Moment, Shape
from api.schemas.video import Addresses, Video


class ResolvedUser(Shape):
    """The account that a text leads to."""

    sec_user_id: str
    resolved_url: Annotated[str, Field(description="the account's public page")]
    source: Annotated[
        Literal["text", "profile_link", "short_link", "work_author"],
        Field(description="what it was read from"),
    ]
    data_provider: str
    is_experimental: IsExperimental
    is_demo_data: bool


class User(Shape):
    """An account as it shows itself. Unknown is null."""

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
    """An account, when it was read and where."""

    user: User
    observed_at: Moment
    data_provider: str
    is_experimental: IsExperimental
    is_demo_data: bool


class ObservationHistory(Shape):
    """First screens of a list over time."""

    snapshot_count: Annotated[Count, Field(description="first screens that were read")]
    distinct_snapshot_count: Annotated[Count, Field(description="of them with other content")]
    first_observed_at: Moment | None
    last_observed_at: Moment | None


class VideoList(Shape):
    """A page of works, and what the list is known to hold."""

    aweme_list: list[Video]
    has_more: Annotated[bool, Field(description="the next page has works, as far as is known")]
    platform_has_more: Annotated[
        bool | None, Field(description="the platform's own signal; deeper pages are not pulled")
    ]
    pagination_mode: Annotated[
        Literal["public_first_screen_local_cursor", "platform_cursor"],
        Field(description="whose cursor it is"),
    ]
    public_first_screen_count: Annotated[
        Count, Field(description="works on the latest first screen")
    ]
    public_observed_union_count: Annotated[Count, Field(description="works ever observed on it")]
    observation_history: ObservationHistory
    coverage_complete: Literal[False]
    data_provider: str
    is_experimental: IsExperimental
    is_demo_data: bool


class CursorList(VideoList):
    """A page over the union of what was observed."""

    cursor: Annotated[Count, Field(description="of the next page")]


class PostList(VideoList):
    """A page of posts."""

    max_cursor: Annotated[Count, Field(description="of the next page")]
    local_cursor_mode: Annotated[bool, Field(description="the setting LOCAL_CURSOR_MODE")]


class CreatorMetrics(Shape):
    """Likes of the newest works of a window, and the account's own counts."""

    sec_user_id: str
    nickname: str | None
    follower_count: MaybeCount
    total_favorited: MaybeCount
    days: Count
    window_start: Moment
    window_end: Moment
    analyzed_count: Annotated[Count, Field(description="works of the window, likes known")]
    average_digg_count: Annotated[float | None, Field(description="null: there is no work")]
    median_digg_count: Annotated[float | None, Field(description="null: there is no work")]
    top_video: Annotated[Video | None, Field(description="most liked work of the window")]
    statistics_complete: Annotated[
        bool, Field(description="false: something was not read in time, or not exactly")
    ]
    coverage_complete: Literal[False]
    data_provider: str
    is_experimental: IsExperimental
    is_demo_data: bool
