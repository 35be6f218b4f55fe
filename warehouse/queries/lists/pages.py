"""Pages of a list over time; the union of all captures is defined in `union`.

Several small queries rather than one large one: planning that took 34 ms, these take 2 ms each.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from warehouse.engine.duckdb_engine import Engine
from warehouse.queries.committed_rows import inline_values
from warehouse.queries.lists.union import (
    ListCapture,
    ListCaptures,
    ListOrder,
    UnionMember,
    VideoSortValues,
    history_at,
    history_until,
    sort_members,
)
from warehouse.queries.videos import (
    ListedVideo,
    VideoOrdering,
    read_last_commit,
    read_ordering,
)
from warehouse.records.times import SEQUENCES_AT_MOMENT, find_birth, to_moment, to_ticks
from warehouse.records.values import Row

# Filter on ids first, so that files without them are not opened.
_OF_LIST = "entity_id = $entity_id and surface in ({surfaces})"
# A replay adds a row to a capture: the newest counts. The capture was made with the first row of
# that outcome. Without a cursor, a capture showed no page: `user_page` also answers for a profile.
_NEWEST = f"""
    select
        * exclude (committed_at),
        min(committed_at) over (partition by surface, sequence, outcome) as made_at
    from raw.captures as row where {_OF_LIST} and cursor_in is not null
    qualify row_number() over (partition by surface, sequence order by row.committed_at desc) = 1
"""  # noqa: S608  # a word of this module
_CAPTURES = f"""
    select
        sequence, outcome, cursor_in, has_more, data_provider, observed_at, made_at as committed_at
    from ({_NEWEST})
"""  # noqa: S608  # a word of this module
_PAGE = f"""
    select *, made_at as committed_at from ({_NEWEST})
    where outcome = 'ok'
        and case
            when $sequence::bigint is null then cursor_in = $cursor::bigint
            when $at::timestamptz is null then sequence = $sequence
            else sequence % $modulus = $sequence and made_at <= $at::timestamptz
        end
    order by sequence desc limit 1
