"""Precision, recall and variants of a result against a truth."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.report.truth import TrueWork, judge, to_true_works

IDS = st.sets(st.sampled_from([str(number) for number in range(12)]))


def _result(confirmed: set[str], variants: set[str] = frozenset()) -> dict[str, object]:  # type: ignore[assignment]  # only read
    return {
        "aweme_list": [{"aweme_id": name} for name in confirmed],
        "variants": {"aweme_list": [{"aweme_id": name} for name in variants]},
    }


def _work(name: str, *, normal: bool = True, reachable: bool = True) -> TrueWork:
    return TrueWork(aweme_id=name, kind="x", is_normal_speed=normal, is_reachable=reachable)


@given(IDS, IDS)
def test_shares_are_what_they_are_called(confirmed: set[str], true: set[str]) -> None:
    found = judge(_result(confirmed), [_work(name) for name in true])
    right = len(confirmed & true)
    assert found.precision == (right / len(confirmed) if confirmed else None)
    assert found.recall == found.recall_reachable == (right / len(true) if true else None)
    assert set(found.wrong) == confirmed - true
    assert {work.aweme_id for work in found.missed} == true - confirmed


def test_a_confirmed_variant_is_wrong() -> None:
    found = judge(_result({"1", "2"}), [_work("1"), _work("2", normal=False)])
    assert (found.precision, found.wrong, found.variants_confirmed) == (0.5, ("2",), 1)
    assert not found.is_good


def test_what_no_guest_can_reach_counts_in_the_wider_recall_only() -> None:
    found = judge(_result({"1"}), [_work("1"), _work("2", reachable=False)])
    assert (found.recall, found.recall_reachable, found.is_good) == (0.5, 1.0, True)


def test_a_heard_variant_counts_as_heard() -> None:
    found = judge(_result({"1"}, {"2"}), [_work("1"), _work("2", normal=False)])
    assert (found.variant_count, found.variants_heard, found.is_good) == (1, 1, True)


def test_an_empty_result_is_not_good() -> None:
    assert not judge(_result(set()), [_work("1")]).is_good


@pytest.mark.parametrize(
    ("relation", "public", "expected"),
    [("same", True, 1), ("variant", True, 1), ("cover", True, 0), ("same", False, 0)],
)
def test_only_public_carriers_belong_to_the_truth(
    relation: str, *, public: bool, expected: int
) -> None:
    work = {"aweme_id": "1", "kind": "x", "relation": relation, "is_public": public, "round": None}
    assert len(to_true_works({"works": [work]})) == expected
