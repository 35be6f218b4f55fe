"""Typed reads of works by their ids: as best known now, and what was known of them at a moment.

Here: SQL and the shape of its answer, as in `queries`.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

from pipelines.domain.records import Video
from pipelines.domain.unions import Known
from warehouse.engine import Engine
from warehouse.rows import video_from_row
from warehouse.written_rows import only_written, read_written, with_values

Row = dict[str, Any]

READ_WHOLE = 60
"""So many works are read whole where only their order is asked for: the question for their records
then follows anyway, and opens the same parts of the same files."""
TRIED = 4
"""Of rows whose capture may not be written yet, the best so many are looked at."""

_RANK = "(statistics_complete, digg_count is not null, observed_at, committed_at)"
_IS_YOUNG = "capture_id is not null and ($bound::timestamptz is null or committed_at >= $bound)"
_LIKES = """arg_max(digg_count, (statistics_complete, observed_at, committed_at))
            filter (digg_count is not null and committed_at <= $until)"""
_CREATED = "max(create_time) filter (committed_at <= $until)"
_BEST = f"""
    select
        aweme_id,
        arg_max(work, {_RANK}) filter (not ({_IS_YOUNG})) as best,
        min(observed_at) filter (not ({_IS_YOUNG})) as first_at,
        arg_max(work, {_RANK}, {TRIED}) filter ({_IS_YOUNG}) as young,
        arg_min(struct_pack(observed_at, capture_id), observed_at, {TRIED})
            filter ({_IS_YOUNG}) as first_young,
        {_LIKES} as likes,
        {_CREATED} as created
    from raw.videos as work where aweme_id in ({{ids}})
    group by aweme_id
"""  # noqa: S608  # words of this module
_ALL = "select * from raw.videos where aweme_id in ({ids})"
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
    return _listed(engine, _best(engine, aweme_ids, until=None))


def read_ordering(engine: Engine, aweme_ids: Sequence[str], *, until: datetime) -> Ordering:
    """What was known of works at a moment; with their records as best known now if they are few."""
    if len(aweme_ids) <= READ_WHOLE:
        rows = _best(engine, aweme_ids, until=until)
        return Ordering(_known(rows), _listed(engine, rows))
    sql, params = with_values(_KNOWN, aweme_ids)
    return Ordering(_known(_rows(engine, sql, **params, until=until)))


def _best(engine: Engine, aweme_ids: Sequence[str], *, until: datetime | None) -> list[Row]:
    """A row for each work. One that is watched for months has hundreds of observations: chosen
    among while they are read, they need not all become rows.
    """
    if not aweme_ids:
        return []
    sql, params = with_values(_BEST, aweme_ids)
    bound = engine.whole_before("raw.videos")
    return _rows(engine, sql, **params, bound=bound, until=until)


def _listed(engine: Engine, rows: Sequence[Row]) -> dict[str, Listed]:
    """The best row of each work whose capture is written, and the first of all."""
    written = _written(engine, rows)
    found: dict[str, Listed] = {}
    unsure: list[str] = []
    for row in rows:
        young = [one for one in row["young"] or () if one["capture_id"] in written]
        first = [one for one in row["first_young"] or () if one["capture_id"] in written]
        is_cut = len(row["first_young"] or ()) == TRIED
        if is_cut and not (young and first):
            unsure.append(row["aweme_id"])
        elif best := [*filter(None, [row["best"]]), *young]:
            moments = [row["first_at"], *(one["observed_at"] for one in first)]
            seen_at = min(moment for moment in moments if moment is not None)
            found[row["aweme_id"]] = Listed(video_from_row(max(best, key=_rank)), seen_at)
    return found | _one_by_one(engine, unsure)


def _written(engine: Engine, rows: Sequence[Row]) -> set[str]:
    """Of the captures that the rows are of, those whose own row is there."""
    young = [one for row in rows for kind in ("young", "first_young") for one in row[kind] or ()]
    return read_written(engine, {one["capture_id"] for one in young})


def _one_by_one(engine: Engine, aweme_ids: Sequence[str]) -> dict[str, Listed]:
    """Works whose best rows are of captures that were never finished: every row is looked at."""
    if not aweme_ids:
        return {}
    sql, params = with_values(_ALL, aweme_ids)
    rows_of: dict[str, list[Row]] = defaultdict(list)
    for row in only_written(engine, "raw.videos", _rows(engine, sql, **params)):
        rows_of[row["aweme_id"]].append(row)
    return {
        name: Listed(video_from_row(max(rows, key=_rank)), min(row["observed_at"] for row in rows))
        for name, rows in rows_of.items()
    }


def _rank(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """The same as `_RANK`."""
    has_likes = row["digg_count"] is not None
    return (row["statistics_complete"], has_likes, row["observed_at"], row["committed_at"])


def _known(rows: Iterable[Row]) -> dict[str, Known]:
    return {row["aweme_id"]: Known(row["likes"], row["created"]) for row in rows}


def _rows(engine: Engine, sql: str, **params: object) -> list[Row]:
    return cast("list[Row]", engine.rows(sql, params))
