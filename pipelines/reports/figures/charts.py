"""Report queries on the song chart: issues and gaps, songs and their movement."""

from dataclasses import dataclass
from datetime import date

import pyarrow as pa

from pipelines.reports.figures.subjects import ReportSubject
from pipelines.reports.figures.tracks import read_growth
from warehouse.engine.duckdb_engine import Engine
from warehouse.records.errors import InvalidParameterError

_ISSUES = """
    issues as (
        select volid, max_by(name, (observed_at, surface)) as name,
            max_by(chart_date, (observed_at, surface)) as chart_date
        from seen.chart_issues where chart_date is not null group by volid
    ),
    songs as (
        select *, coalesce(song_hash, lower(title) || ' / ' || lower(coalesce(artist, '')))
            as song_key
        from seen.chart_songs where volid is not null
        qualify row_number() over (
            partition by volid, rank order by observed_at desc, committed_at desc, capture_id
        ) = 1
    ),
    read_issues as (
        select volid, name, issues.chart_date, count(rank) as song_count
        from issues left join songs using (volid)
        where ($first is null or issues.chart_date >= $first)
            and ($last is null or issues.chart_date <= $last)
        group by volid, name, issues.chart_date
    ),
    placed as (
        select song_key, rank, title, artist, read_issues.chart_date, volid
        from songs join read_issues using (volid)
    )
"""


def parse_range(first: str, last: str) -> tuple[date | None, date | None]:
    """Parse the first and last day of a range; None leaves an end open.

    Raises:
        InvalidParameterError: A text is not a date, or the order is wrong.
    """
    begin, end = _day("first", first), _day("last", last)
    if begin is not None and end is not None and begin > end:
        raise InvalidParameterError(f"first ({begin}) is after last ({end})")
    return begin, end


def read_range(engine: Engine, first: date | None, last: date | None) -> pa.Table:
    """Summarize the range in one row: known issues, issues with songs, number of songs."""
    return engine.table(
        f"""
        with {_ISSUES}
        select
            $first::date as asked_from, $last::date as asked_to,
            min(chart_date) as first_issue, max(chart_date) as last_issue,
            count(*) as issues_known, count_if(song_count > 0) as issues_read,
            (select count(distinct song_key) from placed) as songs
        from read_issues
        """,  # noqa: S608  # constant text
        {"first": first, "last": last},
    )


def read_issues(engine: Engine, first: date | None, last: date | None) -> pa.Table:
    """Return the issues with songs, and the days since the previous one."""
    return engine.table(
        f"""
        with {_ISSUES}
        select
            chart_date, volid, name, song_count,
            chart_date - lag(chart_date) over (order by chart_date, volid) as days_since_last
        from read_issues where song_count > 0 order by chart_date, volid
        """,  # noqa: S608  # constant text
        {"first": first, "last": last},
    )


def read_songs(engine: Engine, first: date | None, last: date | None) -> pa.Table:
    """Return songs by weight: each issue adds 1 / rank.

    Weights are summed as integer millionths, because float sums depend on the order of rows.
    """
    return engine.table(
        f"""
        with {_ISSUES}
        select
            max_by(title, (chart_date, volid)) as title,
            max_by(artist, (chart_date, volid)) as artist,
            count(distinct chart_date) as issue_count, min(rank) as best_rank,
            min(chart_date) as first_seen, max(chart_date) as last_seen,
            sum(1000000 // rank) / 1000000 as weight, song_key
        from placed group by song_key order by weight desc, song_key
        """,  # noqa: S608  # constant text
        {"first": first, "last": last},
    )


def read_places(engine: Engine, first: date | None, last: date | None, *, top: int) -> pa.Table:
    """Return the rank of the top songs in every issue; null if a song is not in it."""
    return engine.table(
        f"""
        with {_ISSUES},
        best as (
            select song_key, max_by(title, (chart_date, volid)) as title
            from placed group by song_key
            order by sum(1000000 // rank) desc, song_key limit $top
        ),
        days as (select distinct chart_date from placed)
        select
            best.title || ' …' || right(best.song_key, 4) as song, days.chart_date,
            min(placed.rank) as rank
        from best cross join days
        left join placed using (song_key, chart_date)
        group by best.title, best.song_key, days.chart_date
        order by song, chart_date
        """,  # noqa: S608  # constant text
        {"first": first, "last": last, "top": top},
    )


def read_movement(engine: Engine, first: date | None, last: date | None) -> pa.Table:
    """Count the new and remaining songs from one issue to the next."""
    return engine.table(
        f"""
        with {_ISSUES},
        numbered as (
            select song_key, chart_date, dense_rank() over (order by chart_date) as number
            from (select distinct song_key, chart_date from placed)
        )
        select
            now.chart_date, count(*) as songs, count(before.song_key) as stayed,
            count(*) - count(before.song_key) as came
        from numbered as now
        left join numbered as before
            on before.song_key = now.song_key and before.number = now.number - 1
        where now.number > 1
        group by now.chart_date order by now.chart_date
        """,  # noqa: S608  # constant text
        {"first": first, "last": last},
    )


def read_song_links(engine: Engine) -> pa.Table:
    """Return the current links of songs and music ids, those with most observations first."""
    return engine.table(
        """
        select * from (
            select
                title, artist, music_title, relation, confidence, reason, best_rank,
                first_chart_date, entry_after_date, work_count, observation_count,
                observed_day_count, lead_days, lead_low_days, lead_high_days, direction,
                lead_reason, music_id, song_key, method
            from marts.chart_platform
            qualify row_number() over (
                partition by song_key, music_id order by committed_at desc
            ) = 1
        )
        where relation != 'none'
        order by (relation = 'same') desc, observation_count desc, song_key, music_id
        """
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SongLikes:
    """The likes of a chart song's videos over time, with the day of its chart entry."""

    song: str
    entered: date
    curve: pa.Table


def read_song_likes(engine: Engine, links: pa.Table) -> SongLikes | None:
    """Return the likes of the best-observed song that is linked as the same as a track.

    None if no song is linked, or its videos were never observed.
    """
    for row in links.to_pylist():
        if row["relation"] == "same":
            subject = ReportSubject(id=row["music_id"], name=row["title"])
            curve = read_growth(engine, subject)
            if curve.num_rows:
                return SongLikes(song=subject.label, entered=row["first_chart_date"], curve=curve)
    return None


def _day(name: str, text: str) -> date | None:
    try:
        return date.fromisoformat(text.strip()) if text.strip() else None
    except ValueError as error:
        raise InvalidParameterError(f"{name}: {text!r} is not a date like 2026-11-01") from error
