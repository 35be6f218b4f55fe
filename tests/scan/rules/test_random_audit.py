"""Rules of the random audit: which videos are drawn, and what their number proves."""

from dataclasses import replace
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.scan.rules.coverage import audit_size, bound_carrying, draw_sample, with_bound
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


def test_a_draw_is_never_more_than_a_fifth_of_what_the_pool_holds() -> None:
    sizes = {limit: audit_size(20, candidate_limit=limit) for limit in (4, 5, 64, 99, 150)}
    assert sizes == {4: 0, 5: 1, 64: 12, 99: 19, 150: 20}


@pytest.mark.parametrize(
    ("comparable", "compared", "carrying", "count", "share"),
    [
        pytest.param(412, 59, 0, 18, 0.0437, id="none of fifty-nine: below five in a hundred"),
        pytest.param(100_000, 59, 0, 4949, 0.0495, id="a large population: Clopper-Pearson"),
        pytest.param(30, 30, 2, 2, 0.0667, id="all compared: the number itself"),
        pytest.param(1, 1, 1, 1, 1.0, id="one video, and it carries the recording"),
        pytest.param(10, 5, 5, 10, 1.0, id="all of the compared ones"),
        # none found with 18 carrying it: 2 of 20 times; with 19: 1 of 20, which is not more often
        pytest.param(20, 1, 0, 18, 0.9, id="once in twenty times is unlikely enough"),
    ],
)
def test_the_limit_is_exact(
    comparable: int, compared: int, carrying: int, count: int, share: float
) -> None:
    found = bound_carrying(comparable=comparable, compared=compared, carrying=carrying)
    assert found == AuditBound(count=count, share=share)


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


def audit_of(population: int, *verdicts: AuditVerdict) -> RandomAudit:
    videos = (AuditedVideo(aweme_id=str(at), verdict=one) for at, one in enumerate(verdicts))
    return RandomAudit(seed="job", population=population, videos=tuple(videos))


def test_audit_bound_excludes_videos_that_could_not_be_compared() -> None:
    audit = audit_of(7, "rejected", "unavailable", "rejected", "not_read")
    # of the five left two were compared: with 3 carrying it, 1 of 10 draws shows none
    assert with_bound(audit) == replace(audit, bound=AuditBound(count=3, share=0.6))


def test_audit_bound_includes_videos_found_with_the_recording() -> None:
    audit = audit_of(5, "confirmed", "rejected", "variant")
    # one carries it and two do not; the two that were not drawn may carry it:
    # with 3 of five, 3 of 10 draws of three show one at most
    assert with_bound(audit) == replace(audit, bound=AuditBound(count=3, share=0.6))


def test_where_no_drawn_video_was_compared_there_is_no_bound_but_a_reason() -> None:
    audit = audit_of(9, "not_comparable", "unavailable", "not_read")
    assert with_bound(audit) == replace(audit, bound=None, reason="none_comparable")
