"""Queries of videos by id: the best observation of each, and what lists are sorted by.

Of an observation with all four counts exact and one without, the first is used; of two others the
one that shows likes; of two equal ones the newer. What the best observation of a video does not
show, such as its hashtags, comes from the best one that shows it.

Observations are old or recent. Old ones were committed before `bound`, a time before which every
capture is complete: SQL selects the best of them while it scans, or the index on disk holds it
already. Recent ones are few; their rows are fetched, since the capture of each must be checked.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Literal

from warehouse.engine.duckdb_engine import Engine, in_files
from warehouse.engine.sql import (
    IS_CURRENT,
    MAX_INLINE_VALUES,
    REPLAYED_SQL,
    inline_values,
    sql_name,
)
from warehouse.lake.record_rows import SHOWN_TOGETHER, video_from_row
from warehouse.lake.video_index import OMITTED_COLUMNS, VIDEOS_TABLE, IndexAnswer
from warehouse.records.values import ReadOnlyRow, Row
from warehouse.records.videos import Video

type SortColumn = Literal["likes", "created"]

MAX_FULL_READS = 30
"""Up to this many videos are read completely even if only their order is requested.

The query for their records follows anyway and opens the same parts of the same files.
"""

# The SQL below. `{ids}` and `{files}` are placeholders of a query; a list of files is part of the
# text, the ids become parameters (`inline_values`). `$bound` and `$until` are times. One row of
# `_BEST`: aweme_id, best (a row, or null), first_at, stated (the latest create_time), has_recent,
# shown_hashtag_ids and the like.

_PREFERENCE = "(statistics_complete, digg_count is not null, observed_at, committed_at)"
"""The greater it is, the better is an observation. `_preference` is the same in Python."""
_PREFERENCE_COLUMNS = ("statistics_complete", "digg_count", "observed_at", "committed_at")
_IS_RECENT = "($bound::timestamptz is null or committed_at >= $bound)"
_IS_OLD = f"is_current and not ({_IS_RECENT})"
_WAS_CURRENT = f"""(
    capture_id is null or capture_id not in ({REPLAYED_SQL} and committed_at <= $until)
)"""
"""Replays after `$until` are ignored, so that a page keeps the order that it had at that time."""
_SORT_COLUMNS = """
    arg_max(digg_count, (statistics_complete, observed_at, committed_at))
        filter (digg_count is not null and was_current and committed_at <= $until) as likes,
    max(create_time) filter (was_current and committed_at <= $until) as created,
"""
"""The values as they were known at `$until`."""
_SHOWN_COLUMNS = ", ".join(
    f"arg_max(struct_pack({', '.join(map(sql_name, (*_PREFERENCE_COLUMNS, *columns)))}),"
    f" {_PREFERENCE}) filter ({_IS_OLD} and {sql_name(name)} is not null) as shown_{name}"
    for name, columns in SHOWN_TOGETHER.items()
)
"""For each thing that an observation may show: the best one that does."""


def _best_sql(*, sort_columns: str = "", was_current: str = "") -> str:
    """Return the SQL of a row per video: its best old observation, and whether it has recent ones.

    A video watched for months has hundreds of observations: selecting while reading avoids building
    rows of all of them.
    """
    # Ids of captures and jobs differ in every row: decoding them would be an eighth of the cost.
    return f"""
        select
            aweme_id,
            arg_max(video, {_PREFERENCE}) filter ({_IS_OLD}) as best,
            min(observed_at) filter ({_IS_OLD}) as first_at,
            max(create_time) filter ({_IS_OLD}) as stated,
            bool_or({_IS_RECENT}) as has_recent,
            {sort_columns}
            {_SHOWN_COLUMNS}
        from (
            select
                * exclude ({", ".join(sorted(OMITTED_COLUMNS))}),
                {was_current} {IS_CURRENT} as is_current
            from raw.videos
        ) as video
        where aweme_id in ({{ids}})
        group by aweme_id
    """  # noqa: S608  # words of this module


_BEST = _best_sql()
_BEST_WITH_SORT_COLUMNS = _best_sql(
    sort_columns=_SORT_COLUMNS, was_current=f"{_WAS_CURRENT} as was_current,"
)
_SORT_VALUES = f"""
    select {_SORT_COLUMNS} aweme_id
    from (select *, {_WAS_CURRENT} as was_current from raw.videos)
    where aweme_id in ({{ids}})
    group by aweme_id
