"""Queries for users and video lists. `pipelines/parameters/lists.py` has the limits."""

from typing import Annotated

from pydantic import Field, StrictBool, StrictInt, StrictStr

from api.params.fields import InputText, QueryModel, parameter_field
from pipelines.parameters import lists
from warehouse.records.values import PLATFORM_ID

SecUserId = Annotated[
    StrictStr,
    Field(
        pattern=r"^[A-Za-z0-9_-]{1,256}$",
        description="id of the account, as returned by get_sec_user_id. 用户 sec_user_id",
    ),
]
_ID = f"^{PLATFORM_ID}$"
MusicId = Annotated[
    StrictStr, Field(pattern=_ID, description="music id, 5 to 30 digits. 音乐 ID, 5 至 30 位数字")
]
ChId = Annotated[
    StrictStr, Field(pattern=_ID, description="hashtag id, 5 to 30 digits. 话题 ID, 5 至 30 位数字")
]


class ResolveQuery(QueryModel):
    """Query of `get_sec_user_id`."""

    url: InputText = Field(
        description=(
            "profile link, short share link, video link, handle with or without @, or text that "
            "contains a link or the id. "
            "主页链接、分享短链接、作品链接、账号名（可不带 @），或包含链接或 ID 的文本"
        )
    )


class ProfileQuery(QueryModel):
    """Query of `handler_user_profile`."""

    sec_user_id: SecUserId


class PostsQuery(QueryModel):
    """Query of `fetch_user_post_videos`."""

    sec_user_id: SecUserId
    max_cursor: StrictInt = parameter_field("max_cursor", lists.POSTS_PARAMETERS)
    count: StrictInt = parameter_field("count", lists.POSTS_PARAMETERS)
    sort_type: StrictInt = parameter_field("sort_type", lists.POSTS_PARAMETERS)


class MetricsQuery(QueryModel):
    """Query of `fetch_user_metrics`."""

    sec_user_id: SecUserId
    days: StrictInt = parameter_field("days", lists.METRICS_PARAMETERS)
    count: StrictInt = parameter_field("count", lists.METRICS_PARAMETERS)


class MusicListQuery(QueryModel):
    """Query of `fetch_music_video_list`."""

    music_id: MusicId
    cursor: StrictInt = parameter_field("cursor", lists.MUSIC_LIST_PARAMETERS)
    count: StrictInt = parameter_field("count", lists.MUSIC_LIST_PARAMETERS)
    refresh: StrictBool = parameter_field("refresh", lists.MUSIC_LIST_PARAMETERS)


class HashtagListQuery(QueryModel):
    """Query of `fetch_hashtag_video_list`."""

    ch_id: ChId
    cursor: StrictInt = parameter_field("cursor", lists.HASHTAG_LIST_PARAMETERS)
    sort_type: StrictInt = parameter_field("sort_type", lists.HASHTAG_LIST_PARAMETERS)
    count: StrictInt = parameter_field("count", lists.HASHTAG_LIST_PARAMETERS)
    refresh: StrictBool = parameter_field("refresh", lists.HASHTAG_LIST_PARAMETERS)
