"""Schemas for accounts, videos by id, video lists and creator metrics."""

from typing import Annotated, Literal

from pydantic import Field

from pipelines.documents.fields import ClosedDocument, Count, Id, OptionalCount, Timestamp
from pipelines.documents.result_types import ImageUrls, VideoDocument
from warehouse.records.videos import FollowerCountSource

InputSource = Literal["text", "profile_link", "short_link", "work_author"]
PaginationMode = Literal["public_first_screen_local_cursor", "platform_cursor"]


IsExperimental = Annotated[
    bool,
    Field(
        description="true: from an experimental source that may stop working at any time. "
        "来自实验性数据源，随时可能失效。"
    ),
]


class Provenance(ClosedDocument):
    """Where the data of a synchronous read comes from."""

    data_provider: str
    is_experimental: IsExperimental
    is_demo_data: bool


class ResolvedUser(Provenance):
    """The account that an input resolves to."""

    sec_user_id: str
    resolved_url: Annotated[str, Field(description="public page of the account")]
    source: Annotated[
        InputSource,
        Field(description="kind of input it was resolved from"),
    ]


class User(ClosedDocument):
    """Public profile of an account. Unknown values are null."""

    sec_uid: str
    uid: str | None
    unique_id: str | None
    short_id: str | None
    nickname: str | None
    signature: str | None
    avatar_thumb: ImageUrls
    follower_count: OptionalCount
    follower_count_source: Annotated[
        FollowerCountSource | None,
        Field(description="field of the platform that held the number; null: unknown"),
    ]
    following_count: OptionalCount
    aweme_count: OptionalCount
    total_favorited: OptionalCount
    favoriting_count: OptionalCount
    ip_location: str | None


class UserProfile(Provenance):
    """An account with the time and source of the observation."""

    user: User
    observed_at: Timestamp


class ObservationHistory(ClosedDocument):
    """First screens of a list over time."""

    snapshot_count: Annotated[Count, Field(description="first screens read")]
    distinct_snapshot_count: Annotated[
        Count, Field(description="first screens with distinct content")
    ]
    first_observed_at: Timestamp | None
    last_observed_at: Timestamp | None


class ListFacts(ClosedDocument):
    """What is known about a whole list."""

    has_more: Annotated[bool, Field(description="whether the next page is known to have videos")]
    platform_has_more: Annotated[
        bool | None, Field(description="the platform's own signal; deeper pages are not read")
    ]
    pagination_mode: Annotated[
        PaginationMode,
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


class CursorList(ListFacts, Provenance):
    """A page over the union of observed first screens."""

    aweme_list: list[VideoDocument]
    cursor: Annotated[Count, Field(description="cursor of the next page")]


class PostList(ListFacts, Provenance):
    """A page of posts."""

    aweme_list: list[VideoDocument]
    max_cursor: Annotated[Count, Field(description="cursor of the next page")]
    local_cursor_mode: Annotated[bool, Field(description="the setting LOCAL_CURSOR_MODE")]


class CreatorMetrics(Provenance):
    """Likes of the newest videos in a window, with the account's own counts."""

    sec_user_id: str
    nickname: str | None
    follower_count: OptionalCount
    total_favorited: OptionalCount
    days: Count
    window_start: Timestamp
    window_end: Timestamp
    analyzed_count: Annotated[Count, Field(description="videos of the window with known likes")]
    average_digg_count: Annotated[float | None, Field(description="null: no video")]
    median_digg_count: Annotated[float | None, Field(description="null: no video")]
    top_video: Annotated[VideoDocument | None, Field(description="most liked video of the window")]
    statistics_complete: Annotated[
        bool, Field(description="false: some counts are missing or rounded")
    ]
    coverage_complete: Literal[False]


class FilteredVideo(ClosedDocument):
    """A video that could not be read. Nothing is filled in for it."""

    aweme_id: Id
    reason: Annotated[
        str,
        Field(description="`unavailable`, `deadline`, or the type of the upstream error"),
    ]
    filter_reason: Annotated[str | None, Field(description="the platform's own reason code")]
    notice: str | None
    detail_msg: str | None


class ManyVideos(Provenance):
    """Both lists keep the order of the request; each id is in exactly one of them."""

    aweme_list: list[VideoDocument]
    filter_list: list[FilteredVideo]
    thirdparty_called: Literal[False]
    mobile_emulator_used: bool
    signing_generated: Literal[False]
