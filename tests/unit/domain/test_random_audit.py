"""Rules of the random audit: which videos are drawn, and what their number proves."""

from math import comb
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.scan.rules.coverage.audit import bound_carrying, draw_sample
from warehouse.records.coverage import AuditBound, AuditedVideo, AuditVerdict, RandomAudit

names = st.lists(st.text("0123456789", min_size=1, max_size=5), max_size=40)


def missed(population: int, having: int, drawn: int, found: int) -> float:
    """How often a sample shows at most `found`."""
    ways = sum(
        comb(having, number) * comb(population - having, drawn - number)
        for number in range(found + 1)
    )
    return ways / comb(population, drawn)


@given(names, st.randoms(use_true_random=False))
def test_a_draw_depends_on_its_seed_and_not_on_the_order_of_the_videos(
    aweme_ids: list[str], chance: object
) -> None:
    shuffled = list(aweme_ids)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    drawn = draw_sample(aweme_ids, seed="job", size=10)
    assert drawn == draw_sample(shuffled, seed="job", size=10)
    assert len(set(drawn)) == len(drawn) == min(10, len(set(aweme_ids)))
    assert set(drawn) <= set(aweme_ids)


def test_another_seed_draws_other_videos_and_a_larger_draw_adds_some() -> None:
    everything = [str(number) for number in range(1000)]
    first, other = (draw_sample(everything, seed=seed, size=20) for seed in ("a", "b"))
    assert len(set(first) & set(other)) < 5
    assert draw_sample(everything, seed="a", size=40)[:20] == first


@pytest.mark.parametrize(
    ("comparable", "compared", "carrying", "count", "share"),
    [
        pytest.param(412, 59, 0, 18, 0.0437, id="none of fifty-nine: below five in a hundred"),
        pytest.param(100_000, 59, 0, 4949, 0.0495, id="a large population: Clopper-Pearson"),
        pytest.param(30, 30, 2, 2, 0.0667, id="all compared: the number itself"),
        pytest.param(1, 1, 1, 1, 1.0, id="one video, and it carries the recording"),
        pytest.param(10, 5, 5, 10, 1.0, id="all of the compared ones"),
    ],
)
def test_the_limit_is_exact(
    comparable: int, compared: int, carrying: int, count: int, share: float
) -> None:
    found = bound_carrying(comparable=comparable, compared=compared, carrying=carrying)
    assert found.count == count
    assert found.share == pytest.approx(share, abs=0.0002)


@given(st.integers(1, 80), st.data())
def test_the_limit_is_the_largest_number_that_is_not_unlikely(
    comparable: int, data: st.DataObject
) -> None:
    compared = data.draw(st.integers(1, comparable))
    carrying = data.draw(st.integers(0, compared))
    found = bound_carrying(comparable=comparable, compared=compared, carrying=carrying)
    assert carrying <= found.count <= comparable - compared + carrying
    if found.count > carrying:
        assert missed(comparable, found.count, compared, carrying) > 0.05
    if found.count < comparable - compared + carrying:
        assert missed(comparable, found.count + 1, compared, carrying) <= 0.05


@given(st.integers(2, 60), st.data())
def test_the_limit_is_too_low_at_most_once_in_twenty_draws(
    comparable: int, data: st.DataObject
) -> None:
    compared = data.draw(st.integers(1, comparable))
    having = data.draw(st.integers(0, comparable))
    too_low = sum(
        comb(having, found) * comb(comparable - having, compared - found)
        for found in range(max(0, compared - comparable + having), min(having, compared) + 1)
        if bound_carrying(comparable=comparable, compared=compared, carrying=found).count < having
    )
    assert too_low / comb(comparable, compared) <= 0.05


def test_what_was_not_compared_is_not_counted_as_compared() -> None:
    verdicts: tuple[AuditVerdict, ...] = get_args(AuditVerdict)
    audit = RandomAudit(
        seed="job",
        population=9,
        videos=tuple(AuditedVideo(aweme_id=name, verdict=name) for name in verdicts),
        bound=AuditBound(count=3, share=0.5),
    )
    assert (audit.compared, audit.carrying) == (3, 1)
