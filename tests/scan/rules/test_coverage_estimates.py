"""Rules of the coverage estimates: values by hand, reasons, and what must hold for any sample."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.scan.rules.candidate_pool import Sighting
from pipelines.scan.rules.coverage import (
    AuditedRest,
    ConfirmedSample,
    audit_size,
    audited_rest,
    estimate_music_ids,
    estimate_videos,
    listed_only,
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


def sample(
    *videos_per_id: int, source_count: int = 6, unread_lists: int = 0, is_compared: bool = True
) -> ConfirmedSample:
    """A sample in which one source showed each id; ten more videos were in lists only."""
    return ConfirmedSample(
        observed_ids=len(videos_per_id),
        observed_videos=sum(videos_per_id) + 10,
        source_count=source_count,
        videos_per_id=videos_per_id,
        sources_per_id=(1,) * len(videos_per_id),
        unread_lists=unread_lists,
        is_compared=is_compared,
    )


counts = st.lists(st.integers(1, 12), min_size=1, max_size=40)


def estimates(counts: list[int], sources: int) -> tuple[CoverageEstimate, CoverageEstimate]:
    """Both estimates of a sample in which each video of an id was shown by its own source."""
    one = replace(
        sample(*counts, source_count=sources),
        sources_per_id=tuple(min(number, sources) for number in counts),
    )
    return estimate_music_ids(one), estimate_videos(one)


@given(counts, st.integers(0, 40))
def test_an_interval_contains_its_estimate_and_begins_at_the_observed_number(
    counts: list[int], sources: int
) -> None:
    for found in estimates(counts, sources):
        if found.point is None:
            assert found.reason is not None
            assert (found.method, found.lower, found.upper) == (None, None, None)
            assert (found.sample_coverage, found.assumption) == (None, None)
        else:
            assert found.reason is None
            assert found.upper is not None
            assert found.lower == found.observed
            assert found.observed <= found.point <= found.upper
            assert found.sample_coverage is not None
            assert 0 < found.sample_coverage <= 1


@given(counts, st.integers(2, 40))
def test_one_more_id_met_twice_never_raises_the_number_of_ids_unmet_by_videos(
    counts: list[int], sources: int
) -> None:
    assert sources > 1
    without = sorted(number for number in counts if number < 3)
    size = sum(counts) + 2
    before = unseen_kinds([*without, 1], size=size, of_sources=False)
    after = unseen_kinds([*without, 1, 2], size=size, of_sources=False)
    assert after.point <= before.point


@given(st.integers(0, 30), st.integers(0, 10), st.integers(50, 500))
def test_more_ids_met_once_raise_the_estimate_and_its_limit(
    once: int, twice: int, size: int
) -> None:
    fewer = unseen_kinds([1] * once + [2] * twice, size=size, of_sources=False)
    more = unseen_kinds([1] * (once + 3) + [2] * twice, size=size, of_sources=False)
    assert more.point > fewer.point
    assert more.upper > fewer.upper


@given(counts)
def test_the_lower_limit_of_the_coverage_is_not_above_it(counts: list[int]) -> None:
    assert lowest_coverage(counts) <= sample_coverage(counts) <= 1


@pytest.mark.parametrize(
    ("once", "twice", "point"), [(0, 3, 0.0), (1, 0, 0.0), (4, 0, 5.94), (10, 4, 8.91)]
)
def test_the_estimate_is_that_of_chao(once: int, twice: int, point: float) -> None:
    found = unseen_kinds([1] * once + [2] * twice, size=100, of_sources=True)
    assert found.method == "chao2"
    assert found.point == pytest.approx(point)


def test_ids_met_three_and_four_times_add_the_second_order_term() -> None:
    found = unseen_kinds([1] * 10 + [2] * 4 + [3, 3, 4], size=100, of_sources=False)
    first = 0.99 * 10 * 9 / (2 * 5)
    second = 97 / 400 * 2 * (10 - 97 / 198 * 4 * 2)
    assert found.method == "ichao1"
    assert found.point == pytest.approx(first + second)


def test_the_log_normal_limit_is_that_of_chao_1987() -> None:
    found = unseen_kinds([1, 1, 1, 1, 2], size=10, of_sources=False)
    # variance 2.7 + 0.81 * 4 * 49 / 16 + 0.81 * 16 * 9 / 64 of 2.7 unseen kinds
    assert found.point == pytest.approx(2.7)
    assert found.upper == pytest.approx(20.94, abs=0.01)


def test_no_id_met_once_still_leaves_room_for_others() -> None:
    found = unseen_kinds([2, 3, 9], size=14, of_sources=False)
    assert found.point == 0
    assert found.upper == pytest.approx(13 / 14 * 3.689 * 2.689 / 4)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (sample(3, 4, 5, is_compared=False), "not_compared"),
        (sample(3, 4, 5, source_count=1), "one_source"),
        (sample(3, 4), "too_few"),
        (sample(*[1] * 12), "no_overlap"),
    ],
)
def test_an_estimate_that_cannot_be_made_says_why(given: ConfirmedSample, reason: str) -> None:
    assert estimate_music_ids(given).reason == reason
    assert estimate_videos(given).reason == reason


def test_unread_lists_of_known_ids_leave_only_the_ids_to_estimate() -> None:
    given = sample(1, 1, 3, 5, unread_lists=2)
    assert estimate_videos(given).reason == "lists_not_read"
    assert estimate_music_ids(given).point == pytest.approx(4.9)


def test_a_sample_whose_coverage_may_be_nothing_gives_no_number_of_videos() -> None:
    given = sample(2, *[1] * 12)
    assert estimate_videos(given).reason == "sample_too_thin"
    assert estimate_music_ids(given).point is not None


def test_videos_are_divided_by_the_share_that_known_ids_hold() -> None:
    found = estimate_videos(sample(1, 1, 2, 6, 10))
    coverage = 1 - 2 / 20 * (19 * 2) / (19 * 2 + 2)
    assert found.observed == 30
    assert found.point == pytest.approx(30 / coverage, abs=0.05)
    assert found.sample_coverage == pytest.approx(coverage, abs=1e-4)


def test_lists_and_matches_of_other_scans_are_no_part_of_the_sample() -> None:
    def seen(aweme_id: str, surface: str, entity: str) -> Sighting:
        return Sighting(aweme_id=aweme_id, surface=surface, entity_id=entity, same_music=False)

    found = sample_of(
        [
            seen("v1", "music_list", "m1"),
            seen("v2", "music_list", "m1"),
            seen("v1", "user_posts", "a"),
            seen("v1", "search", "title"),
            seen("v3", "user_posts", "a"),
            seen("v9", "hashtag_list", "h"),
            seen("v2", "catalog_matches", "m1"),
        ],
        music_of={"v1": "m1", "v2": "m1", "v3": "m2"},
    )
    assert found == ConfirmedSample(
        observed_ids=2,
        observed_videos=3,
        source_count=3,
        videos_per_id=(1, 1),
        sources_per_id=(2, 1),
    )
    assert found.size == 2


def test_videos_listed_under_a_confirmed_id_count_where_an_audit_says_what_else_was_left_out() -> (
    None
):
    given = replace(sample(2, 3, 5), listed_videos=20, left_out=30)
    assert estimate_videos(given).reason == "not_audited"
    rest = AuditedRest(comparable=30, compared=30, carrying=0)
    found = estimate_videos(replace(given, rest=rest))
    assert (found.observed, found.listed, found.lower) == (20, 20, 20)
    assert found.point == pytest.approx(40)
    complete = replace(given, listed_videos=0, left_out=0, observed_videos=40)
    assert found.upper == estimate_videos(complete).upper


def test_coverage_estimate_rises_with_videos_found_by_the_audit() -> None:
    given = replace(sample(2, 3, 5), listed_videos=20)
    none, some = (
        estimate_videos(
            replace(given, rest=AuditedRest(comparable=100, compared=20, carrying=carrying))
        )
        for carrying in (0, 2)
    )
    assert none.point == pytest.approx(40)
    assert some.point == pytest.approx(40 * (10 + 10) / 10)
    assert none.upper is not None
    assert some.upper is not None
    assert 40 < none.upper < some.upper


def test_an_audit_counts_where_every_video_of_known_ids_is_a_candidate() -> None:
    """Candidates are full of known ids there, but sources showed unknown ones as well."""
    given = sample(1, 1, 3, 5)
    nothing_left, upper = estimate_videos(given), estimate_videos(given).upper
    rest = AuditedRest(comparable=100, compared=20, carrying=0)
    audited = estimate_videos(replace(given, left_out=100, rest=rest))
    assert (audited.point, audited.sample_coverage) == (
        nothing_left.point,
        nothing_left.sample_coverage,
    )
    assert upper is not None
    assert audited.upper is not None
    assert audited.upper > upper


def test_a_scan_draws_one_video_per_five_places_in_its_pool() -> None:
    sizes = {limit: audit_size(20, candidate_limit=limit) for limit in (15, 60, 150, 2000)}
    assert sizes == {15: 3, 60: 12, 150: 20, 2000: 20}
    assert audit_size(0, candidate_limit=150) == 0


def test_left_out_videos_without_an_audit_leave_only_the_ids_to_estimate() -> None:
    given = replace(sample(1, 1, 3, 5), left_out=1)
    assert estimate_videos(given).reason == "not_audited"
    assert estimate_music_ids(given).point is not None


def test_rows_count_as_listed_by_the_music_id_that_they_name() -> None:
    def seen(aweme_id: str, surface: str, entity: str, music_id: str | None = None) -> Sighting:
        return Sighting(
            aweme_id=aweme_id, surface=surface, entity_id=entity, same_music=False,
            music_id=music_id,
        )  # fmt: skip

    found = listed_only(
        [
            seen("read", "music_list", "m1"),
            seen("unnamed", "music_list", "m1"),
            seen("named", "search", "title", "m1"),
            seen("foreign", "music_list", "m1", "m9"),
            seen("other list", "music_list", "m9"),
            seen("unknown", "user_posts", "a"),
        ],
        confirmed_ids={"m1"},
        read={"read"},
    )
    assert found == {"unnamed", "named"}


def test_the_rest_of_an_audit_is_without_what_was_listed() -> None:
    verdicts: dict[str, AuditVerdict] = {
        "a": "confirmed", "b": "rejected", "c": "unavailable", "d": "confirmed",
    }  # fmt: skip
    videos = tuple(AuditedVideo(aweme_id=name, verdict=one) for name, one in verdicts.items())
    audit = RandomAudit(seed="job", population=50, videos=videos)
    found = audited_rest(audit, listed={"d", "e", "f"})
    assert found == AuditedRest(comparable=46, compared=2, carrying=1)
    assert audited_rest(audit, listed={"a", "b", "d"}) is None
    assert audited_rest(None, listed=()) is None
