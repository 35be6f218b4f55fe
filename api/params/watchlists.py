"""Bodies and queries of the watchlist operations.

Types, limits and meanings stand here once: API, files, options of the command and form of the
console follow from them. `api/services/watchlists/service.py` checks what a plan means.
"""

from typing import Annotated, get_type_hints

from pydantic import (
    Field,
    SecretStr,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    create_model,
)

from api.params import fields, scan
from warehouse.records import watchlists
from warehouse.records.alerts import AlertLanguage
from warehouse.records.values import Document

MAX_EVERY_LENGTH = 100
MAX_CHANNEL_URL_LENGTH = 2000
_DEFAULTS = watchlists.DigestThresholds()
_NAME_MEANING = (
    "name of the watchlist: 1 to 64 lower-case letters, digits, - and _. "
    "监控清单名称：1 至 64 个小写字母、数字、- 或 _"
)
WatchlistNameText = Annotated[
    StrictStr, Field(pattern=watchlists.NAME_PATTERN, description=_NAME_MEANING)
]
ScheduleText = Annotated[
    fields.PrintableText,
    Field(
        min_length=1,
        max_length=MAX_EVERY_LENGTH,
        description=(
            "how often, in UTC: `daily`, `every 6 hours`, `every monday at 08:00`, or a cron "
            "expression of five fields. 执行频率（UTC）：英文短语或五段 cron 表达式"
        ),
        examples=["every 6 hours"],
    ),
]


class EntryBody(fields.StrictModel):
    """One entry of a watchlist."""

    kind: watchlists.WatchlistEntryKind = Field(
        description="`track`, `account` or `hashtag`. 类型：音乐、账号或话题", examples=["track"]
    )
    input: fields.FilledText = Field(
        description="id or link. ID 或链接", examples=["7348759830572834348"]
    )


class ThresholdsBody(fields.StrictModel):
    """Smallest changes that a digest reports; null disables a threshold."""

    velocity: StrictFloat | None = Field(
        _DEFAULTS.velocity,
        ge=0,
        le=fields.MAX_SAFE_INTEGER,
        description="report videos that gain this much hot score a day. 作品热度日增量阈值",
    )
    rank_change: StrictInt | None = Field(
        _DEFAULTS.rank_change,
        ge=1,
        le=500,
        description=(
            "report videos that move this many ranks within the Top N. Top N 内名次变化阈值"
        ),
    )
    new_music_id: StrictBool = Field(
        _DEFAULTS.new_music_id,
        description="report new music ids with the same recording. 是否提示同一录音的新音乐 ID",
    )
    likes: StrictInt | None = Field(
        _DEFAULTS.likes,
        ge=1,
        le=fields.MAX_SAFE_INTEGER,
        description="report videos that reach this many likes. 作品点赞数阈值",
    )
    creator_followers: StrictInt | None = Field(
        _DEFAULTS.creator_followers,
        ge=1,
        le=fields.MAX_SAFE_INTEGER,
        description=(
            "report creators new to a track who have this many followers. 新创作者粉丝数阈值"
        ),
    )
    disappeared: StrictBool = Field(
        _DEFAULTS.disappeared,
        description=(
            "report videos that the platform says it no longer shows. 是否提示平台已不再展示的作品"
        ),
    )
    usage_growth: StrictFloat | None = Field(
        _DEFAULTS.usage_growth,
        gt=0,
        le=fields.MAX_SAFE_INTEGER,
        description=(
            "report tracks whose videos, as counted by the platform, grow by this many percent a "
            "day. 平台统计的使用量日增幅阈值（%）"
        ),
    )


_MOST = watchlists.MAX_ENTRIES
EntryList = Annotated[
    list[EntryBody],
    Field(
        min_length=1,
        max_length=_MOST,
        description=f"what to watch, 1 to {_MOST} entries. 监控条目，1 至 {_MOST} 个",
    ),
]


class WatchlistBody(fields.StrictModel):
    """Body of `sametrack_watchlist_create`."""

    name: WatchlistNameText
    every: ScheduleText
    entries: EntryList
    thresholds: ThresholdsBody = Field(
        ThresholdsBody(),
        description="smallest changes that a digest reports. 变化提示阈值",
    )
    parameters: scan.ScanBody = Field(
        default_factory=scan.ScanBody,
        description=(
            "parameters for scans of its tracks, as for a collection job; `refresh` defaults to "
            "true. 音乐扫描参数，同采集任务；refresh 默认为 true"
        ),
        # Shown as `{}`: the body of a scan would show `refresh` as false.
        json_schema_extra={"default": {}},
    )
    enabled: StrictBool = Field(
        default=True, description="whether it runs on schedule. 是否按计划执行"
    )

    def to_plan(self) -> watchlists.WatchlistPlan:
        """Return the plan. It stores only the given parameters, so that defaults may change."""
        parameters = self.parameters.model_dump(exclude_unset=True)
        return watchlists.parse_plan({**self.model_dump(), "parameters": parameters})


_TYPES = get_type_hints(WatchlistBody, include_extras=True)
# The fields of a new watchlist but its name, each of which may be omitted or null.
_ChangedFields = create_model(  # type: ignore[call-overload]  # the names come from the model
    "_ChangedFields",
    __base__=fields.StrictModel,
    **{
        name: (_TYPES[name] | None, Field(None, description=field.description))
        for name, field in WatchlistBody.model_fields.items()
        if name != "name"
    },
)


class WatchlistChange(_ChangedFields):
    """Body of `sametrack_watchlist_change`: given fields replace the stored ones."""

    def to_fields(self) -> Document:
        """Return the given fields in the form of `WatchlistPlan.to_document`.

        Of the thresholds only those given; a field that is null stays unchanged.
        """
        # Not `exclude_none`: a threshold that is None is switched off.
        fields = self.model_dump(exclude_unset=True)
        return {name: value for name, value in fields.items() if value is not None}


class WatchlistRunsQuery(fields.QueryModel):
    """Query for lists of runs and digests."""

    limit: StrictInt = Field(
        20, ge=1, le=200, description="maximum number of runs. 返回最新运行的数量"
    )


class AlertChannelBody(fields.StrictModel):
    """Body of `sametrack_alert_channel_create`."""

    name: Annotated[
        StrictStr,
        Field(
            pattern=watchlists.NAME_PATTERN,
            description="name of the channel, as of a watchlist. 渠道名称，规则同监控清单",
            examples=["team-chat"],
        ),
    ]
    # Its length is checked by the service: an error of the model would quote the secret.
    url: SecretStr = Field(
        description=(
            "URL of the service in the form of Apprise, such as `slack://...` or `mailtos://...`; "
            "never returned. Apprise 格式的地址，保存后不再显示"
        ),
        examples=["json://hooks.example.com/alerts"],
    )
    language: AlertLanguage = Field(
        "en", description="language of the messages: `en` or `zh`. 消息语言"
    )
