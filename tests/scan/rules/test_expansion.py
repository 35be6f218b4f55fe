"""Who is heard, in what order, and whose screens are read."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from pipelines.scan.rules.expansion import (
    MOST_BATCHES,
    authors_to_scan,
    best_comparisons,
    group_by_music,
    link_versions,
    link_video,
    pairs_with_excerpts,
    variant_comparison,
    verification_batches,
    verification_order,
    videos_to_verify,
)
from warehouse.records.evidence import (
    ALGORITHM,
    Comparison,
    MatchThresholds,
    PairEvidence,
    Verdict,
)
from warehouse.records.videos import Author, MediaType, Music, SoundAddresses, Statistics, Video

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SILENT = SoundAddresses(is_silent_placeholder=True)


def work(
    aweme_id: str,
    *,
    music_id: str | None = "m1",
    digg: int | None = 0,
    media: MediaType = "video",
    author: str | None = "a1",
    desc: str | None = None,
    mapped: str | None = None,
) -> Video:
    return Video(
        aweme_id=aweme_id,
        surface="video_detail",
        observed_at=NOW,
        desc=desc,
        media_type=media,
        author=Author(sec_uid=author) if author else None,
        music=Music(music_id=music_id, mapped_title=mapped) if music_id else None,
        statistics=Statistics(digg_count=digg),
    )


def test_settled_ids_and_works_without_music_have_no_group() -> None:
    works = [work("1"), work("2", music_id="m2"), work("3", music_id=None)]
    assert list(group_by_music(works, settled={"m1"})) == ["m2"]


def test_ids_whose_text_names_the_song_are_heard_first_then_larger_groups() -> None:
    groups = {
        "big": (work("1"), work("2")),
        "named": (work("3", desc="my 夜航 cover"),),
        "small": (work("4"),),
    }
    assert verification_order(groups, title="夜航") == ("named", "big", "small")


def test_the_song_that_a_user_sound_is_linked_to_counts_as_its_text() -> None:
    groups = {"a": (work("1"),), "b": (work("2", mapped="夜航"),)}
    assert verification_order(groups, title="夜航") == ("b", "a")


def test_videos_are_heard_before_photo_posts_and_likes_decide() -> None:
    works = [work("p", media="photo", digg=99), work("v1", digg=1), work("v2", digg=5)]
    assert [entry.aweme_id for entry in videos_to_verify(works, limit=2)] == ["v2", "v1"]


def test_a_silent_placeholder_is_never_heard() -> None:
    assert videos_to_verify([replace(work("1"), sound=SILENT)], limit=2) == ()


def test_an_unknown_like_count_is_heard_last() -> None:
    works = [work("unknown", digg=None), work("known", digg=1)]
    assert [entry.aweme_id for entry in videos_to_verify(works, limit=1)] == ["known"]


def test_the_next_works_stand_by_in_batches_up_to_a_bound() -> None:
    works = [work(str(number), digg=-number) for number in range(10)]
    works[1] = replace(works[1], sound=SILENT)
    batches = verification_batches(works, size=2)
    assert [[entry.aweme_id for entry in batch] for batch in batches] == [
        ["0", "2"], ["3", "4"], ["5", "6"],
    ]  # fmt: skip
    assert len(batches) == MOST_BATCHES
    assert verification_batches(works[:1], size=5) == ((works[0],),)
    assert verification_batches([], size=5) == ()


def test_authors_with_most_works_come_first_and_none_twice() -> None:
    works = [
        work("1", author="b"),
        work("2", author="a"),
        work("3", author="a"),
        work("4", author="c"),
    ]
    assert authors_to_scan(works, scanned={"c"}) == ("a", "b")


def compared(verdict: Verdict, *, aweme_id: str = "1", score: float | None = None) -> Comparison:
    return Comparison(
        comparison_id=f"{aweme_id}-{verdict}-{score}",
        reference_aweme_id="9",
        candidate_aweme_id=aweme_id,
        reference_music_id="m9",
        candidate_music_id="m1",
        pair=PairEvidence(verdict=verdict, reason="made up", score=score),
        limits=MatchThresholds(),
        algorithm=ALGORITHM,
        feature_version="1",
        library_version="1",
    )


GROUP = compared("confirmed", aweme_id="2", score=0.9)


def test_of_several_comparisons_of_a_video_the_most_credible_counts() -> None:
    weak, strong, other = (
        compared("rejected", score=0.99),
        compared("confirmed", score=0.7),
        compared("variant", aweme_id="2", score=0.8),
    )
    assert best_comparisons([strong, weak, other]) == {"1": strong, "2": other}


def test_people_can_hear_each_match_and_each_close_rejection_once() -> None:
    heard = pairs_with_excerpts([
        compared("confirmed", score=0.9), compared("confirmed", score=0.7),
        compared("variant", aweme_id="2", score=0.8),
        compared("rejected", aweme_id="3", score=0.31),
        compared("rejected", aweme_id="4", score=0.29),
        compared("not_comparable", aweme_id="5", score=None),
    ])  # fmt: skip
    assert sorted((pair.candidate_aweme_id, pair.pair.score) for pair in heard) == [
        ("1", 0.9), ("2", 0.8), ("3", 0.31),
    ]  # fmt: skip


def version(sureness: float, **about: Any) -> Comparison:
    """A rejected pair of two performances of one composition."""
    pair = compared("rejected", **about)
    return replace(pair, pair=replace(pair.pair, version_score=sureness))


def test_of_rejected_pairs_one_that_says_how_the_sounds_are_related_decides() -> None:
    likely, other = version(0.6, score=0.1), compared("rejected", score=0.2)
    assert best_comparisons([likely, other]) == best_comparisons([other, likely]) == {"1": likely}


def test_versions_are_listed_surest_first_with_the_surest_pair_of_each() -> None:
    pairs = [version(0.6, aweme_id="1"), version(0.9, aweme_id="2"), version(0.7, aweme_id="1"),
             version(0.4, aweme_id="3")]  # fmt: skip
    linked = link_versions([work("1"), work("2"), work("3")], pairs)
    assert [(video.aweme_id, pair.pair.version_score) for video, pair in linked] == [
        ("2", 0.9), ("1", 0.7),
    ]  # fmt: skip


def test_a_video_with_a_match_or_a_shared_part_is_no_version() -> None:
    shared = compared("rejected", aweme_id="2")
    pairs = [version(0.9, aweme_id="1"), compared("confirmed", aweme_id="1"),
             version(0.9, aweme_id="2"),
             replace(shared, pair=replace(shared.pair, shared_part="voice"))]  # fmt: skip
    assert link_versions([work("1"), work("2")], pairs) == []


def test_a_video_that_was_not_compared_is_a_version_by_its_music_id() -> None:
    pair = version(0.8, aweme_id="1")
    videos = [work("1"), work("2"), work("3", music_id="m2"), work("4", music_id=None), work("5")]
    pairs = [pair, compared("rejected", aweme_id="5"), compared("not_comparable", aweme_id="2")]
    linked = link_versions(videos, pairs)
    assert [video.aweme_id for video, _ in linked] == ["1", "2"]
    assert {entry.candidate_aweme_id for _, entry in linked} == {"1"}


def test_people_can_hear_each_version_and_each_shared_part() -> None:
    shared = compared("rejected", aweme_id="2", score=0.1)
    pairs = [version(0.8, aweme_id="1", score=0.1), compared("rejected", aweme_id="1", score=0.2),
             replace(shared, pair=replace(shared.pair, shared_part="voice")),
             compared("rejected", aweme_id="3", score=0.1)]  # fmt: skip
    heard = {pair.candidate_aweme_id: pair.pair.relation for pair in pairs_with_excerpts(pairs)}
    assert heard == {"1": "version", "2": "shares_part"}


def test_a_video_that_was_compared_itself_is_linked_by_its_own_audio() -> None:
    own = compared("confirmed", score=0.8)
    link = link_video(work("1"), verified={"m1": GROUP}, own=own, expansion_round=1)
    assert link is not None
    assert (link.link_type, link.comparison) == ("audio_fingerprint_match", own)


@pytest.mark.parametrize("own", [None, compared("not_comparable")])
def test_a_video_without_a_verdict_of_its_own_is_linked_by_its_music_id(
    own: Comparison | None,
) -> None:
    link = link_video(work("1"), verified={"m1": GROUP}, own=own, expansion_round=1)
    assert link is not None
    assert (link.link_type, link.comparison) == ("verified_music_id_graph", GROUP)


@pytest.mark.parametrize("verdict", ["rejected", "variant"])
def test_a_video_whose_own_sound_differs_is_not_confirmed_by_its_music_id(verdict: Verdict) -> None:
    own = compared(verdict)
    assert link_video(work("1"), verified={"m1": GROUP}, own=own, expansion_round=1) is None


@pytest.mark.parametrize(
    ("own", "of_group", "expected"),
    [
        (None, None, None),
        (None, GROUP, GROUP),
        (compared("not_comparable"), GROUP, GROUP),
        (compared("rejected"), GROUP, None),
        (compared("variant"), None, compared("variant")),
        (compared("variant"), GROUP, compared("variant")),
    ],
)
def test_a_video_is_a_variant_by_its_own_comparison_where_it_has_one(
    own: Comparison | None, of_group: Comparison | None, expected: Comparison | None
) -> None:
    assert variant_comparison(own, of_group) == expected
