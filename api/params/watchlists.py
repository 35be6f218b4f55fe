"""Bodies and queries of the operations on watchlists; the limits stand here, the rules below.

What a name, a rhythm or an input may be is said by `warehouse/records/watchlists.py`; here are
types.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field, StrictBool, StrictFloat, StrictInt, StrictStr

from api.params.scan import LARGEST_WHOLE, InputText, QueryModel, ScanBody, Strict, Text
from warehouse.records.watchlists import (
    MAX_ENTRIES,
    NAME_PATTERN,
    Entry,
    EntryKind,
    Plan,
    Thresholds,
)

MAX_EVERY_LENGTH = 100
_USUAL = Thresholds()
_NAME_MEANING = (
    "name of the watchlist: 1 to 64 small letters, digits, - and _. "
    "监控清单名称: 1 至 64 个小写字母、数字、- 或 _"
)
Name = Annotated[StrictStr, Field(pattern=NAME_PATTERN, description=_NAME_MEANING)]
_EVERY = (
    "how often, in UTC: `daily`, `every 6 hours`, `every monday at 08:00`, or a "
    "cron expression of five fields. 执行频率 (UTC): 英文短语或五段 cron 表达式"
)
Every = Annotated[
    Text,
    Field(
        min_length=1,
        max_length=MAX_EVERY_LENGTH,
        description=_EVERY,
        examples=["every 6 hours"],
    ),
]


class EntryBody(Strict):
    """One thing to look at."""

    kind: EntryKind = Field(
        description="`track`, `account` or `hashtag`. 类型: 音乐、账号或话题", examples=["track"]
    )
    input: InputText = Field(
        description="its id or a link, as it is given. ID 或链接", examples=["7300000000000000001"]
    )


class ThresholdsBody(Strict):
    """From which change on a digest names it; null: never."""

    velocity: Annotated[StrictFloat, Field(ge=0, le=LARGEST_WHOLE)] | None = Field(
        _USUAL.velocity,
        description="gain of hot score per day of a work. 作品热度日增量阈值",
    )
    rank_change: Annotated[StrictInt, Field(ge=1, le=500)] | None = Field(
        _USUAL.rank_change,
        description="places up or down within the Top N. Top N 内名次变化阈值",
    )
    new_music_id: StrictBool = Field(
        _USUAL.new_music_id,
        description="another music id carries the same recording. 是否提示承载同一录音的新音乐 ID",
    )


_ENTRIES = f"what to look at, 1 to {MAX_ENTRIES} entries. 监控条目, 1 至 {MAX_ENTRIES} 个"
Entries = Annotated[
    list[EntryBody],
    Field(
        min_length=1,
        max_length=MAX_ENTRIES,
        description=_ENTRIES,
    ),
]
_PARAMETERS = (
    "parameters of the scans of its tracks, as for a collection job; `refresh` is true unless "
    "given. 音乐扫描参数, 同采集任务; refresh 默认为 true"
)
_ENABLED = "whether it runs by itself. 是否按计划执行"
_THRESHOLDS = "from which change on a digest names it. 变化提示阈值"


class WatchlistBody(Strict):
    """Body of `sametrack_watchlist_create`."""

    name: Name
    every: Every
    entries: Entries
    thresholds: ThresholdsBody = Field(ThresholdsBody(), description=_THRESHOLDS)
    parameters: ScanBody = Field(ScanBody(), description=_PARAMETERS)
    enabled: StrictBool = Field(default=True, description=_ENABLED)

    def to_plan(self) -> Plan:
        """The plan; of the parameters only what was given, so that defaults may change."""
        return Plan(
            name=self.name,
            every=self.every,
            entries=tuple(Entry(kind=one.kind, input=one.input) for one in self.entries),
            thresholds=Thresholds(**self.thresholds.model_dump()),
            parameters=self.parameters.model_dump(exclude_unset=True),
            enabled=self.enabled,
        )


class WatchlistChange(Strict):
    """Body of `sametrack_watchlist_change`: fields that are given replace those that are kept."""

    every: Every | None = Field(None, description=_EVERY)
    entries: Entries | None = Field(None, description=_ENTRIES)
    thresholds: ThresholdsBody | None = Field(None, description=_THRESHOLDS)
    parameters: ScanBody | None = Field(None, description=_PARAMETERS)
    enabled: StrictBool | None = Field(None, description=_ENABLED)

    def to_fields(self) -> dict[str, Any]:
        """What was given, as `Plan.to_document` has it; null is "as it is"."""
        given = self.model_dump(exclude_none=False, include=self.model_fields_set)
        if self.parameters is not None:
            given["parameters"] = self.parameters.model_dump(exclude_unset=True)
        return {name: value for name, value in given.items() if value is not None}


class WatchRunsQuery(QueryModel):
    """Query of the lists of runs and digests."""

    whole_fields: ClassVar[Mapping[str, type]] = {"limit": int}

    limit: StrictInt = Field(
        20, ge=1, le=200, description="how many of the newest runs. 返回最新运行的数量"
    )
