"""Bodies and queries of the watchlist operations.

Types and size limits are declared here. `warehouse/records/watchlists.py` has the rules for names,
schedules and inputs.
"""

from typing import Annotated

from pydantic import Field, StrictBool, StrictFloat, StrictInt, StrictStr

from api.params import scan
from warehouse.records import watchlists
from warehouse.records.values import Document

MAX_EVERY_LENGTH = 100
_DEFAULTS = watchlists.DigestThresholds()
_NAME_MEANING = (
    "name of the watchlist: 1 to 64 lower-case letters, digits, - and _. "
    "监控清单名称：1 至 64 个小写字母、数字、- 或 _"
)
WatchlistNameText = Annotated[
    StrictStr, Field(pattern=watchlists.NAME_PATTERN, description=_NAME_MEANING)
]
_SCHEDULE = (
    "how often, in UTC: `daily`, `every 6 hours`, `every monday at 08:00`, or a "
    "cron expression of five fields. 执行频率（UTC）：英文短语或五段 cron 表达式"
)
ScheduleText = Annotated[
    scan.PrintableText,
    Field(
        min_length=1,
        max_length=MAX_EVERY_LENGTH,
        description=_SCHEDULE,
        examples=["every 6 hours"],
    ),
]


class EntryBody(scan.StrictModel):
    """One entry of a watchlist."""

    kind: watchlists.WatchlistEntryKind = Field(
        description="`track`, `account` or `hashtag`. 类型：音乐、账号或话题", examples=["track"]
    )
    input: scan.FilledText = Field(
        description="id or link. ID 或链接", examples=["7348759830572834348"]
    )


class ThresholdsBody(scan.StrictModel):
    """Smallest changes that a digest reports; null disables a threshold."""

    velocity: Annotated[StrictFloat, Field(ge=0, le=scan.MAX_SAFE_INTEGER)] | None = Field(
        _DEFAULTS.velocity,
        description="increase of a video's hot score per day. 作品热度日增量阈值",
    )
    rank_change: Annotated[StrictInt, Field(ge=1, le=500)] | None = Field(
        _DEFAULTS.rank_change,
        description="rank change within the Top N. Top N 内名次变化阈值",
    )
    new_music_id: StrictBool = Field(
        _DEFAULTS.new_music_id,
        description="report a new music id with the same recording. 是否提示同一录音的新音乐 ID",
    )


_MOST = watchlists.MAX_ENTRIES
_ENTRIES = f"what to watch, 1 to {_MOST} entries. 监控条目，1 至 {_MOST} 个"
EntryList = Annotated[
    list[EntryBody],
    Field(
        min_length=1,
        max_length=_MOST,
        description=_ENTRIES,
    ),
]
_PARAMETERS = (
    "parameters for scans of its tracks, as for a collection job; `refresh` defaults to true. "
    "音乐扫描参数，同采集任务；refresh 默认为 true"
)
_ENABLED = "whether it runs on schedule. 是否按计划执行"
_THRESHOLDS = "smallest changes that a digest reports. 变化提示阈值"


class WatchlistBody(scan.StrictModel):
    """Body of `sametrack_watchlist_create`."""

    name: WatchlistNameText
    every: ScheduleText
    entries: EntryList
    thresholds: ThresholdsBody = Field(ThresholdsBody(), description=_THRESHOLDS)
    # Shown as `{}`: the body of a scan would show `refresh` as false.
    parameters: scan.ScanBody = Field(
        default_factory=scan.ScanBody, description=_PARAMETERS, json_schema_extra={"default": {}}
    )
    enabled: StrictBool = Field(default=True, description=_ENABLED)

    def to_plan(self) -> watchlists.WatchlistPlan:
        """Return the plan. It stores only the given parameters, so that defaults may change."""
        return watchlists.WatchlistPlan(
            name=self.name,
            every=self.every,
            entries=tuple(
                watchlists.WatchlistEntry(kind=one.kind, input=one.input) for one in self.entries
            ),
            thresholds=watchlists.DigestThresholds(**self.thresholds.model_dump()),
            parameters=self.parameters.model_dump(exclude_unset=True),
            enabled=self.enabled,
        )


class WatchlistChange(scan.StrictModel):
    """Body of `sametrack_watchlist_change`: given fields replace the stored ones."""

    every: ScheduleText | None = Field(None, description=_SCHEDULE)
    entries: EntryList | None = Field(None, description=_ENTRIES)
    thresholds: ThresholdsBody | None = Field(None, description=_THRESHOLDS)
    parameters: scan.ScanBody | None = Field(None, description=_PARAMETERS)
    enabled: StrictBool | None = Field(None, description=_ENABLED)

    def to_fields(self) -> Document:
        """Return the given fields in the form of `Plan.to_document`, of the thresholds those
        given; null leaves a field unchanged.
        """
        given = self.model_dump(exclude_none=False, include=self.model_fields_set)
        for name in ("thresholds", "parameters"):
            if given.get(name) is not None:
                given[name] = getattr(self, name).model_dump(exclude_unset=True)
        return {name: value for name, value in given.items() if value is not None}


class WatchlistRunsQuery(scan.QueryModel):
    """Query for lists of runs and digests."""

    limit: StrictInt = Field(
        20, ge=1, le=200, description="maximum number of runs. 返回最新运行的数量"
    )
