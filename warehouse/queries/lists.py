"""Read a list over time: the union of its captures, one page at a time, in a stable order.

A list is captured page by page; its union is every video that any capture has shown. Public order:
the videos of the newest capture of the first page, in its order; then all others, those shown last
first. The other orders sort by what was known when pagination began, videos without a value last,
so that later observations do not move a client's pages.

Planning one large query took 34 ms; these small ones take 2 ms each.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from warehouse.engine.duckdb_engine import Engine
from warehouse.engine.sql import inline_values
from warehouse.queries import videos
from warehouse.records.times import SEQUENCES_AT_MOMENT, find_birth, to_moment, to_ticks
from warehouse.records.values import Row
from warehouse.records.videos import Video

# Pagination cursors over a union of observations, and within a page of the source.
#
# A cursor is an integer: the sequence number of the capture at which pagination began, times 2^20,
# plus the offset. All pages therefore show the union as of that capture, whatever is captured
# meanwhile. Below 2^20 it is an offset into the newest state. Not here: the sort order.
#
# A sorted list shows what is known of its videos when pagination begins, which may be more than
# its newest capture knew: their details. Its cursors therefore hold a moment instead of a capture:
# its tick (16 ms) times 2^16, plus the offset, beyond all cursors that hold a capture. All pages
# are as of that moment. Until 2054 they stay below 2^53, the largest integer that a browser reads
# exactly.

OFFSETS = 1 << 20
"""Maximum offset in a union; real unions are far smaller."""

PLATFORM_CURSORS_FROM = 1 << 39
"""From here on (in milliseconds: mid-1987) a cursor of posts is the platform's own: all its posts
are younger, and no account is captured half a million times. Below 2^20 it is the platform's, too.
"""

MOMENTS_FROM = (1 << 52) + OFFSETS
"""From here on a cursor holds a moment. The platform's own, in milliseconds, stay far below."""

OFFSETS_AT_MOMENT = 1 << 16
"""Maximum offset in a union as of a moment."""

_CLOCK_SKEW = timedelta(minutes=10)
_OFFSETS_IN_PAGE = OFFSETS_AT_MOMENT // SEQUENCES_AT_MOMENT


@dataclass(frozen=True, slots=True)
class PagePosition:
    """The start of a page: as of a capture, as of a moment, or of the newest state."""

    sequence: int | None
    offset: int
    at: datetime | None = None

    @property
    def is_newest(self) -> bool:
        """True if pagination begins here."""
        return self.sequence is None and self.at is None

    def after(self, count: int, *, as_of: int, at: datetime | None = None) -> int:
        """Return the cursor of the next page of a union, after `count` items.

        `at`: the moment of a sorted union, otherwise it is as of the capture `as_of`.
        """
        if at is None:
            return as_of * OFFSETS + min(self.offset + count, OFFSETS - 1)
        offset = min(self.offset + count, OFFSETS_AT_MOMENT - 1)
        return MOMENTS_FROM + to_ticks(at) * OFFSETS_AT_MOMENT + offset

    def after_in_page(self, count: int, *, sequence: int, at: datetime | None) -> int:
        """Return the cursor of the rest of a captured page; `at`: the moment of a sorted one."""
        if at is None:
            return self.after(count, as_of=sequence)
        page = to_ticks(at) * SEQUENCES_AT_MOMENT + sequence % SEQUENCES_AT_MOMENT
        offset = min(self.offset + count, _OFFSETS_IN_PAGE - 1)
        return MOMENTS_FROM + page * _OFFSETS_IN_PAGE + offset


def parse_cursor(cursor: int) -> PagePosition:
    """Parse a cursor over a union.

    Raises:
        ValueError: The cursor is negative, or of a moment that is still to come.
    """
    if cursor < 0:
        raise ValueError("a cursor is not negative")
    if cursor < OFFSETS:
        return PagePosition(None, cursor)
    if cursor < MOMENTS_FROM:
        return PagePosition(*divmod(cursor, OFFSETS))
    ticks, offset = divmod(cursor - MOMENTS_FROM, OFFSETS_AT_MOMENT)
    return PagePosition(None, offset, at=_moment(ticks))


