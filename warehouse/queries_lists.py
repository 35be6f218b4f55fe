"""Typed reads of lists over time: the union of all captures of a list, page by page.

Here: SQL and the shape of its answer, as in `queries`; the order of a union is decided here alone.
A cursor is read in `domain/cursors`. Filters are on ids first, so that files and row groups whose
range does not hold them are not opened.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, cast

from pipelines.domain.records import Video
from warehouse.engine import Engine
from warehouse.rows import video_from_row

Row = dict[str, Any]
Order = Literal["public", "likes", "newest"]

_HOLE_S = 30
"""A sequence that is missing for longer belongs to a capture that was never written."""

# Public order: the latest first screen, then older members by the capture that last showed them.
# The other orders go by what was known when the capture was made: what is learned during a walk
# must not move its pages.
_PUBLIC = "first_position nulls last, recency desc, aweme_id"
_ORDERS: Mapping[Order, str] = {
    "public": _PUBLIC,
    "likes": f"likes desc nulls last, {_PUBLIC}",
    "newest": f"created desc nulls last, {_PUBLIC}",
}
_NOTHING_KNOWN = "select null::varchar as aweme_id, null::bigint as likes, null::bigint as created"
_KNOWN = """
    select
        aweme_id,
        arg_max(digg_count, (statistics_complete, observed_at, committed_at))
            filter (digg_count is not null) as likes,
        max(create_time) as created
    from raw.videos
    where aweme_id in (select aweme_id from members)
        and (
            committed_at <= (select committed_at from as_of)
            or capture_id in (select capture_id from pages)
        )
    group by aweme_id
"""

_UNION = """
    with
    own as materialized (
        select
            capture_id, sequence, outcome, coalesce(cursor_in, 0) as cursor_in, has_more,
            data_provider, observed_at, committed_at
        from raw.captures
        where entity_id = $entity_id and surface in (select unnest($surfaces::varchar[]))
    ),
    -- A capture takes its number a moment before it is written: a young hole may still be filled,
    -- and a walk that had begun beyond it would move.
    numbered as (
        select sequence, committed_at, lag(sequence, 1, 0) over (order by sequence) as before
        from own
    ),
    settled as (
        select coalesce(
            $sequence::bigint,
            nullif(min(before) filter (
                sequence > before + 1
                and committed_at > now() - to_seconds($hole_s::double)
            ), 0),
            max(sequence)
        ) as sequence
        from numbered
    ),
    as_of as (
        select sequence, committed_at from own
        where outcome = 'ok' and sequence <= (select sequence from settled)
        order by sequence desc limit 1
    ),
    pages as (
        select * from own
        where outcome = 'ok' and sequence <= (select sequence from as_of)
    ),
    screens as (select * from pages where cursor_in = 0),
    latest as (select * from screens order by sequence desc limit 1),
    items as materialized (
        select sequence, position, aweme_id from raw.capture_items
        where entity_id = $entity_id and surface in (select unnest($surfaces::varchar[]))
            and capture_id in (select capture_id from pages)
    ),
    members as (
        select
            aweme_id,
            min(position) filter (sequence = (select sequence from latest)) as first_position,
            max(sequence * 1048576 - position) as recency
        from items group by aweme_id
    ),
    known as ({known}),
    placed as materialized (
        select
            aweme_id, first_position,
            row_number() over (order by {order}) as place
        from members left join known using (aweme_id)
    ),
    contents as (
        select screens.sequence, list(items.aweme_id order by items.position) as content
        from screens left join items using (sequence)
        group by screens.sequence
    )
    select
        as_of.sequence,
        (select list(aweme_id order by place) from placed
         where place > $offset and place <= $offset + $count) as aweme_ids,
        (select count(*) from placed) as union_count,
        (select count(first_position) from placed) as first_screen_count,
        (select count(*) from screens) as snapshot_count,
        (select count(distinct content) from contents) as distinct_snapshot_count,
        (select min(observed_at) from screens) as first_observed_at,
        (select max(observed_at) from screens) as last_observed_at,
        (select has_more from latest) as platform_has_more,
        (select data_provider from pages where sequence = as_of.sequence) as data_provider
    from as_of
