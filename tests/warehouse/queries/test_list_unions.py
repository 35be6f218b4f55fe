"""Pages of a union: whatever is captured during a walk, each work comes once, in one order."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warehouse.engine.duckdb_engine import Engine
from warehouse.engine.sql import MAX_INLINE_VALUES, REPLAYED, REPLAYED_SQL
from warehouse.queries.lists import (
    ListOrder,
    PagePosition,
    UnionPage,
    parse_cursor,
    read_captured_page,
    read_union_page,
)
from warehouse.tables import BY_NAME

pytestmark = pytest.mark.full

LIST, SCREEN = ("music_list", "music_page"), "music_list"
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
BEGIN = PagePosition(None, 0)
TABLES = ("raw.captures", "raw.capture_items", "raw.videos")


@dataclass
class Store:
    """The tables of a few captures in memory, as an engine shows them."""

    connection: duckdb.DuckDBPyConnection
    rows_of: dict[str, list[dict[str, Any]]] = field(
        default_factory=lambda: {name: [] for name in TABLES}
    )
    is_stale: bool = True
    as_of: datetime = LONG_AGO  # of a past moment: what is in the tables is all there is to read

    def rows(
        self, sql: str, params: dict[str, Any] | None = None, **named: Any
    ) -> list[dict[str, Any]]:
        if self.is_stale:
            self._load()
        found: list[dict[str, Any]] = (
            self.connection.sql(sql, params={**(params or {}), **named})
            .to_arrow_table()
            .to_pylist()
        )
        return found

    def complete_before(self, name: str) -> datetime | None:
        assert name in self.rows_of
        return None

    keep_committed = Engine.keep_committed
    committed_captures = Engine.committed_captures

    def _load(self) -> None:
        for name, rows in self.rows_of.items():
            columns = BY_NAME[name].columns
            schema = pa.schema([(column.name, column.type) for column in columns])
            full = [{column.name: row.get(column.name) for column in columns} for row in rows]
            self.connection.register("fresh", pa.Table.from_pylist(full, schema=schema))
            self.connection.execute(f"create or replace table {name} as from fresh")
        self.connection.execute(f"create or replace view {REPLAYED} as {REPLAYED_SQL}")
        self.is_stale = False

    def capture(
        self,
        *ids: str,
        sequence: int | None = None,
        cursor: int | None = 0,
        outcome: str = "ok",
        surface: str = SCREEN,
        at: datetime | None = None,
        has_more: bool = True,
        likes: dict[str, int] | None = None,
    ) -> int:
        """Keep what a page showed; returns its sequence."""
        captures = self.rows_of["raw.captures"]
        number = sequence or 1 + max((row["sequence"] for row in captures), default=0)
        moment = at or LONG_AGO + timedelta(hours=number)
        name = f"c{number}"
        captures.append({
            "capture_id": name, "surface": surface, "entity_id": "1", "sequence": number,
            "outcome": outcome, "cursor_in": cursor, "cursor_out": (cursor or 0) + len(ids),
            "has_more": has_more, "observed_at": moment, "committed_at": moment,
            "data_provider": "public-graph",
        })  # fmt: skip
        self.rows_of["raw.capture_items"] += [
            {
                "capture_id": name, "position": place, "surface": surface, "entity_id": "1",
                "sequence": number, "aweme_id": aweme_id,
            }
            for place, aweme_id in enumerate(ids)
        ]  # fmt: skip
        for aweme_id, count in (likes or {}).items():
            self.learn(aweme_id, count, capture_id=name, at=moment)
        self.is_stale = True
        return number

    def replay(self, sequence: int, *, at: datetime, **changed: Any) -> None:
        """Read the body of a capture again: a newer row of it, with the observations under it."""
        captures = self.rows_of["raw.captures"]
        old = next(row for row in captures if row["sequence"] == sequence)
        again = {"capture_id": f"r{sequence}", "committed_at": at}
        reason = f"replay of {old['capture_id']}"
        captures.append({**old, **again, "reason": reason, **changed})
        videos = self.rows_of["raw.videos"]
        videos += [{**row, **again} for row in videos if row["capture_id"] == old["capture_id"]]
        self.is_stale = True

    def learn(
        self, aweme_id: str, likes: int, *, at: datetime, capture_id: str | None = None
    ) -> None:
        self.rows_of["raw.videos"].append({
            "aweme_id": aweme_id, "capture_id": capture_id, "digg_count": likes,
            "create_time": likes, "statistics_complete": capture_id is None, "observed_at": at,
            "committed_at": at,
        })  # fmt: skip
        self.is_stale = True

    def page(
        self, place: PagePosition = BEGIN, *, count: int = 100, order: ListOrder = "public"
    ) -> UnionPage | None:
        return read_union_page(
            cast("Engine", self),
            surfaces=LIST,
            entity_id="1",
            sequence=place.sequence,
            at=place.at,
            offset=place.offset,
            count=count,
            order=order,
        )

    def shown(self, place: PagePosition = BEGIN, **options: Any) -> list[str]:
        found = self.page(place, **options)
        assert found is not None
        return list(found.aweme_ids)


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config={"threads": 1}) as opened:
        opened.execute("create schema raw; create schema seen")
        yield opened


@pytest.fixture
def store(connection: duckdb.DuckDBPyConnection) -> Store:
    return Store(connection)


def test_the_latest_first_screen_comes_first_then_what_was_shown_last(store: Store) -> None:
    store.capture("a", "b", "c")
    store.capture("c", "d", "e")
    store.capture("f", "c")
    assert store.shown() == ["f", "c", "d", "e", "a", "b"]


def test_deeper_pages_are_members_but_no_snapshots(store: Store) -> None:
    store.capture("a", "b")
    store.capture("c", "a", cursor=20)
    page = store.page()
    assert page is not None
    assert page.aweme_ids == ("a", "b", "c")
    assert (page.union_count, page.first_screen_count) == (3, 2)
    assert (page.snapshot_count, page.distinct_snapshot_count) == (1, 1)


def test_the_newest_page_at_the_beginning_is_the_first_page(store: Store) -> None:
    store.capture("a", has_more=False)
    store.capture("b", cursor=20, has_more=False)
    store.capture("c", "d")
    last = store.capture("e", cursor=1, has_more=False)
    page = store.page()
    assert page is not None
    assert (page.sequence, page.snapshot_count, page.first_screen_count) == (last, 2, 2)
    assert page.platform_has_more is True
    assert page.last_observed_at == LONG_AGO + timedelta(hours=3)


def test_a_list_of_deeper_pages_alone_has_no_first_page(store: Store) -> None:
    store.capture("a", cursor=20)
    page = store.page()
    assert page is not None
    assert (page.snapshot_count, page.first_screen_count, page.aweme_ids) == (0, 0, ("a",))
    assert (page.platform_has_more, page.last_observed_at) == (None, None)


def test_equal_content_is_counted_once_and_order_is_content(store: Store) -> None:
    for ids in (("a", "b"), ("a", "b"), ("b", "a"), ()):
        store.capture(*ids)
    page = store.page()
    assert page is not None
    assert (page.snapshot_count, page.distinct_snapshot_count) == (4, 3)
    assert (page.first_screen_count, page.union_count) == (0, 2)
    assert page.first_observed_at == LONG_AGO + timedelta(hours=1)
    assert page.last_observed_at == LONG_AGO + timedelta(hours=4)


def test_refusals_show_nothing_and_their_number_is_no_cursor(store: Store) -> None:
    store.capture("a")
    refused = store.capture(outcome="upstream_empty")
    page = store.page()
    assert page is not None
    assert (page.sequence, page.aweme_ids) == (1, ("a",))
    assert store.page(PagePosition(refused, 0)) is None
    assert store.page(PagePosition(99, 0)) is None


def test_a_replayed_capture_is_one_capture(store: Store) -> None:
    first = store.capture("a", "b", likes={"a": 1, "b": 2})
    store.capture("c", likes={"c": 3})
    before = {order: store.page(order=order) for order in ("public", "likes")}
    assert before["public"] is not None
    assert (before["public"].snapshot_count, before["public"].distinct_snapshot_count) == (2, 2)
    store.replay(first, at=LONG_AGO + timedelta(days=9))
    after = {order: store.page(order=order) for order in ("public", "likes")}
    assert after["public"] == before["public"]
    then, now = before["likes"], after["likes"]
    assert then is not None
    assert now is not None
    assert now == replace(then, at=now.at)


def test_the_newest_reading_of_a_capture_counts(store: Store) -> None:
    gone = store.capture("a", "b")
    number = store.capture("c", cursor=20, has_more=False)
    store.replay(gone, at=LONG_AGO + timedelta(days=9), outcome="upstream_structure_changed")
    store.replay(number, at=LONG_AGO + timedelta(days=9), cursor_out=40)
    asked: dict[str, Any] = {"surfaces": LIST, "entity_id": "1", "order": "public"}
    engine = cast("Engine", store)
    page = read_captured_page(engine, cursor=20, **asked)
    assert page is not None
    assert (page.cursor, page.aweme_ids) == (40, ("c",))
    assert read_captured_page(engine, sequence=gone, **asked) is None
    assert store.shown() == ["c"]


def test_a_replay_moves_no_page_of_a_walk(store: Store) -> None:
    store.learn("b", 5, at=LONG_AGO)
    number = store.capture("a", "b", likes={"a": 3})
    walk = PagePosition(number, 0)
    assert store.shown(walk, order="likes") == ["b", "a"]
    store.learn("a", 100, at=LONG_AGO + timedelta(days=1))
    store.replay(number, at=LONG_AGO + timedelta(days=2))
    assert store.shown(walk, order="likes") == ["b", "a"]
    now = datetime.now(UTC)
    later = store.capture("c", sequence=number + 2)
    store.replay(later, at=now)
    assert store.shown() == ["c", "a", "b"]


def test_a_refusal_that_is_read_today_shows_what_was_known_then(store: Store) -> None:
    number = store.capture("a", "b", outcome="upstream_structure_changed")
    assert store.page() is None
    moment = LONG_AGO + timedelta(days=2)
    store.replay(number, at=moment, outcome="ok")
    store.learn("b", 9, at=moment)
    assert store.shown(order="likes") == ["b", "a"]


def test_list_union_without_captures_has_no_page(store: Store) -> None:
    assert store.page() is None
    store.capture(outcome="upstream_empty")
    assert store.page() is None


def test_past_the_end_is_an_empty_page(store: Store) -> None:
    store.capture("a", "b")
    assert store.shown(PagePosition(1, 5)) == []


def test_a_walk_begins_before_a_number_that_may_still_be_filled(store: Store) -> None:
    now = datetime.now(UTC)
    store.capture("a", at=now)
    store.capture("b", sequence=3, at=now)
    page = store.page()
    assert page is not None
    assert (page.sequence, page.aweme_ids) == (1, ("a",))
    store.capture("late", sequence=2, at=now)
    assert store.shown(PagePosition(1, 0)) == ["a"]
    assert store.shown() == ["b", "late", "a"]


def test_a_number_that_is_missing_for_long_holds_nobody_up(store: Store) -> None:
    store.capture("a")
    store.capture("b", sequence=3)
    page = store.page()
    assert page is not None
    assert page.sequence == 3


def test_likes_order_by_what_was_known_when_the_walk_began(store: Store) -> None:
    store.learn("b", 50, at=LONG_AGO)
    first = store.capture("a", "b", "c", "d", likes={"a": 10, "c": 90})
    assert store.shown(PagePosition(first, 0), order="likes") == ["c", "b", "a", "d"]
    store.learn("d", 1000, at=LONG_AGO + timedelta(days=1))
    store.learn("b", 7, at=LONG_AGO + timedelta(days=1))
    assert store.shown(PagePosition(first, 0), order="likes") == ["c", "b", "a", "d"]
    assert store.shown(PagePosition(first, 0), order="newest") == ["c", "b", "a", "d"]
    store.capture("a", "b", "c", "d", at=LONG_AGO + timedelta(days=2))
    assert store.shown(order="likes") == ["d", "c", "a", "b"]


def test_a_large_union_is_ordered_like_a_small_one(store: Store) -> None:
    likes = {f"w{n}": n for n in range(MAX_INLINE_VALUES + 50)}
    store.capture(*likes, likes=likes)
    assert store.shown(order="likes", count=3) == [
        f"w{MAX_INLINE_VALUES + 49}",
        f"w{MAX_INLINE_VALUES + 48}",
        f"w{MAX_INLINE_VALUES + 47}",
    ]


def test_a_page_of_the_source_is_kept_as_it_came(store: Store) -> None:
    store.capture("a", "b", cursor=40, likes={"b": 5})
    newer = store.capture("c", "a", cursor=40, likes={"a": 3, "c": 9})
    asked: dict[str, Any] = {"surfaces": LIST, "entity_id": "1"}
    engine = cast("Engine", store)
    page = read_captured_page(engine, cursor=40, order="public", **asked)
    assert page is not None
    assert (page.sequence, page.aweme_ids, page.cursor, page.cursor_in) == (
        newer, ("c", "a"), 42, 40,
    )  # fmt: skip
    older = read_captured_page(engine, sequence=1, order="likes", **asked)
    assert older is not None
    assert older.aweme_ids == ("b", "a")
    assert read_captured_page(engine, cursor=0, order="public", **asked) is None


@pytest.mark.parametrize("sequence", [1, 5])
def test_a_capture_that_read_no_page_is_no_page_of_the_list(store: Store, sequence: int) -> None:
    # the page of a track, or of an account, also answers for its facts; another counter numbers it
    store.capture("a", "b")
    store.capture(cursor=None, sequence=sequence, surface=LIST[1])
    union = store.page()
    assert union is not None
    assert (union.sequence, union.aweme_ids, union.first_screen_count) == (1, ("a", "b"), 2)
    page = read_captured_page(
        cast("Engine", store), surfaces=LIST, entity_id="1", cursor=0, order="public"
    )
    assert page is not None
    assert page.aweme_ids == ("a", "b")


IDS = st.lists(st.sampled_from("abcdefghijklmnop"), unique=True, max_size=8)
CAPTURES = st.tuples(IDS, st.sampled_from([0, 0, 20]), st.sampled_from(["ok", "ok", "refused"]))


@given(
    st.lists(CAPTURES, min_size=1, max_size=6),
    st.lists(
        st.tuples(st.integers(1, 6), st.one_of(st.none(), CAPTURES)), min_size=30, max_size=30
    ),
    st.sampled_from(["public", "likes", "newest"]),
)
@settings(max_examples=5, deadline=None)
def test_a_walk_has_no_gap_and_no_repeat_whatever_is_captured_meanwhile(
    connection: duckdb.DuckDBPyConnection,
    before: list[tuple[list[str], int, str]],
    steps: list[tuple[int, tuple[list[str], int, str] | None]],
    order: ListOrder,
) -> None:
    store = Store(connection)

    def keep(ids: list[str], cursor: int, outcome: str) -> None:
        shown = ids if outcome == "ok" else []
        number = store.capture(*shown, cursor=cursor, outcome=outcome)
        for place, name in enumerate(ids[::2]):
            at = LONG_AGO + timedelta(hours=number, minutes=1)
            store.learn(name, number * 31 % 17 + place, at=at)

    store.capture("a", "b")
    for captured in before:
        keep(*captured)
    whole = store.shown(order=order)
    walked: list[str] = []
    place = PagePosition(None, 0)
    for count, meanwhile in steps:
        page = store.page(place, count=count, order=order)
        assert page is not None
        walked += page.aweme_ids
        assert page.union_count == len(whole)
        place = parse_cursor(place.after(len(page.aweme_ids), as_of=page.sequence, at=page.at))
        if meanwhile is not None:
            keep(*meanwhile)
    assert walked == whole
