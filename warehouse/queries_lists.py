"""Typed reads of lists over time: the union of all captures of a list, page by page.

Here: SQL and the shape of its answer, as in `queries`; what a union is, is in `domain.unions`.
Several small queries rather than one large: planning that one took 34 ms, these take 2 ms each.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

from pipelines.domain.records import Video
from pipelines.domain.unions import (
    Captured,
    Known,
    Member,
    Observed,
    Order,
    in_order,
    observed_until,
)
from warehouse.engine import Engine
from warehouse.rows import video_from_row
from warehouse.written_rows import only_written, with_ids

Row = dict[str, Any]

# Filters are on ids first, so that what cannot hold them is not opened.
_OF_LIST = "entity_id = $entity_id and surface in (select unnest($surfaces::varchar[]))"
_CAPTURES = f"""
    select
        sequence, outcome, coalesce(cursor_in, 0) as cursor_in, has_more, data_provider,
        observed_at, committed_at
    from raw.captures where {_OF_LIST}
"""  # noqa: S608  # a word of this module
_MEMBERS = f"""
    with items as materialized (
        select aweme_id, sequence, position from raw.capture_items
        where {_OF_LIST} and sequence in (select unnest($sequences::bigint[]))
    ),
    contents as (
        select list(aweme_id order by position) as content from items
        where sequence in (select unnest($screens::bigint[]))
        group by sequence
    )
    select
        aweme_id,
        min(position) filter (sequence = $screen) as first_position,
        max(sequence * 1048576 - position) as recency,
        (select struct_pack(shown := count(*), contents := count(distinct content)) from contents)
            as screens
    from items
    group by aweme_id
"""  # noqa: S608  # a word of this module
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
_OBSERVED = """
    select * from raw.videos where aweme_id in ({ids})
    order by
        statistics_complete desc, digg_count is not null desc, observed_at desc, committed_at desc
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnionPage:
    """A page of the union of a list as of its capture `sequence`; `aweme_ids` in the order asked
    for, `last_observed_at` of the latest first screen.
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
    asked = {"entity_id": entity_id, "surfaces": list(surfaces)}
    captures = (Captured(**row) for row in _rows(engine, _CAPTURES, **asked))
    observed = observed_until(captures, sequence=sequence, now=datetime.now(UTC))
    if observed is None:
        return None
    screen = observed.latest_screen
    members, contents = _read_members(engine, observed, asked, on=screen)
    ids = in_order(members, order, known=_known(engine, members, observed.as_of, order))
    return UnionPage(
        sequence=observed.as_of.sequence,
        aweme_ids=tuple(ids[offset : offset + count]),
        union_count=len(members),
        first_screen_count=sum(member.first_position is not None for member in members),
        snapshot_count=len(observed.screens),
        distinct_snapshot_count=contents,
        first_observed_at=min((page.observed_at for page in observed.screens), default=None),
        last_observed_at=screen.observed_at if screen else None,
        platform_has_more=screen.has_more if screen else None,
        data_provider=observed.as_of.data_provider,
    )


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
    asked = {"entity_id": entity_id, "surfaces": list(surfaces)}
    found = _rows(
        engine,
        f"""
        select *, coalesce(cursor_in, 0) as began from raw.captures
        where {_OF_LIST} and outcome = 'ok'
            and case when $sequence::bigint is null
                then coalesce(cursor_in, 0) = $cursor::bigint else sequence = $sequence end
        order by sequence desc limit 1
        """,  # noqa: S608  # a word of this module
        **asked,
        cursor=cursor,
        sequence=sequence,
    )
    if not found:
        return None
    page, number = found[0], found[0]["sequence"]
    capture = Captured(
        **{name: page[name] for name in Captured.__slots__} | {"cursor_in": page["began"]}
    )
    members, _ = _read_members(engine, Observed((capture,)), asked, on=capture)
    return CapturedPage(
        sequence=number,
        aweme_ids=tuple(in_order(members, order, known=_known(engine, members, capture, order))),
        cursor=page["cursor_out"],
        has_more=page["has_more"],
        observed_at=page["observed_at"],
        data_provider=page["data_provider"],
        cursor_in=page["began"],
    )


def read_listed(engine: Engine, aweme_ids: Sequence[str]) -> dict[str, Listed]:
    """Works as best known: the newest observation with all four counts exact, else the newest that
    shows likes, else the newest. Works never observed are absent.
    """
    if not aweme_ids:
        return {}
    sql, params = with_ids(_OBSERVED, aweme_ids)
    best: dict[str, Row] = {}
    first: dict[str, datetime] = {}
    for row in only_written(engine, "raw.videos", _rows(engine, sql, **params)):
        best.setdefault(row["aweme_id"], row)  # the rows come best first
        known = first.setdefault(row["aweme_id"], row["observed_at"])
        first[row["aweme_id"]] = min(known, row["observed_at"])
    return {name: Listed(video_from_row(row), first[name]) for name, row in best.items()}


def _known(
    engine: Engine, members: Sequence[Member], as_of: Captured, order: Order
) -> dict[str, Known]:
    """What was known of the members when the capture was made; it is written last of its batch."""
    if order == "public" or not members:
        return {}
    sql, params = with_ids(_KNOWN, [member.aweme_id for member in members])
    rows = _rows(engine, sql, **params, until=as_of.committed_at)
    return {row["aweme_id"]: Known(row["likes"], row["created"]) for row in rows}


def _read_members(
    engine: Engine, observed: Observed, asked: dict[str, Any], *, on: Captured | None
) -> tuple[list[Member], int]:
    """The works of some captures, with their places `on` one; how many first screens differ."""
    screens = [page.sequence for page in observed.screens]
    rows = _rows(
        engine, _MEMBERS, **asked,
        sequences=[page.sequence for page in observed.pages],
        screens=screens,
        screen=on.sequence if on else None,
    )  # fmt: skip
    counted = rows[0]["screens"] if rows else {"shown": 0, "contents": 0}
    without_works = int(counted["shown"] < len(screens))  # they are all alike
    members = [Member(**{name: row[name] for name in Member.__slots__}) for row in rows]
    return members, counted["contents"] + without_works


def _rows(engine: Engine, sql: str, **params: object) -> list[Row]:
    return cast("list[Row]", engine.rows(sql, params))
