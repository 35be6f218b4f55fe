"""The lower bound of music ids that no screen showed."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.scan.rules.coverage import unseen_music_ids

MET = st.lists(st.tuples(st.integers(0, 30).map(str), st.integers(0, 8).map(str)))


def test_ids_met_once_beside_few_met_twice_say_that_more_exist() -> None:
    met = [("w1", "a"), ("w2", "b"), ("w3", "c"), ("w4", "d"), ("w5", "e"), ("w6", "e")]
    found = unseen_music_ids(met)
    assert found is not None
    assert (found["met_once"], found["met_twice"], found["observed"]) == (4, 1, 5)
    assert found["lower_bound"] == 3  # 4 * 3 / (2 * 2)


def test_ids_that_were_all_met_often_leave_nothing_to_expect() -> None:
    met = [(f"w{work}", music) for music in "ab" for work in range(5)]
    found = unseen_music_ids(met)
    assert found is not None
    assert found["lower_bound"] == 0


@pytest.mark.parametrize(
    ("once", "twice", "lower_bound"),
    [
        (2, 0, 1),
        (3, 0, 3),
        (3, 1, 1),  # 1.5: a bound is never rounded up
        (5, 1, 5),
        (5, 3, 2),
        (1, 1, 0),
        (0, 2, 0),
    ],
)
def test_the_bound_is_that_of_chao(once: int, twice: int, lower_bound: int) -> None:
    met = [(f"once {n}", f"a{n}") for n in range(once)]
    met += [(f"twice {n} {time}", f"b{n}") for n in range(twice) for time in range(2)]
    found: Any = unseen_music_ids(met)
    assert found is not None
    del found["note"]
    assert found == {
        "method": "chao1",
        "unit": "music_id",
        "lower_bound": lower_bound,
        "observed": once + twice,
        "met_once": once,
        "met_twice": twice,
    }


def test_an_id_met_three_times_is_neither_met_once_nor_twice() -> None:
    found = unseen_music_ids([("w1", "a"), ("w2", "a"), ("w3", "a"), ("w4", "b")])
    assert found is not None
    assert (found["met_once"], found["met_twice"], found["observed"]) == (1, 0, 2)


def test_too_few_ids_say_nothing() -> None:
    assert unseen_music_ids([]) is None
    assert unseen_music_ids([("w1", "a"), ("w2", "a")]) is None


@given(MET)
def test_the_estimate_never_counts_the_same_meeting_twice(met: list[tuple[str, str]]) -> None:
    assert unseen_music_ids(met) == unseen_music_ids([*met, *met])


@given(MET)
def test_the_bound_is_never_negative_and_says_that_it_is_an_estimate(
    met: list[tuple[str, str]],
) -> None:
    found = unseen_music_ids(met)
    if found is None:
        assert len({music for _, music in met}) < 2
    else:
        assert found["lower_bound"] >= 0
        assert "estimate" in found["note"]