"""  # noqa: S608  # words of this module
_RECENT = f"""
    select * from raw.videos where aweme_id in ({{ids}}) and {_IS_RECENT} and {IS_CURRENT}
"""  # noqa: S608  # as above
_WITH_RECENT = """
    select distinct aweme_id from read_parquet({files})
    where aweme_id in ({ids}) and committed_at >= $bound
"""
_LAST_COMMIT = """
    select max(committed_at) as at from raw.videos
    where aweme_id in ({ids}) and committed_at > $since
"""


type SortValues = dict[str, int | None]
"""By video what a list is sorted by; a video of which it is unknown may be absent."""


def read_listed_videos(engine: Engine, aweme_ids: Sequence[str]) -> dict[str, Video]:
    """Return the best observation of each video, with the time of its first one.

    Videos never observed are absent.
    """
    # The index only answers for the present; a past time is read from the table.
    indexed = engine.video_index.read(aweme_ids) if engine.as_of is None else None
    if indexed is not None:
        return _to_videos(engine, _rows_from_index(engine, indexed, aweme_ids), indexed.bound)
    if not aweme_ids:
        return {}
    bound = engine.complete_before(VIDEOS_TABLE)
    sql, ids = inline_values(_BEST, aweme_ids)
    return _to_videos(engine, engine.rows(sql, **ids, bound=bound), bound)


def read_sort_values(
    engine: Engine, aweme_ids: Sequence[str], *, by: SortColumn, until: datetime
) -> tuple[SortValues, dict[str, Video]]:
    """Return what was known of videos at a time, and their best observations where that is cheap.

    That is for up to `MAX_INLINE_VALUES` videos with the index and `MAX_FULL_READS` without it;
    otherwise the second part is empty. `by` likes, or publication in Unix seconds as it was stated.
    """
    is_whole = len(aweme_ids) <= MAX_INLINE_VALUES
    indexed = None
    if engine.as_of is None:  # the index only answers for the present
        indexed = engine.video_index.read(aweme_ids, until=until, whole=is_whole)
    if indexed is not None:
        return _sort_values_from_index(engine, indexed, aweme_ids, by, until)
    if not 0 < len(aweme_ids) <= MAX_FULL_READS:
        return _read_sort_values(engine, aweme_ids, by, until), {}
    bound = engine.complete_before(VIDEOS_TABLE)
    sql, ids = inline_values(_BEST_WITH_SORT_COLUMNS, aweme_ids)
    rows = engine.rows(sql, **ids, bound=bound, until=until)
    return {row["aweme_id"]: row[by] for row in rows}, _to_videos(engine, rows, bound)


def read_last_commit(
    engine: Engine, aweme_ids: Sequence[str], *, since: datetime
) -> datetime | None:
    """Return when the newest observation of these videos after a moment was committed, if any."""
    if not aweme_ids:
        return None
    sql, params = inline_values(_LAST_COMMIT, aweme_ids)
    rows = engine.rows(sql, **params, since=since)
    at: datetime | None = rows[0]["at"]
    return at


def _to_videos(engine: Engine, rows: Sequence[Row], bound: datetime | None) -> dict[str, Video]:
    """Build the videos from rows of `_BEST`, which cover old observations, and from recent ones."""
    recent: dict[str, list[Row]] = defaultdict(list)
    to_check = [row["aweme_id"] for row in rows if row["has_recent"]]
    if to_check:
        sql, ids = inline_values(_RECENT, to_check)
        for row in engine.keep_committed(VIDEOS_TABLE, engine.rows(sql, **ids, bound=bound)):
            recent[row["aweme_id"]].append(row)
    videos: dict[str, Video] = {}
    for row in rows:
        recent_rows = recent[row["aweme_id"]]
        observations = [*recent_rows, *filter(None, [row["best"]])]
        if not observations:  # none of them has its capture yet
            continue
        best = max(observations, key=_preference).copy()
        for name, columns in SHOWN_TOGETHER.items():
            if best[name] is None:
                sources = [
                    row.get(f"shown_{name}"),
                    *(other for other in recent_rows if other[name] is not None),
                ]
                source = max(filter(None, sources), key=_preference, default=None)
                best |= {} if source is None else {column: source[column] for column in columns}
        if best["create_time"] is None:
            stated = [row["stated"], *(other["create_time"] for other in recent_rows)]
            best["create_time"] = max(filter(None, stated), default=None)
        times = [row["first_at"], *(other["observed_at"] for other in recent_rows)]
        first_at = min(time for time in times if time is not None)
        videos[row["aweme_id"]] = video_from_row(best, first_observed_at=first_at)
    return videos


def _preference(row: ReadOnlyRow) -> tuple[bool, bool, datetime, datetime]:
    """Return the sort key of an observation, as `_PREFERENCE` does in SQL."""
    has_likes = row["digg_count"] is not None
    # Complete counts outweigh newer ones: list items may have rounded counts, or none.
    return (row["statistics_complete"], has_likes, row["observed_at"], row["committed_at"])


def _rows_from_index(engine: Engine, indexed: IndexAnswer, aweme_ids: Sequence[str]) -> list[Row]:
    """Return the rows of `_BEST` from the index."""
    with_recent: set[str] = set()
    # Recent observations are in the files that the index does not cover.
    files = [file for file in engine.files(VIDEOS_TABLE) if Path(file).name not in indexed.files]
    if files and aweme_ids:
        sql, ids = inline_values(_WITH_RECENT.replace("{files}", in_files(files)), aweme_ids)
        rows = engine.rows(sql, **ids, bound=indexed.bound)
        with_recent = {row["aweme_id"] for row in rows}
    without_old = {"best": None, "first_at": None, "stated": None}
    return [
        {"aweme_id": aweme_id, **(video or without_old), "has_recent": aweme_id in with_recent}
        for aweme_id in dict.fromkeys(aweme_ids)
        if (video := indexed.videos.get(aweme_id)) or aweme_id in with_recent
    ]


def _sort_values_from_index(
    engine: Engine,
    indexed: IndexAnswer,
    aweme_ids: Sequence[str],
    by: SortColumn,
    until: datetime,
) -> tuple[SortValues, dict[str, Video]]:
    """Answer `read_sort_values` from the index.

    The table is queried for videos with newer observations, and for those that a replay corrected
    or whose publication time was observed again after `until`.
    """
    rows = _rows_from_index(engine, indexed, aweme_ids)
    values: SortValues = {
        row["aweme_id"]: indexed.likes[row["aweme_id"]] if by == "likes" else row["stated"]
        for row in rows
        if row["aweme_id"] in indexed.videos
        and all(at is None or at <= until for at in (row["stated_since"], row["corrected_at"]))
        and (until < indexed.bound or not row["has_recent"])
    }
    unanswered = [row["aweme_id"] for row in rows if row["aweme_id"] not in values]
    videos = {}
    if len(aweme_ids) <= MAX_INLINE_VALUES:
        videos = _to_videos(engine, rows, indexed.bound)
    return values | _read_sort_values(engine, unanswered, by, until), videos


def _read_sort_values(
    engine: Engine, aweme_ids: Sequence[str], by: SortColumn, until: datetime
) -> SortValues:
    if not aweme_ids:
        return {}
    sql, params = inline_values(_SORT_VALUES, aweme_ids)
    return {row["aweme_id"]: row[by] for row in engine.rows(sql, **params, until=until)}
