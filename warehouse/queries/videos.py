"""Queries of videos by id: their best observation now, and what was known at an earlier time."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from warehouse.engine.duckdb_engine import Engine, in_files
from warehouse.lake.record_rows import video_from_row
from warehouse.lake.video_index import LEFT_OUT, WORKS, Indexed
from warehouse.queries.committed_rows import FEW, only_written, with_values
from warehouse.queries.lists.union import Known
from warehouse.records.videos import Video

Row = dict[str, Any]

READ_WHOLE = 30
"""Up to this many videos are read completely even if only their order is requested.

The query for their records follows anyway and opens the same parts of the same files.
"""
_RANK = "(statistics_complete, digg_count is not null, observed_at, committed_at)"
_IS_YOUNG = "($bound::timestamptz is null or committed_at >= $bound)"
_LIKES = """arg_max(digg_count, (statistics_complete, observed_at, committed_at))
            filter (digg_count is not null and committed_at <= $until)"""
_CREATED = "max(create_time) filter (committed_at <= $until)"
_BEST = f"""
    select
        aweme_id,
        arg_max(work, {_RANK}) filter (not ({_IS_YOUNG})) as best,
        min(observed_at) filter (not ({_IS_YOUNG})) as first_at,
        bool_or({_IS_YOUNG}) as has_young{{more}}
    from (select * exclude ({", ".join(sorted(LEFT_OUT))}) from raw.videos) as work
    where aweme_id in ({{ids}})
    group by aweme_id
"""  # noqa: S608  # words of this module
"""Provenance ids differ in every row: unpacking them would be an eighth of the cost."""
_YOUNG = f"select * from raw.videos where aweme_id in ({{ids}}) and {_IS_YOUNG}"  # noqa: S608  # as above
_HAVE_YOUNG = """
    select distinct aweme_id from read_parquet({files})
    where aweme_id in ({ids}) and committed_at >= $bound
"""
_KNOWN = f"""
    select aweme_id, {_LIKES} as likes, {_CREATED} as created
    from raw.videos where aweme_id in ({{ids}})
    group by aweme_id
