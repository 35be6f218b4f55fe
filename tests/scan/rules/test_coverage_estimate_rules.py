"""Figures of the coverage estimates, worked out by hand, and where each rule begins to hold.

`docs/coverage.md` says what is estimated, and the module under test names the papers. A limit that
needs a logarithm was worked out with forty digits.
"""

from dataclasses import replace

import pytest

from pipelines.scan.rules.candidate_pool import Sighting
from pipelines.scan.rules.coverage import (
    AuditedRest,
    ConfirmedSample,
    audited_rest,
    estimate_music_ids,
    estimate_videos,
    lowest_coverage,
    sample_coverage,
    sample_of,
    unseen_kinds,
)
from warehouse.records.coverage import (
    AuditedVideo,
    AuditVerdict,
    CoverageEstimate,
    RandomAudit,
)


def sample(*videos_per_id: int, source_count: int = 6, known: int = 23) -> ConfirmedSample:
    """A sample in which one source showed each id, of so many known videos."""
    return ConfirmedSample(
        observed_ids=len(videos_per_id),
        observed_videos=known,
        source_count=source_count,
        videos_per_id=videos_per_id,
        sources_per_id=(1,) * len(videos_per_id),
    )


THIRTEEN = sample(1, 1, 1, 2, 3, 5)
"""Thirteen videos of six ids: three met once, one met twice."""


def seen(aweme_id: str, surface: str, entity: str) -> Sighting:
    return Sighting(aweme_id=aweme_id, surface=surface, entity_id=entity, same_music=False)


# --- whole estimates ---


def test_the_estimate_of_music_ids_is_written_with_one_digit_and_its_limit_as_a_whole_number() -> (
    None
):
    # Chao1: 12/13 * 3 * 2 / (2 * 2) = 1.3846 unmet; variance 5.8580, so 14.0778 at most
    # coverage 1 - 3/13 * (12 * 3) / (12 * 3 + 2) = 0.78138
    assert estimate_music_ids(THIRTEEN) == CoverageEstimate(
        unit="music_id",
        source_count=6,
        sample_size=13,
        observed=6,
        method="chao1",
        point=7.4,
        upper=6 + 15,
        sample_coverage=0.7814,
        assumption="screens_show_any_music_id",
    )


def test_the_estimate_of_videos_is_written_with_one_digit_and_its_limit_as_a_whole_number() -> None:
    # 23 / 0.781377 = 29.4352, and 23 / 0.468455 = 49.0975 at most
    assert estimate_videos(THIRTEEN) == CoverageEstimate(
        unit="video",
        source_count=6,
        sample_size=13,
        observed=23,
        method="good_turing",
        point=29.4,
        upper=50,
        sample_coverage=0.7814,
        assumption="lists_of_known_ids_are_complete",
    )


def test_without_an_estimate_of_music_ids_their_confirmed_number_is_left() -> None:
    assert estimate_music_ids(sample(3, 4)) == CoverageEstimate(
        unit="music_id", source_count=6, sample_size=7, observed=2, reason="too_few"
    )


def test_without_an_estimate_of_videos_their_confirmed_number_is_left() -> None:
    assert estimate_videos(sample(3, 4)) == CoverageEstimate(
        unit="video", source_count=6, sample_size=7, observed=23, reason="too_few"
    )


def test_a_sample_that_is_too_thin_is_one_of_videos() -> None:
    assert estimate_videos(sample(2, *[1] * 12)) == CoverageEstimate(
        unit="video", source_count=6, sample_size=14, observed=23, reason="sample_too_thin"
    )


# --- where an estimate begins ---


def test_eight_videos_in_the_sample_are_enough() -> None:
    given = sample(1, 2, 5)
    assert given.size == 8
    assert estimate_music_ids(given).reason is None
    assert estimate_videos(given).reason is None


def test_two_sources_are_enough() -> None:
    given = sample(1, 2, 9, source_count=2)
    assert estimate_music_ids(given).reason is None
    assert estimate_videos(given).reason is None


# --- which of the two samples is taken ---