"""
_CAPTURED = """
    with pages as materialized (
        select * from raw.captures
        where entity_id = $entity_id and surface in (select unnest($surfaces::varchar[]))
            and outcome = 'ok'
            and case when $sequence::bigint is null
                then coalesce(cursor_in, 0) = $cursor::bigint else sequence = $sequence end
        order by sequence desc limit 1
    ),
    as_of as (from pages),
    members as materialized (
        select aweme_id, min(position) as first_position, 0 as recency
        from raw.capture_items
        where entity_id = $entity_id and surface in (select unnest($surfaces::varchar[]))
            and capture_id in (select capture_id from pages)
        group by aweme_id
    ),
    known as ({known})
    select
        sequence, observed_at, has_more, data_provider,
        cursor_out as cursor, coalesce(cursor_in, 0) as cursor_in,
        (select list(aweme_id order by {order})
         from members left join known using (aweme_id)) as aweme_ids
    from pages
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnionPage:
    """A page of the union of a list as of its capture `sequence`. `aweme_ids` are in the order
    asked for; `first_screen_at` is when the latest first screen was observed.
    """

    sequence: int
    aweme_ids: tuple[str, ...]
    union_count: int
    first_screen_count: int
    snapshot_count: int
    distinct_snapshot_count: int
    first_observed_at: datetime | None
    last_observed_at: datetime | None
    platform_has_more: bool | None
    data_provider: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturedPage:
    """One page of a list as the source gave it; `aweme_ids` in the order asked for."""

    sequence: int
    aweme_ids: tuple[str, ...]
    cursor: int | None
    has_more: bool | None
    observed_at: datetime
    data_provider: str
    cursor_in: int


@dataclass(frozen=True, slots=True)
class Listed:
    """A work as best known, and when it was observed for the first time."""

    video: Video
    first_observed_at: datetime


def read_union_page(
    engine: Engine,
    *,
    surfaces: Sequence[str],
    entity_id: str,
    sequence: int | None,
    offset: int,
    count: int,
    order: Order,
) -> UnionPage | None:
    """A page of the union as of a capture (None: as of the newest one that nothing can precede).

    None where there is no such capture.
    """
    found = _rows(
        engine,
        _UNION.format(known=_known(order), order=_ORDERS[order]),
        surfaces=list(surfaces),
        entity_id=entity_id,
        sequence=sequence,
        hole_s=_HOLE_S,
        offset=offset,
        count=count,
    )
    if not found or sequence not in {None, found[0]["sequence"]}:
        return None
    return UnionPage(**(found[0] | {"aweme_ids": tuple(found[0]["aweme_ids"] or ())}))


def read_captured_page(
    engine: Engine,
    *,
    surfaces: Sequence[str],
    entity_id: str,
    cursor: int | None = None,
    sequence: int | None = None,
    order: Order,
) -> CapturedPage | None:
    """The page of a capture, or the one captured last from the source's own `cursor` on.

    None where there is none.
    """
    found = _rows(
        engine,
        _CAPTURED.format(known=_known(order), order=_ORDERS[order]),
        surfaces=list(surfaces),
        entity_id=entity_id,
        cursor=cursor,
        sequence=sequence,
    )
    if not found:
        return None
    return CapturedPage(**(found[0] | {"aweme_ids": tuple(found[0]["aweme_ids"] or ())}))


def read_listed(engine: Engine, aweme_ids: Sequence[str]) -> dict[str, Listed]:
    """Works as best known: the newest observation with all four counts exact, else the newest.

    Works never observed are absent.
    """
    found = _rows(
        engine,
        """
        with observed as materialized (
            select * from raw.videos where aweme_id in (select unnest($ids::varchar[]))
        ),
        -- only the few captures behind these rows are looked for, not all that there are
        written as (
            select capture_id from raw.captures
            where capture_id in (select capture_id from observed)
        )
        select *, min(observed_at) over (partition by aweme_id) as first_observed_at
        from observed
        where capture_id is null or capture_id in (from written)
        qualify row_number() over (
            partition by aweme_id
            order by statistics_complete desc, observed_at desc, committed_at desc
        ) = 1
        """,
        ids=list(aweme_ids),
    )
    return {row["aweme_id"]: Listed(video_from_row(row), row["first_observed_at"]) for row in found}


def _known(order: Order) -> str:
    return _NOTHING_KNOWN if order == "public" else _KNOWN


def _rows(engine: Engine, sql: str, **params: object) -> list[Row]:
    return cast("list[Row]", engine.rows(sql, params))