"""  # noqa: S608  # words of this module


@dataclass(frozen=True, slots=True)
class Listed:
    """The best observation of a video, and when it was first observed."""

    video: Video
    first_observed_at: datetime


@dataclass(frozen=True, slots=True)
class Ordering:
    """Values that videos are sorted by, and their records if they were read on the way."""

    known: Mapping[str, Known] = field(default_factory=dict)
    listed: Mapping[str, Listed] = field(default_factory=dict)


def read_listed(engine: Engine, aweme_ids: Sequence[str]) -> dict[str, Listed]:
    """Return the best observation of each video. Videos never observed are absent.

    The newest with all four counts exact, else the newest with likes, else the newest.
    """
    indexed = _indexed(engine, aweme_ids)
    if indexed is not None:
        return _listed(engine, _told(engine, indexed, aweme_ids), indexed.bound)
    return _listed(engine, _best(engine, aweme_ids), engine.whole_before(WORKS))


def read_ordering(engine: Engine, aweme_ids: Sequence[str], *, until: datetime) -> Ordering:
    """Return what was known of videos at a time; with their best observations if they are few."""
    indexed = _indexed(engine, aweme_ids, until=until, whole=len(aweme_ids) <= FEW)
    if indexed is not None:
        return _ordering_told(engine, indexed, aweme_ids, until)
    if len(aweme_ids) <= READ_WHOLE:
        more = f", {_LIKES} as likes, {_CREATED} as created"
        rows = _best(engine, aweme_ids, more=more, until=until)
        return Ordering(_known(rows), _listed(engine, rows, engine.whole_before(WORKS)))
    return Ordering(_read_known(engine, aweme_ids, until=until))


def _indexed(
    engine: Engine, aweme_ids: Sequence[str], *, until: datetime | None = None, whole: bool = True
) -> Indexed | None:
    """Query the index. It only answers for the present; a past time is read from the table."""
    if engine.as_of is not None:
        return None
    return engine.works_index.read(aweme_ids, until=until, whole=whole)


def _told(engine: Engine, indexed: Indexed, aweme_ids: Sequence[str]) -> list[Row]:
    """Return the rows of `_best` from the index."""
    young = _having_young(engine, indexed, aweme_ids)
    return [
        {
            "aweme_id": aweme_id,
            "best": work.best if work else None,
            "first_at": work.first_at if work else None,
            "has_young": aweme_id in young,
        }
        for aweme_id in dict.fromkeys(aweme_ids)
        if (work := indexed.works.get(aweme_id)) or aweme_id in young
    ]


def _ordering_told(
    engine: Engine, indexed: Indexed, aweme_ids: Sequence[str], until: datetime
) -> Ordering:
    """Answer `read_ordering` from the index.

    The table is queried for videos with newer observations, and for those whose publication time
    was observed again after `until`.
    """
    rows = _told(engine, indexed, aweme_ids)
    known = {
        row["aweme_id"]: Known(indexed.likes[row["aweme_id"]], work.created)
        for row in rows
        if (work := indexed.works.get(row["aweme_id"])) is not None
        and (work.created_since is None or work.created_since <= until)
        and (until < indexed.bound or not row["has_young"])
    }
    others = [row["aweme_id"] for row in rows if row["aweme_id"] not in known]
    listed = _listed(engine, rows, indexed.bound) if len(aweme_ids) <= FEW else {}
    return Ordering(known | _read_known(engine, others, until=until), listed)


def _read_known(engine: Engine, aweme_ids: Sequence[str], *, until: datetime) -> dict[str, Known]:
    if not aweme_ids:
        return {}
    sql, params = with_values(_KNOWN, aweme_ids)
    return _known(_rows(engine, sql, **params, until=until))


def _best(
    engine: Engine, aweme_ids: Sequence[str], *, more: str = "", **params: object
) -> list[Row]:
    """Return a row per video: its best settled observation, and whether there are recent ones.

    A video watched for months has hundreds of observations: selecting while reading avoids building
    rows of all of them.
    """
    if not aweme_ids:
        return []
    sql, ids = with_values(_BEST.replace("{more}", more), aweme_ids)
    return _rows(engine, sql, **ids, **params, bound=engine.whole_before(WORKS))


def _listed(engine: Engine, rows: Sequence[Row], bound: datetime | None) -> dict[str, Listed]:
    """Return the best committed observation of each video, and the time of its first one.

    `rows` cover what was committed before `bound`.
    """
    young = _read_young(engine, [row["aweme_id"] for row in rows if row["has_young"]], bound)
    found: dict[str, Listed] = {}
    for row in rows:
        others = young.get(row["aweme_id"], [])
        best = [*others, *filter(None, [row["best"]])]
        moments = [row["first_at"], *(other["observed_at"] for other in others)]
        if best:
            first_at = min(moment for moment in moments if moment is not None)
            found[row["aweme_id"]] = Listed(video_from_row(max(best, key=_rank)), first_at)
    return found


def _having_young(engine: Engine, indexed: Indexed, aweme_ids: Sequence[str]) -> set[str]:
    """Return videos with observations in files that the index does not cover."""
    files = [file for file in engine.files(WORKS) if Path(file).name not in indexed.files]
    if not files or not aweme_ids:
        return set()
    sql, ids = with_values(_HAVE_YOUNG.replace("{files}", in_files(files)), aweme_ids)
    return {row["aweme_id"] for row in _rows(engine, sql, **ids, bound=indexed.bound)}


def _read_young(
    engine: Engine, aweme_ids: Sequence[str], bound: datetime | None
) -> dict[str, list[Row]]:
    """Return committed observations so recent that their capture must be checked."""
    if not aweme_ids:
        return {}
    sql, ids = with_values(_YOUNG, aweme_ids)
    rows = _rows(engine, sql, **ids, bound=bound)
    young: dict[str, list[Row]] = defaultdict(list)
    for row in only_written(engine, WORKS, rows):
        young[row["aweme_id"]].append(row)
    return young


def _rank(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Python version of `_RANK`."""
    has_likes = row["digg_count"] is not None
    return (row["statistics_complete"], has_likes, row["observed_at"], row["committed_at"])


def _known(rows: Iterable[Row]) -> dict[str, Known]:
    return {row["aweme_id"]: Known(row["likes"], row["created"]) for row in rows}


def _rows(engine: Engine, sql: str, **params: object) -> list[Row]:
    return cast("list[Row]", engine.rows(sql, params))
