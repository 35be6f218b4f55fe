"""Typed reads of the chart's history: every issue that is known, the songs of many of them.

Here: SQL and the shape of its answer, as in `queries`. Which issue belongs to which day is a rule
(`domain.chart_history`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, cast

from pipelines.domain.chart import ChartIssue, ChartSong
from warehouse.engine import Engine
from warehouse.page_rows import chart_song_from_row

Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownIssues:
    """Every issue with a date that any list has named, and when the newest list was read."""

    issues: tuple[ChartIssue, ...]
    listed_at: datetime

    @property
    def latest(self) -> date:
        """The day of the newest issue."""
        return max(issue.chart_date for issue in self.issues if issue.chart_date is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownSongs:
    """The first songs of an issue as last read; `chart_date` is what the songs say themselves."""

    songs: tuple[ChartSong, ...]
    chart_date: date | None


def read_known_issues(engine: Engine) -> KnownIssues | None:
    """Every issue whose date was ever told, as last listed; None before the first list."""
    found = _rows(
        engine,
        """
        select
            volid,
            max_by(name, observed_at) as name,
            max_by(chart_date, observed_at) as chart_date,
            max_by(surface, observed_at) as surface,
            max(observed_at) as observed_at
        from seen.chart_issues
        where chart_date is not null
        group by volid
        order by chart_date desc, volid
        """,
    )
    if not found:
        return None
    issues = tuple(ChartIssue(**row) for row in found)
    return KnownIssues(issues=issues, listed_at=max(issue.observed_at for issue in issues))


def read_songs_of_issues(
    engine: Engine, volids: Sequence[str], *, limit: int
) -> Mapping[str, KnownSongs]:
    """Per issue its first songs, of the newest capture of each. Issues never read are absent."""
    found = _rows(
        engine,
        """
        select * from seen.chart_songs
        where volid in (select unnest($volids::varchar[])) and rank <= $limit
        qualify row_number() over (
            partition by volid, rank order by observed_at desc, committed_at desc
        ) = 1
        order by volid, rank
        """,
        volids=list(volids),
        limit=limit,
    )
    by_issue: dict[str, list[Row]] = {}
    for row in found:
        by_issue.setdefault(row["volid"], []).append(row)
    return {
        volid: KnownSongs(
            songs=tuple(chart_song_from_row(row) for row in rows),
            chart_date=rows[0]["chart_date"],
        )
        for volid, rows in by_issue.items()
    }


def _rows(engine: Engine, sql: str, **params: object) -> list[Row]:
    return cast("list[Row]", engine.rows(sql, params))
