"""The messages of charts agree with the rows that they are about."""

from datetime import date
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.documents.messages import LANGUAGES
from pipelines.reports.figures import headlines
from pipelines.reports.texts import Share, load_texts

COUNTS = st.lists(st.one_of(st.none(), st.integers(0, 10**9)), max_size=40)
DAYS = st.lists(st.tuples(st.dates(), st.one_of(st.none(), st.integers(0, 10**6))), max_size=12)


def to_table(values: list[Any]) -> pa.Table:
    return pa.table({"n": pa.array(values, pa.int64())})


@given(COUNTS)
def test_the_fewest_rows_with_half_of_the_total_are_counted(values: list[int | None]) -> None:
    known = sorted((one for one in values if one is not None), reverse=True)
    found = headlines.concentration(to_table(values), "n")
    if found is None:
        assert len(known) < headlines.LEAST_PARTS or sum(known) == 0
        return
    count, share = found.values["count"], found.values["share"]
    assert found.values["total"] == len(known)
    assert 2 * sum(known[:count]) >= sum(known) > 2 * sum(known[: count - 1])
    assert (share.part, share.whole) == (sum(known[:count]), sum(known))
    assert found.form == ("one" if count == 1 else "many")


@given(st.integers(0, 10**9), st.integers(1, 10**9))
def test_a_share_is_rounded_and_never_to_all_or_nothing(part: int, whole: int) -> None:
    part = min(part, whole)
    percent = Share(part, whole).percent
    assert abs(percent - 100 * part / whole) < 1
    assert (percent == 0) == (part == 0)
    assert (percent == 100) == (part == whole)


@given(DAYS)
def test_a_change_is_between_the_first_and_the_last_known_value(
    rows: list[tuple[date, int | None]],
) -> None:
    table = pa.table(
        {
            "day": pa.array([day for day, _ in rows], pa.date32()),
            "n": pa.array([value for _, value in rows], pa.int64()),
        }
    )
    found = headlines.change(table, "day", "n")
    known = sorted((row for row in rows if row[1] is not None), key=lambda row: row[0])
    if found is None:
        assert len({day for day, _ in known}) < 2
        return
    first, last = known[0][1], known[-1][1]
    assert (found.values["first"], found.values["last"]) == (first, last)
    assert first is not None
    assert last is not None
    assert found.form == ("same" if first == last else "rise" if last > first else "fall")


def test_the_song_most_often_first_is_named_unless_there_is_a_tie() -> None:
    def rows(*first: str) -> pa.Table:
        return pa.Table.from_pylist(
            [{"song": name, "chart_date": day, "rank": 1} for day, name in enumerate(first)]
        )

    found = headlines.most_often_first(rows("a", "b", "a"), drawn=["a"])
    assert found is not None
    assert found.values == {"name": "a", "count": 2, "total": 3}
    assert headlines.most_often_first(rows("a", "b", "a"), drawn=["b"]) is None
    assert headlines.most_often_first(rows("a", "b"), drawn=["a", "b"]) is None
    assert headlines.most_often_first(rows("a"), drawn=["a"]) is None


def test_the_peak_is_a_month_and_has_no_tie() -> None:
    months = [date(2026, 1, 1), date(2026, 2, 1)]
    found = headlines.peak(pa.table({"month": months, "n": [3, 1]}), "month", "n")
    assert found is not None
    assert (found.values["at"], found.values["value"], found.values["total"]) == ("2026-01", 3, 4)
    assert headlines.peak(pa.table({"month": months, "n": [2, 2]}), "month", "n") is None


def test_headline_of_a_share_of_nothing_is_none() -> None:
    assert headlines.share_of(0, 0) is None
    found = headlines.share_of(3, 3)
    assert found is not None
    assert found.form == "all"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_title_shows_the_numbers_of_its_message(language: str) -> None:
    found = headlines.concentration(to_table([61, 20, 19]), "n")
    assert found is not None
    title = load_texts(language).text(
        f"track.charts.accounts.messages.{found.form}", **found.values
    )
    assert "61 %" in title
    assert "3" in title


def test_the_leader_is_named_with_the_second_unless_they_are_equal() -> None:
    rows: list[dict[str, Any]] = [
        {"who": "a", "n": 2}, {"who": "b", "n": None}, {"who": "c", "n": 5},
    ]  # fmt: skip
    found = headlines.leader(rows, "who", "n")
    assert found is not None
    assert found.values == {"name": "c", "value": 5, "second": "a", "second_value": 2}
    assert headlines.leader([*rows, {"who": "d", "n": 5}], "who", "n") is None
    also_second = headlines.leader([*rows, {"who": "d", "n": 2}], "who", "n")
    assert also_second is not None
    assert also_second.values["second"] == "a, d"
    assert headlines.leader(rows[:2], "who", "n") is None


def test_of_each_name_the_last_known_value_and_the_lower_median_are_taken() -> None:
    table = pa.Table.from_pylist(
        [
            {"who": "a", "day": 3, "n": None},
            {"who": "a", "day": 2, "n": 7},
            {"who": "b", "day": 1, "n": 4},
            {"who": "a", "day": 1, "n": 1},
        ]
    )
    assert headlines.latest(table, "who", "day", "n") == [
        {"who": "b", "day": 1, "n": 4},
        {"who": "a", "day": 2, "n": 7},
    ]
    assert headlines.medians(table, "who", "n") == [{"who": "a", "n": 1}, {"who": "b", "n": 4}]


def limits(*changes: tuple[int, int], used: int | None, top: int = 5) -> pa.Table:
    """Tested limits 0, 1, 2 …, each with what came into the Top N and what went."""
    return pa.Table.from_pylist(
        [
            {"limit": at, "is_usual": at == used, "top_count": top, "came": came, "went": went}
            for at, (came, went) in enumerate(changes)
        ]
    )


def test_a_limit_is_stable_as_far_as_its_neighbours_change_nothing() -> None:
    tested = limits((1, 1), (0, 0), (0, 0), (0, 0), (0, 1), (0, 0), used=2)
    found = headlines.stable_range(tested, "limit")
    assert found is not None
    assert (found.form, found.values) == ("range", {"low": 1, "high": 3, "used": 2})
    alone = headlines.stable_range(limits((1, 0), (0, 0), (0, 1), used=1), "limit")
    assert alone is not None
    assert (alone.form, alone.values) == ("point", {"low": 1, "high": 1, "used": 1})
    whole = headlines.stable_range(limits((0, 0), (0, 0), (0, 0), used=0), "limit")
    assert whole is not None
    assert whole.values == {"low": 0, "high": 2, "used": 0}


@pytest.mark.parametrize(
    "tested",
    [
        pytest.param(limits((0, 0), (0, 0), (0, 0), used=None), id="none in use"),
        pytest.param(limits((0, 0), (0, 0), used=0), id="too few"),
        pytest.param(limits((0, 0), (0, 0), (0, 0), used=1, top=0), id="nothing ranked"),
    ],
)
def test_headline_names_no_stable_range_without_enough_tests(tested: pa.Table) -> None:
    assert headlines.stable_range(tested, "limit") is None
