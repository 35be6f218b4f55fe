"""Queries of the chart's history: all known issues, and the songs of many of them.

Which issue belongs to which day is a rule of `pipelines.charts.rules.history`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from warehouse.engine.duckdb_engine import Engine
from warehouse.engine.seen_views import released_songs
from warehouse.lake.page_rows import SONG_COLUMNS, chart_song_from_row
from warehouse.records.charts import SONG_LIMIT, ChartIssue, ChartSong
from warehouse.records.values import Row

_KNOWN_ISSUES = """
with listed as (
    select
        volid,
        max(observed_at) as observed_at,
        max_by(
            {
                'name': name, 'chart_date': chart_date, 'surface': surface,
                'scheduled_at': scheduled_at
            },
            observed_at
        ) as said
    from seen.chart_issues
    where chart_date is not null
    group by volid
),
summary as (
    select
        max(said.chart_date) as latest,
        max_by(said.scheduled_at, said.chart_date) as latest_scheduled_at,
        max(observed_at) as listed_at
    from listed
)
select latest, latest_scheduled_at, listed_at, volid, observed_at, unnest(said)
from summary left join listed on said.chart_date between $first and $last
order by said.chart_date desc, volid
"""

_OF_ISSUES = "volid in (select unnest($volids::varchar[]))"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownIssues:
    """Issues of some days, the day of the newest issue, and when a list was last read.

    `scheduled_at` is when that newest issue is to be released, if the source says so.
    """

    issues: tuple[ChartIssue, ...]
    latest: date
    listed_at: datetime
    scheduled_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownSongs:
    """First songs of an issue as last read; `chart_date` is the date given with the songs."""

    songs: tuple[ChartSong, ...]
    chart_date: date | None


def read_known_issues(engine: Engine, *, first: date, last: date) -> KnownIssues | None:
    """Return issues dated between two days, as last listed. None before the first list."""
    found = engine.rows(
        _KNOWN_ISSUES,
        first=first,
        last=last,
    )
    latest, listed_at = found[0]["latest"], found[0]["listed_at"]
    if latest is None:
        return None
    columns = ("volid", "name", "chart_date", "surface", "observed_at", "scheduled_at")
    issues = tuple(
        ChartIssue(**{name: row[name] for name in columns})
        for row in found
        if row["volid"] is not None
    )
    return KnownIssues(
        issues=issues,
        latest=latest,
        listed_at=listed_at,
        scheduled_at=found[0]["latest_scheduled_at"],
    )


def read_songs_of_issues(
    engine: Engine, volids: Sequence[str], *, limit: int
) -> Mapping[str, KnownSongs]:
    """Return the first songs of each issue, from its newest capture.

    Issues that were not read since their release are absent.
    """
    found = engine.rows(
        f"""
        select volid, chart_date, {", ".join(SONG_COLUMNS)} from {released_songs(_OF_ISSUES)}
        where rank <= $limit
        qualify row_number() over (
            partition by volid, rank order by observed_at desc, committed_at desc
        ) = 1
        order by volid, rank
        """,  # noqa: S608  # the columns are constants
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


def read_stored_issues(engine: Engine, volids: Sequence[str]) -> Mapping[str, date | None]:
    """Return which of these issues have songs in the lake, with the date given with the songs.

    Songs that were read before their issue was released do not count.
    """
    found = engine.rows(
        f"""
        select volid, max_by(chart_date, observed_at) as chart_date
        from {released_songs(_OF_ISSUES)}
        where rank <= $limit
        group by volid
        """,  # noqa: S608  # our text
        volids=list(volids),
        limit=SONG_LIMIT,
    )
    return {row["volid"]: row["chart_date"] for row in found}


def read_undated_count(engine: Engine) -> int:
    """Return the number of listed issues without a known date."""
    found = engine.rows(
        """
        select count(*) as n from (
            select volid from seen.chart_issues group by volid having count(chart_date) = 0
        )
        """,
    )
    return int(found[0]["n"])