def test_the_sources_are_taken_where_they_tell_of_more_unmet_ids_than_the_videos() -> None:
    given = replace(THIRTEEN, sources_per_id=(1, 1, 1, 1, 1, 2))
    found = estimate_music_ids(given)
    # Chao2: 5/6 * 5 * 4 / (2 * 2) = 4.1667 unmet; variance 26.0851, so 27.2298 at most
    assert (found.method, found.point, found.upper) == ("chao2", 10.2, 6 + 28)


def test_the_videos_are_taken_where_they_tell_of_more_unmet_ids_than_the_sources() -> None:
    given = replace(THIRTEEN, sources_per_id=(2, 2, 2, 2, 1, 1))
    found = estimate_music_ids(given)
    # Chao2 says 5/6 * 2 * 1 / (2 * 5) = 0.1667
    assert (found.method, found.point) == ("chao1", 7.4)


def test_sources_of_which_no_two_showed_the_same_id_estimate_nothing() -> None:
    # Chao2 would say 5/6 * 6 * 5 / 2 = 12.5
    found = estimate_music_ids(replace(THIRTEEN, sources_per_id=(1,) * 6))
    assert (found.method, found.point) == ("chao1", 7.4)


# --- the unmet kinds and their limit ---


def test_the_limit_uses_each_term_of_the_variance_where_kinds_were_met_twice() -> None:
    found = unseen_kinds([1] * 4 + [2] * 2, size=10, of_sources=True)
    # 1.8 unmet; variance 1.8 + 0.81 * 4 * 49 / (4 * 9) + 0.81 * 16 * 2 * 9 / (4 * 81) = 6.93
    assert found.point == pytest.approx(1.8)
    assert found.upper == pytest.approx(14.644166)


def test_the_limit_has_its_own_variance_where_no_kind_was_met_twice() -> None:
    found = unseen_kinds([1, 1, 1, 1, 6], size=10, of_sources=False)
    # 5.4 unmet; variance 5.4 + 0.81 * 4 * 49 / 4 - 0.81 * 256 / (4 * (5 + 5.4)) = 40.1054
    assert found.point == pytest.approx(5.4)
    assert found.upper == pytest.approx(33.430198)


def test_a_single_kind_met_once_is_taken_for_five_and_a_half_at_most() -> None:
    found = unseen_kinds([1, 2, 5, 8], size=16, of_sources=False)
    assert (found.method, found.point) == ("chao1", 0)
    assert found.upper == pytest.approx(15 / 16 * 5.572 * 4.572 / (2 * 2))


def test_the_second_order_term_is_added_to_the_estimate_and_to_its_limit() -> None:
    found = unseen_kinds([1, 3, 3, 3, 4, 4], size=18, of_sources=False)
    second = 15 / (4 * 18) * 3 / 2  # of one kind met once and none met twice
    assert found.point == pytest.approx(second)
    assert found.upper == pytest.approx(17 / 18 * 5.572 * 4.572 / 2 + second)


@pytest.mark.parametrize(("of_sources", "method"), [(False, "ichao1"), (True, "ichao2")])
def test_an_estimate_with_the_second_order_term_is_called_improved(
    of_sources: bool, method: str
) -> None:
    assert unseen_kinds([1, 3, 3, 3, 4, 4], size=18, of_sources=of_sources).method == method


def test_a_second_order_term_below_nothing_is_left_out() -> None:
    found = unseen_kinds([1, 2, 2, 3, 3, 3, 4, 4], size=22, of_sources=False)
    # 1 - 19/42 * 2 * 3/2 is negative
    assert (found.method, found.point) == ("chao1", 0)


# --- the share that known ids hold ---


def test_one_video_says_nothing_about_the_share_of_its_id() -> None:
    assert sample_coverage([1]) == 0


def test_the_lowest_share_is_that_of_esty() -> None:
    # the share less 1.96 / 13 * sqrt(3 * (1 - 3/13) + 2 * 1): 0.781377 - 0.312921
    assert lowest_coverage([1, 1, 1, 2, 3, 5]) == pytest.approx(0.46845527)


@pytest.mark.parametrize(("counts", "most_once"), [((2, 6, 8), 3.689), ((1, 2, 5, 8), 5.572)])
def test_the_lowest_share_takes_the_poisson_limit_with_fewer_than_two_ids_met_once(
    counts: tuple[int, ...], most_once: float
) -> None:
    assert lowest_coverage(counts) == pytest.approx(1 - most_once / 16)


