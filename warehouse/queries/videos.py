"""Typed reads of works by their ids: as best known now, and what was known of them at a moment.

Here: SQL and the shape of its answer, as in `queries`.
"""

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
"""So many works are read whole where only their order is asked for: the question for their records
then follows anyway, and opens the same parts of the same files."""
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
"""Ids of captures differ in every row: to unpack them would be an eighth of what it costs."""
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
    """A work as best known, and when it was observed for the first time."""

    video: Video
    first_observed_at: datetime


@dataclass(frozen=True, slots=True)
class Ordering:
    """What works are ordered by, and their records where they were read on the way."""

    known: Mapping[str, Known] = field(default_factory=dict)
    listed: Mapping[str, Listed] = field(default_factory=dict)


def read_listed(engine: Engine, aweme_ids: Sequence[str]) -> dict[str, Listed]:
    """Works as best known: the newest observation with all four counts exact, else the newest that
    shows likes, else the newest. Works never observed are absent.
    """
    indexed = _indexed(engine, aweme_ids)
    if indexed is not None:
        return _listed(engine, _told(engine, indexed, aweme_ids), indexed.bound)
    return _listed(engine, _best(engine, aweme_ids), engine.whole_before(WORKS))


def read_ordering(engine: Engine, aweme_ids: Sequence[str], *, until: datetime) -> Ordering:
    """What was known of works at a moment; with their records as best known now if they are few."""
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
    """What the index tells of works, as best known now; a past moment is read from the table."""
    if engine.as_of is not None:
        return None
    return engine.works_index.read(aweme_ids, until=until, whole=whole)


def _told(engine: Engine, indexed: Indexed, aweme_ids: Sequence[str]) -> list[Row]:
    """The rows of `_best` by the index."""
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
    """The same by the index. The table is asked for works with younger observations, and for those
    whose publication was told anew after the moment.
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
    """A row for each work: the best of those that count without a question, and whether there are
    others. A work that is watched for months has hundreds of observations: chosen among while they
    are read, they need not all become rows.
    """
    if not aweme_ids:
        return []
    sql, ids = with_values(_BEST.replace("{more}", more), aweme_ids)
    return _rows(engine, sql, **ids, **params, bound=engine.whole_before(WORKS))


def _listed(engine: Engine, rows: Sequence[Row], bound: datetime | None) -> dict[str, Listed]:
    """The best observation of each work whose capture is written, and when the first was made.
    The rows tell of what was committed before `bound`.
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
    """Works with observations that the index does not know of, in the files it does not cover."""
    files = [file for file in engine.files(WORKS) if Path(file).name not in indexed.files]
    if not files or not aweme_ids:
        return set()
    sql, ids = with_values(_HAVE_YOUNG.replace("{files}", in_files(files)), aweme_ids)
    return {row["aweme_id"] for row in _rows(engine, sql, **ids, bound=indexed.bound)}


def _read_young(
    engine: Engine, aweme_ids: Sequence[str], bound: datetime | None
) -> dict[str, list[Row]]:
    """Observations so young that their capture has to be looked for, and was found."""
    if not aweme_ids:
        return {}
    sql, ids = with_values(_YOUNG, aweme_ids)
    rows = _rows(engine, sql, **ids, bound=bound)
    young: dict[str, list[Row]] = defaultdict(list)
    for row in only_written(engine, WORKS, rows):
        young[row["aweme_id"]].append(row)
    return young


def _rank(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """The same as `_RANK`."""
    has_likes = row["digg_count"] is not None
    return (row["statistics_complete"], has_likes, row["observed_at"], row["committed_at"])


def _known(rows: Iterable[Row]) -> dict[str, Known]:
    return {row["aweme_id"]: Known(row["likes"], row["created"]) for row in rows}


def _rows(engine: Engine, sql: str, **params: object) -> list[Row]:
    return cast("list[Row]", engine.rows(sql, params))