def parse_page_cursor(cursor: int) -> PagePosition | None:
    """Parse a cursor within a captured page of posts; None if it is the platform's own cursor.

    As of a moment, `sequence` is the capture's number modulo `SEQUENCES_AT_MOMENT`.

    Raises:
        ValueError: It is of a moment that is still to come.
    """
    if OFFSETS <= cursor < PLATFORM_CURSORS_FROM:
        return parse_cursor(cursor)
    if cursor < MOMENTS_FROM:
        return None
    page, offset = divmod(cursor - MOMENTS_FROM, _OFFSETS_IN_PAGE)
    ticks, sequence = divmod(page, SEQUENCES_AT_MOMENT)
    return PagePosition(sequence, offset, at=_moment(ticks))


def _moment(ticks: int) -> datetime:
    at = to_moment(ticks)
    if at > datetime.now(UTC) + _CLOCK_SKEW:
        raise ValueError("no walk has begun so late")
    return at


ListOrder = Literal["public", "likes", "newest"]

GAP_TIMEOUT_S = 30.0
"""A sequence number that is missing this long after a later capture was written is given up."""

# `{surfaces}`, `{sequences}` and `{first_pages}` are the places of values that `inline_values`
# fills in. The filter on ids stands first, so that files without them are not opened.
_OF_LIST = "entity_id = $entity_id and surface in ({surfaces})"
# A replay adds a second row to a capture. The newest row counts; `made_at` is the time of the first
# row with that outcome. Rows without a cursor are no pages of a list: `user_page` also captures
# profiles.
_NEWEST = f"""
    select
        * exclude (committed_at),
        min(committed_at) over (partition by surface, sequence, outcome) as made_at
    from raw.captures as row where {_OF_LIST} and cursor_in is not null
    qualify row_number() over (partition by surface, sequence order by row.committed_at desc) = 1
"""  # noqa: S608 -- built from constants; values are bound
_CAPTURES = f"""
    select
        sequence, outcome, cursor_in, has_more, data_provider, observed_at, made_at as committed_at
    from ({_NEWEST})
"""  # noqa: S608 -- built from constants; values are bound
_PAGE = f"""
    select *, made_at as committed_at from ({_NEWEST})
    where outcome = 'ok'
        and case
            when $sequence::bigint is null then cursor_in = $cursor::bigint
            when $at::timestamptz is null then sequence = $sequence
            else sequence % $modulus = $sequence and made_at <= $at::timestamptz
        end
    order by sequence desc limit 1
"""  # noqa: S608 -- built from constants; values are bound
_MEMBERS = f"""
    with items as materialized (
        select aweme_id, sequence, position from raw.capture_items
        where {_OF_LIST} and sequence in ({{sequences}})
    ),
    contents as (
        select sum(hash(aweme_id, position)) as content from items
        where sequence in ({{first_pages}})
        group by sequence
    )
    select
        aweme_id,
        min(position) filter (sequence = $first_page) as first_position,
        (select struct_pack(pages := count(*), contents := count(distinct content)) from contents)
            as first_pages
    from items
    group by aweme_id
    order by first_position nulls last, max(sequence * 1048576 - position) desc, aweme_id
"""  # noqa: S608 -- built from constants; values are bound


@dataclass(frozen=True, slots=True, kw_only=True)
class ListCapture:
    """A capture of a list. `cursor_in` is 0 for the first page."""

    sequence: int
    outcome: str
    cursor_in: int
    has_more: bool | None
    data_provider: str
    observed_at: datetime
    committed_at: datetime