# --- the correction by the random audit ---


@pytest.mark.parametrize(
    ("comparable", "compared", "upper"),
    [
        (40, 39, 32),  # one carrying video is missed once in forty times: not more often
        (81, 79, 32),  # 2 times in 81
        (79, 77, 35),  # 2 times in 79: more often than once in forty, so there may be one
    ],
)
def test_the_audit_may_miss_what_carries_the_recording_once_in_forty_times(
    comparable: int, compared: int, upper: int
) -> None:
    rest = AuditedRest(comparable=comparable, compared=compared, carrying=0)
    given = replace(sample(2, 3, 5, known=20), rest=rest)
    # 20 / (1 - 3.689 / 10) = 31.7; with one more beside the ten of the sample 11/10 of it, 34.9
    assert estimate_videos(given).upper == upper


def test_of_the_compared_rest_only_confirmed_videos_carry_the_recording() -> None:
    verdicts: list[AuditVerdict] = ["rejected", "confirmed", "variant", "rejected"]
    videos = tuple(AuditedVideo(aweme_id=f"v{at}", verdict=one) for at, one in enumerate(verdicts))
    found = audited_rest(RandomAudit(seed="job", population=50, videos=videos), listed=())
    assert found == AuditedRest(comparable=50, compared=4, carrying=1)


# --- candidates whose page was not read ---


def test_each_unread_candidate_may_carry_the_recording_and_so_raises_the_limit_alone() -> None:
    complete, given = sample(2, 3, 5, known=20), replace(sample(2, 3, 5, known=20), unread=5)
    without, found = estimate_videos(complete), estimate_videos(given)
    assert (found.point, found.sample_coverage) == (without.point, without.sample_coverage)
    # 20 / (1 - 3.689 / 10) = 31.7; with five more beside the ten of the sample 15/10 of it, 47.5
    assert (without.upper, found.upper) == (32, 48)


def test_unread_candidates_are_no_part_of_what_the_audit_bounds() -> None:
    rest = AuditedRest(comparable=79, compared=77, carrying=0)
    found = estimate_videos(replace(sample(2, 3, 5, known=20), unread=5, rest=rest))
    # one more by the audit and five unread: 16/10 of 31.69, 50.7
    assert (found.point, found.upper) == (20, 51)


# --- the sample ---


def test_a_source_is_a_list_of_a_kind_and_of_a_thing() -> None:
    found = sample_of(
        [
            seen("v1", "user_posts", "a"),
            seen("v1", "user_posts", "b"),
            seen("v1", "search", "a"),
            seen("v1", "search", "a"),
        ],
        music_of={"v1": "m1"},
    )
    assert (found.source_count, found.sources_per_id) == (3, (3,))


# --- an error of arithmetic does not raise a limit by one ---


def test_a_limit_of_music_ids_a_ten_millionth_above_a_whole_number_is_that_number() -> None:
    given = sample(*[1] * 14, *[2] * 6, *[3] * 3, *[4] * 2, 1149)
    assert given.size == 1192
    # iChao1: 16.545455 unmet, 46.0000001042 at most
    assert estimate_music_ids(given).upper == 26 + 46


def test_a_limit_of_music_ids_a_millionth_above_a_whole_number_is_the_next_one() -> None:
    given = sample(*[1] * 18, *[2] * 8, 55)
    assert given.size == 89
    # Chao1: 16.808989 unmet, 52.0000014915 at most
    assert estimate_music_ids(given).upper == 27 + 53


def test_a_limit_of_videos_less_than_half_a_millionth_above_a_whole_number_is_that_number() -> None:
    # 891 / 0.4198868991 = 2122.0000002566
    assert estimate_videos(sample(*[1] * 6, 11, known=891)).upper == 2122


def test_a_limit_of_videos_two_millionths_above_a_whole_number_is_the_next_one() -> None:
    # 151 / 0.4415204644 = 342.0000026659
    assert estimate_videos(sample(*[1] * 4, 2, 2, 8, known=151)).upper == 343
