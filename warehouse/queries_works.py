"""Typed reads of works by their ids: as best known now, and what was known of them at a moment.

Here: SQL and the shape of its answer, as in `queries`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

from pipelines.domain.records import Video
from pipelines.domain.unions import Known
from warehouse.engine import Engine
from warehouse.rows import video_from_row
from warehouse.written_rows import only_written, with_values

Row = dict[str, Any]

READ_WHOLE = 60
"""So many works are read whole where only their order is asked for: the question for their records
then follows anyway, and opens the same parts of the same files."""

_OBSERVED = """
    select * from raw.videos where aweme_id in ({ids})
    order by
        statistics_complete desc, digg_count is not null desc, observed_at desc, committed_at desc
"""
_KNOWN = """
    select
        aweme_id,
        arg_max(digg_count, (statistics_complete, observed_at, committed_at))
            filter (digg_count is not null) as likes,
        max(create_time) as created
    from raw.videos
    where aweme_id in ({ids}) and committed_at <= $until
    group by aweme_id
"""


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
    return _best(only_written(engine, "raw.videos", _observed(engine, aweme_ids)))


def read_ordering(engine: Engine, aweme_ids: Sequence[str], *, until: datetime) -> Ordering:
    """What was known of works at a moment; with their records as best known now if they are few."""
    if not aweme_ids:
        return Ordering()
    if len(aweme_ids) <= READ_WHOLE:
        rows = _observed(engine, aweme_ids)
        listed = _best(only_written(engine, "raw.videos", rows))
        return Ordering(_known(row for row in rows if row["committed_at"] <= until), listed)
    sql, params = with_values(_KNOWN, aweme_ids)
    found = _rows(engine, sql, **params, until=until)
    return Ordering({row["aweme_id"]: Known(row["likes"], row["created"]) for row in found})


def _observed(engine: Engine, aweme_ids: Sequence[str]) -> list[Row]:
    """All observations of works, the best first."""
    if not aweme_ids:
        return []
    sql, params = with_values(_OBSERVED, aweme_ids)
    return _rows(engine, sql, **params)


def _best(rows: Iterable[Row]) -> dict[str, Listed]:
    best: dict[str, Row] = {}
    first: dict[str, datetime] = {}
    for row in rows:
        best.setdefault(row["aweme_id"], row)  # the rows come best first
        known = first.setdefault(row["aweme_id"], row["observed_at"])
        first[row["aweme_id"]] = min(known, row["observed_at"])
    return {name: Listed(video_from_row(row), first[name]) for name, row in best.items()}


def _known(rows: Iterable[Row]) -> dict[str, Known]:
    """The same as `_KNOWN` of rows that come best first."""
    likes: dict[str, int] = {}
    created: dict[str, int | None] = {}
    for row in rows:
        name = row["aweme_id"]
        if row["digg_count"] is not None:
            likes.setdefault(name, row["digg_count"])
        known = (created.get(name), row["create_time"])
        created[name] = max((moment for moment in known if moment is not None), default=None)
    return {name: Known(likes.get(name), moment) for name, moment in created.items()}


def _rows(engine: Engine, sql: str, **params: object) -> list[Row]:
    return cast("list[Row]", engine.rows(sql, params))