@dataclass(frozen=True, slots=True)
class ListMembers:
    """The videos of some captures of a list, in the public order.

    `first_page_count` of them are on the newest first page; `distinct_page_count` is how many
    different first pages were captured.
    """

    aweme_ids: list[str]
    first_page_count: int
    distinct_page_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ListHistory:
    """What the captures of a list have shown so far.

    `last_observed_at` is the time of the latest first page.
    """

    union_count: int
    first_screen_count: int
    snapshot_count: int
    distinct_snapshot_count: int
    first_observed_at: datetime | None
    last_observed_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnionPage(ListHistory):
    """A page of the union of a list as of its capture `sequence`.

    `aweme_ids` are in the requested order. `listed` has the records of the videos that sorting had
    to read. `at` is the time whose knowledge sorted the page; None in the public order.
    """

    sequence: int
    at: datetime | None
    aweme_ids: tuple[str, ...]
    platform_has_more: bool | None
    data_provider: str
    listed: Mapping[str, Video]


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
    """Return a page of the union; None if there is no such capture.

    `sequence` continues as of that capture, `at` as of that time; without either pagination begins
    now. A new sorted union begins at its last change, so that the cursor can name it.
    """
    queries = _ListQueries(engine, entity_id, surfaces)
    captures = [ListCapture(**row) for row in queries.rows(_CAPTURES)]
    is_by_time = at is not None or (sequence is None and order != "public")
    if is_by_time:
        pages = captures_at(captures, at)
    else:
        pages = captures_until(captures, sequence=sequence, now=datetime.now(UTC))
    if not pages:
        return None
    newest = pages[-1]  # it defines the view
    first_pages = [page for page in pages if page.cursor_in == 0]
    first_page = first_pages[-1] if first_pages else None
    members = queries.members(pages, first_pages, first_page=first_page)
    ids = members.aweme_ids
    if is_by_time and at is None:
        at = _last_change(engine, ids, since=max(page.committed_at for page in pages))
    listed: Mapping[str, Video] = {}
    if order != "public":
        ids, listed = _sort(engine, ids, order, until=at or newest.committed_at)
    return UnionPage(
        sequence=newest.sequence,
        at=at,
        aweme_ids=tuple(ids[offset : offset + count]),
        union_count=len(ids),
        first_screen_count=members.first_page_count,
        snapshot_count=len(first_pages),
        distinct_snapshot_count=members.distinct_page_count,
        first_observed_at=min((page.observed_at for page in first_pages), default=None),
        last_observed_at=first_page.observed_at if first_page else None,
        platform_has_more=first_page.has_more if first_page else None,
        data_provider=newest.data_provider,
        listed=listed,
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

    None if no such page was captured. A sorted page is as of its last change, or as of `at`; then
    `sequence` is only the low digits of the capture's number, as the cursor stores it.
    """
    queries = _ListQueries(engine, entity_id, surfaces)
    rows = queries.rows(_PAGE, cursor=cursor, sequence=sequence, at=at, modulus=SEQUENCES_AT_MOMENT)
    if not rows:
        return None
    page = rows[0]
    capture = ListCapture(**{name: page[name] for name in ListCapture.__slots__})
    first_pages = [capture] if capture.cursor_in == 0 else []
    ids = queries.members([capture], first_pages, first_page=capture).aweme_ids
    if order != "public":
        if sequence is None:
            at = _last_change(engine, ids, since=capture.committed_at)
        ids, _ = _sort(engine, ids, order, until=at or capture.committed_at)
    return CapturedPage(
        sequence=page["sequence"],
        at=at,
        aweme_ids=tuple(ids),
        cursor=page["cursor_out"],
        has_more=page["has_more"],
        observed_at=page["observed_at"],
        data_provider=page["data_provider"],
        cursor_in=page["cursor_in"],
    )


def captures_at(captures: Iterable[ListCapture], at: datetime | None) -> list[ListCapture]:
    """Return the successful captures committed by `at`, oldest first; all if it is None."""
    pages = [
        capture
        for capture in captures
        if capture.outcome == "ok" and (at is None or capture.committed_at <= at)
    ]
    return sorted(pages, key=lambda page: page.sequence)


def captures_until(
    captures: Iterable[ListCapture], *, sequence: int | None, now: datetime
) -> list[ListCapture]:
    """Return the successful captures of a union as of `sequence`, oldest first.

    Empty if that capture failed or is missing.

    With `sequence` None, as of the newest capture that no other can precede. A capture takes its
    number before it is written. If a number is missing and may still be written, the view ends
    before it: otherwise its rows would move the pages of a client that began after it.
    """
    numbered = sorted(captures, key=lambda capture: capture.sequence)
    until = sequence
    if until is None:
        until = 0
        for capture in numbered:
            is_recent = capture.committed_at > now - timedelta(seconds=GAP_TIMEOUT_S)
            if capture.sequence > until + 1 and is_recent and until:
                break
            until = capture.sequence
    pages = [page for page in numbered if page.outcome == "ok" and page.sequence <= until]
    return pages if pages and sequence in {None, pages[-1].sequence} else []


def sort_members(aweme_ids: Iterable[str], values: videos.SortValues) -> list[str]:
    """Sort videos from most to least, those without a value last; equal ones keep their order."""

    def key(aweme_id: str) -> tuple[bool, int]:
        value = values.get(aweme_id)
        return value is None, -(value or 0)

    return sorted(aweme_ids, key=key)


@dataclass(frozen=True, slots=True)
class _ListQueries:
    """Queries about one list, with all surfaces that show it."""

    engine: Engine
    entity_id: str
    surfaces: Sequence[str]

    def rows(self, sql: str, **params: object) -> list[Row]:
        sql, surfaces = inline_values(sql, self.surfaces, slot="surfaces")
        return self.engine.rows(sql, {"entity_id": self.entity_id, **surfaces, **params})

    def members(
        self,
        pages: Sequence[ListCapture],
        first_pages: Sequence[ListCapture],
        *,
        first_page: ListCapture | None,
    ) -> ListMembers:
        """Return the videos of some captures, those of the capture `first_page` first."""
        sequences = [page.sequence for page in pages]
        sql, page_params = inline_values(_MEMBERS, sequences, slot="sequences", kind="bigint")
        sequences = [page.sequence for page in first_pages]
        sql, screen_params = inline_values(sql, sequences, slot="first_pages", kind="bigint")
        rows = self.rows(
            sql,
            **page_params,
            **screen_params,
            first_page=first_page.sequence if first_page else None,
        )
        counts = rows[0]["first_pages"] if rows else {"pages": 0, "contents": 0}
        empty_page_count = int(counts["pages"] < len(first_pages))  # all empty pages count as one
        return ListMembers(
            [row["aweme_id"] for row in rows],
            sum(row["first_position"] is not None for row in rows),
            counts["contents"] + empty_page_count,
        )


def _last_change(engine: Engine, aweme_ids: Sequence[str], *, since: datetime) -> datetime:
    """Return the last change of the videos, rounded to the resolution of a cursor."""
    changed = videos.read_last_commit(engine, aweme_ids, since=since)
    return to_moment(to_ticks(changed or since))


def _sort(
    engine: Engine, aweme_ids: list[str], order: ListOrder, *, until: datetime
) -> tuple[list[str], Mapping[str, Video]]:
    """Return the ids sorted by what was known at `until`, and the records read for it."""
    by: videos.SortColumn = "likes" if order == "likes" else "created"
    values, listed = videos.read_sort_values(engine, aweme_ids, by=by, until=until)
    if by == "created":  # where no time of publication was stated, the time in the id
        births = {
            aweme_id: find_birth(aweme_id, stated=values.get(aweme_id), observed_at=until)
            for aweme_id in aweme_ids
        }
        values = {name: int(birth.at.timestamp()) for name, birth in births.items() if birth}
    return sort_members(aweme_ids, values), listed