"""  # noqa: S608  # a word of this module
_MEMBERS = f"""
    with items as materialized (
        select aweme_id, sequence, position from raw.capture_items
        where {_OF_LIST} and sequence in ({{sequences}})
    ),
    contents as (
        select sum(hash(aweme_id, position)) as content from items
        where sequence in ({{screens}})
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


@dataclass(frozen=True, slots=True, kw_only=True)
class UnionPage:
    """A page of the union of a list as of its capture `sequence`.

    `aweme_ids` are in the requested order. `last_observed_at` is the time of the latest first page.
    `listed`: the videos, if they were read to sort them. `at`: the moment that a sorted page is as
    of, None if only captures decide its order.
    """

    sequence: int
    at: datetime | None
    aweme_ids: tuple[str, ...]
    union_count: int
    first_screen_count: int
    snapshot_count: int
    distinct_snapshot_count: int
    first_observed_at: datetime | None
    last_observed_at: datetime | None
    platform_has_more: bool | None
    data_provider: str
    listed: Mapping[str, ListedVideo]


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturedPage:
    """One page of a list as the source returned it; `aweme_ids` in the requested order.

    `at` as in `UnionPage`.
    """

    sequence: int
    at: datetime | None
    aweme_ids: tuple[str, ...]
    cursor: int | None
    has_more: bool | None
    observed_at: datetime
    data_provider: str
    cursor_in: int


def read_union_page(
    engine: Engine,
    *,
    surfaces: Sequence[str],
    entity_id: str,
    sequence: int | None,
    offset: int,
    count: int,
    order: ListOrder,
    at: datetime | None = None,
) -> UnionPage | None:
    """Return a page of the union as of a capture or a moment; None if there is no such capture.

    Without either, it is as of the newest capture that no other can precede; a sorted union is as
    of the last thing that became known of the list or of its videos.
    """
    asked = _RequestedList(entity_id, surfaces)
    captures = [ListCapture(**row) for row in asked.rows(engine, _CAPTURES)]
    is_as_of_moment = at is not None or (sequence is None and order != "public")
    if is_as_of_moment:
        observed = history_at(captures, at)
    else:
        observed = history_until(captures, sequence=sequence, now=datetime.now(UTC))
    if observed is None:
        return None
    screen = observed.latest_screen
    members, contents = _read_members(engine, observed, asked, on=screen)
    if is_as_of_moment and at is None:
        made_at = max(capture.committed_at for capture in observed.pages)
        at = _last_change(engine, members, since=made_at)
    ordering = _ordering(engine, members, at or observed.as_of.committed_at, order)
    ids = sort_members(members, order, known=ordering.known)
    return UnionPage(
        sequence=observed.as_of.sequence,
        at=at,
        aweme_ids=tuple(ids[offset : offset + count]),
        union_count=len(members),
        first_screen_count=sum(member.first_position is not None for member in members),
        snapshot_count=len(observed.screens),
        distinct_snapshot_count=contents,
        first_observed_at=min((page.observed_at for page in observed.screens), default=None),
        last_observed_at=screen.observed_at if screen else None,
        platform_has_more=screen.has_more if screen else None,
        data_provider=observed.as_of.data_provider,
        listed=ordering.listed,
    )


def read_captured_page(
    engine: Engine,
    *,
    surfaces: Sequence[str],
    entity_id: str,
    cursor: int | None = None,
    sequence: int | None = None,
    order: ListOrder,
    at: datetime | None = None,
) -> CapturedPage | None:
    """Return the page of a capture, or the last one captured at the source's own `cursor`.

    None if there is none. A sorted page is as of the last thing that became known of its videos, or
    as of `at`; `sequence` is then the capture's number modulo `SEQUENCES_AT_MOMENT`.
    """
    asked = _RequestedList(entity_id, surfaces)
    found = asked.rows(
        engine, _PAGE, cursor=cursor, sequence=sequence, at=at, modulus=SEQUENCES_AT_MOMENT
    )
    if not found:
        return None
    page, number = found[0], found[0]["sequence"]
    capture = ListCapture(**{name: page[name] for name in ListCapture.__slots__})
    members, _ = _read_members(engine, ListCaptures((capture,)), asked, on=capture)
    if order != "public" and sequence is None:
        at = _last_change(engine, members, since=capture.committed_at)
    ordering = _ordering(engine, members, at or capture.committed_at, order)
    return CapturedPage(
        sequence=number,
        at=at,
        aweme_ids=tuple(sort_members(members, order, known=ordering.known)),
        cursor=page["cursor_out"],
        has_more=page["has_more"],
        observed_at=page["observed_at"],
        data_provider=page["data_provider"],
        cursor_in=page["cursor_in"],
    )


@dataclass(frozen=True, slots=True)
class _RequestedList:
    """The requested list, with all surfaces that show it."""

    entity_id: str
    surfaces: Sequence[str]

    def rows(self, engine: Engine, sql: str, **params: object) -> list[Row]:
        sql, surfaces = inline_values(sql, self.surfaces, slot="surfaces")
        return engine.rows(sql, {"entity_id": self.entity_id, **surfaces, **params})


def _last_change(engine: Engine, members: Sequence[UnionMember], *, since: datetime) -> datetime:
    """Return when something last became known of the members, as a cursor can hold it."""
    changed = read_last_commit(engine, [member.aweme_id for member in members], since=since)
    return to_moment(to_ticks(changed or since))


def _ordering(
    engine: Engine, members: Sequence[UnionMember], until: datetime, order: ListOrder
) -> VideoOrdering:
    """Return what was known of the members; without a stated publication, the time in their id."""
    if order == "public":
        return VideoOrdering()
    ordering = read_ordering(engine, [member.aweme_id for member in members], until=until)
    known: dict[str, VideoSortValues] = {}
    for member in members:
        values = ordering.known.get(member.aweme_id, VideoSortValues())
        birth = find_birth(member.aweme_id, stated=values.created, observed_at=until)
        created = None if birth is None else int(birth.at.timestamp())
        known[member.aweme_id] = VideoSortValues(values.likes, created)
    return replace(ordering, known=known)


def _read_members(
    engine: Engine, observed: ListCaptures, asked: _RequestedList, *, on: ListCapture | None
) -> tuple[list[UnionMember], int]:
    """Return the videos of some captures, and how many different first pages there are.

    The positions are those of the capture `on`.
    """
    pages = [page.sequence for page in observed.pages]
    screens = [page.sequence for page in observed.screens]
    sql, among = inline_values(_MEMBERS, pages, slot="sequences", kind="bigint")
    sql, shown = inline_values(sql, screens, slot="screens", kind="bigint")
    rows = asked.rows(engine, sql, **among, **shown, screen=on.sequence if on else None)
    counted = rows[0]["screens"] if rows else {"shown": 0, "contents": 0}
    empty_page_count = int(counted["shown"] < len(screens))  # all empty pages are the same
    members = [UnionMember(**{name: row[name] for name in UnionMember.__slots__}) for row in rows]
    return members, counted["contents"] + empty_page_count
