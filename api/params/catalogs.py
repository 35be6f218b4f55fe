"""Bodies and queries of the catalogue operations.

Types and sizes are declared here; `pipelines/catalog/rules.py` says what a line means.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, StrictBool, StrictFloat, StrictInt, model_validator

from api.params.fields import InputText, PrintableText, QueryModel, StrictModel, parameter_field
from pipelines.catalog.rules import ImportLine, TrackState
from pipelines.catalog.sources.tables import link_lines
from warehouse.records.catalogs import MAX_TRACKS
from warehouse.records.values import Document

MAX_LINES = 500
_MAX_COLUMNS = 50
_INPUTS = "ids, links, or links of playlists. ID、链接或歌单链接"
_ROWS = (
    "rows of a table, each with its columns as text; the column `track`, `music_id` or `link` "
    "names the track. 表格行，列名到文本；track、music_id 或 link 列为音乐"
)
_FIRST_LINE = "number of the first line, when a file is sent in parts. 首行行号"
_PER_DAY = "a day (UTC); 0: no limit. 每日上限（UTC），0 为不限"
_DRY_RUN = "report the outcome without storing anything. 仅预览"


class CatalogImportBody(StrictModel):
    """Body of `sametrack_catalog_import`."""

    inputs: list[InputText] = Field([], max_length=MAX_LINES, description=_INPUTS)
    rows: list[Annotated[dict[PrintableText, PrintableText], Field(max_length=_MAX_COLUMNS)]] = (
        Field([], max_length=MAX_LINES, description=_ROWS)
    )
    first_line: Annotated[StrictInt, Field(ge=1, le=1_000_000)] = Field(1, description=_FIRST_LINE)
    fresh_days: StrictInt | StrictFloat | None = Field(
        None, ge=0.01, le=3650, description="days after which a result is due again. 结果过期天数"
    )
    tracks_per_day: StrictInt | None = Field(
        None, ge=0, le=10_000_000, description=f"scans {_PER_DAY}"
    )
    requests_per_day: StrictInt | None = Field(
        None, ge=0, le=1_000_000_000, description=f"requests {_PER_DAY}"
    )
    candidate_limit: StrictInt | None = parameter_field("candidate_limit", has_default=False)
    dry_run: StrictBool = Field(default=False, description=_DRY_RUN)

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if bool(self.inputs) == bool(self.rows):
            raise ValueError("give either `inputs` or `rows`")
        return self

    def to_lines(self) -> list[ImportLine]:
        """Return the lines to import, numbered from `first_line`."""
        if self.inputs:
            lines = link_lines(self.inputs)
        else:
            lines = [ImportLine(number=n, values=row) for n, row in enumerate(self.rows, 1)]
        return [
            ImportLine(number=line.number + self.first_line - 1, values=line.values)
            for line in lines
        ]

    def to_changes(self) -> Document:
        """Return the settings to change; a budget of 0 is none."""
        changes: Document = {
            name: getattr(self, name) or None
            for name in ("tracks_per_day", "requests_per_day")
            if getattr(self, name) is not None
        }
        if self.fresh_days is not None:
            changes["fresh_days"] = float(self.fresh_days)
        if self.candidate_limit is not None:
            changes["parameters"] = {"candidate_limit": self.candidate_limit}
        return changes


CatalogTrackSort = Literal[
    "imported",
    "title",
    "state",
    "confirmed_video_count",
    "music_id_count",
    "music_id_estimate",
    "variant_video_count",
    "digg_count",
    "last_result_at",
]


class CatalogTracksQuery(QueryModel):
    """Query of `sametrack_catalog_tracks`."""

    sort: CatalogTrackSort = Field(
        "imported",
        description="what the tracks are sorted by; unknown values are last. 排序依据，未知值在后",
    )
    descending: StrictBool = Field(False, description="the largest first. 降序")

    state: TrackState | None = Field(None, description="tracks in this state only. 按状态筛选")
    cursor: StrictInt = Field(
        0, ge=0, description="`next_cursor` of the page before. 上一页的 next_cursor"
    )
    limit: StrictInt = Field(100, ge=1, le=MAX_TRACKS, description="tracks of a page. 每页数量")
