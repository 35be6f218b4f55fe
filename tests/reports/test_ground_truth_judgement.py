"""Precision and recall by link type, video by video, of a result against a ground truth."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.services.report.ground_truth import (
    LINK_TYPES,
    GroundTruthVideo,
    Judgement,
    judge,
    to_ground_truth_videos,
)
from pipelines.documents.result_types import LinkType

OWN, OTHER = "7000000000000000001", "7000000000000000002"
LINKS = st.dictionaries(
    st.sampled_from([str(number) for number in range(12)]), st.sampled_from(LINK_TYPES)
)
FLAGS = st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=12, max_size=12)


def video(
    name: str,
    music_id: str = OWN,
    *,
    sound: str = "as_named",
    names: bool = True,
    carries: bool = True,
    variant: bool = False,
    reachable: bool = True,
) -> GroundTruthVideo:
    return GroundTruthVideo(
        aweme_id=name, music_id=music_id, kind="main", sound=sound, names_recording=names,
        carries_recording=carries, is_variant=variant, is_reachable=reachable,
    )  # fmt: skip


def judged(
    links: Mapping[str, LinkType], *videos: GroundTruthVideo, variants: tuple[str, ...] = ()
) -> Judgement:
    confirmed = [{"aweme_id": name, "link_type": link} for name, link in links.items()]
    return judge(OWN, confirmed, [{"aweme_id": name} for name in variants], videos)


def test_a_muted_video_under_the_own_id_has_a_true_label_without_the_recording() -> None:
    found = judged(
        {"1": "exact_music_id", "2": "exact_music_id", "3": "audio_fingerprint_match"},
        video("1"), video("2", sound="muted", carries=False), video("3", OTHER),
    )  # fmt: skip
    assert [link.precision for link in map(found.of, LINK_TYPES)] == [0.5, 1.0, None]
    assert [link.label_precision for link in map(found.of, LINK_TYPES)] == [1.0, 1.0, None]
    assert [(one.aweme_id, one.link_type, one.sound, one.is_label_true) for one in found.wrong] == [
        ("2", "exact_music_id", "muted", True)
    ]
    assert found.of("exact_music_id").recall == 1.0
    assert found.is_good


def test_a_replaced_sibling_lowers_the_precision_of_the_verified_id_under_a_true_label() -> None:
    found = judged(
        {"1": "audio_fingerprint_match", "2": "verified_music_id_graph"},
        video("1", OTHER), video("2", OTHER, sound="replaced", carries=False),
    )  # fmt: skip
    link = found.of("verified_music_id_graph")
    assert (link.precision, link.label_precision, link.true_label_count) == (0.0, 1.0, 1)
    assert found.is_good
    assert found.of("audio_fingerprint_match").precision == 1.0


def test_a_wrong_match_by_audio_misses_the_goal() -> None:
    found = judged(
        {"1": "exact_music_id", "2": "audio_fingerprint_match", "3": "audio_fingerprint_match"},
        video("1"), video("2", OTHER, carries=False), video("4", OTHER, variant=True, carries=False)
    )  # fmt: skip
    assert [one.sound for one in found.wrong] == ["main", "unrelated"]
    assert not found.is_good


@pytest.mark.parametrize(
    ("link_type", "confirmed"),
    [
        ("exact_music_id", video("2", OTHER)),
        ("verified_music_id_graph", video("2", OTHER, names=False, carries=False)),
        ("verified_music_id_graph", video("2", OWN)),
        ("audio_fingerprint_match", video("2", OTHER, sound="live", carries=False)),
    ],
    ids=["another id", "an id of another song", "the track's id", "a live performance"],
)
def test_a_label_that_claims_what_is_not_so_is_false_and_misses_the_goal(
    link_type: LinkType, confirmed: GroundTruthVideo
) -> None:
    found = judged({"1": "exact_music_id", "2": link_type}, video("1"), confirmed)
    link = found.of(link_type)
    assert link.true_label_count == link.confirmed_count - 1
    assert not found.is_good
    assert not any(wrong.is_label_true for wrong in found.wrong)


def test_the_document_gives_the_label_beside_the_stricter_figure() -> None:
    muted = video("2", sound="muted", carries=False)
    links: dict[str, LinkType] = {"1": "exact_music_id", "2": "exact_music_id"}
    document = judged(links, video("1"), muted).to_document()
    figures = document["by_link_type"][0]
    assert (figures["label_precision"], figures["precision"]) == (1.0, 0.5)
    assert document["wrong"] == [
        {
            "aweme_id": "2",
            "link_type": "exact_music_id",
            "sound": "muted",
            "is_label_true": True,
        }
    ]


def test_a_voice_laid_over_the_recording_leaves_it_right() -> None:
    found = judged({"1": "exact_music_id"}, video("1", sound="voiced_over"))
    assert (found.of("exact_music_id").precision, found.wrong) == (1.0, ())


def test_both_ways_of_listening_share_the_videos_of_other_ids() -> None:
    found = judged(
        {"1": "audio_fingerprint_match", "2": "verified_music_id_graph"},
        video("1", OTHER), video("2", OTHER), video("3", OTHER), video("4"),
    )  # fmt: skip
    assert found.of("audio_fingerprint_match").recall == pytest.approx(1 / 3)
    assert found.of("verified_music_id_graph").recall == pytest.approx(1 / 3)
    assert found.other_ids.share == pytest.approx(2 / 3)
    assert (found.own_id.share, found.of("exact_music_id").recall) == (0.0, 0.0)
    assert [one.aweme_id for one in found.missed] == ["3", "4"]


def test_a_missed_video_that_no_guest_can_reach_costs_the_wider_recall_only() -> None:
    found = judged({"1": "exact_music_id"}, video("1"), video("2", reachable=False))
    link = found.of("exact_music_id")
    assert (link.recall, link.recall_reachable, found.is_good) == (0.5, 1.0, True)


def test_a_variant_counts_when_it_is_heard_and_is_wrong_when_it_is_confirmed() -> None:
    changed = video("2", OTHER, carries=False, variant=True)
    heard = judged({"1": "exact_music_id"}, video("1"), changed, variants=("2",))
    assert (heard.variant_count, heard.variants_matched, heard.variants_confirmed) == (1, 1, 0)
    mistaken = judged({"2": "audio_fingerprint_match"}, video("1"), changed)
    assert (mistaken.variants_matched, mistaken.variants_confirmed) == (0, 1)
    assert not mistaken.is_good


def test_ground_truth_judgement_of_an_empty_result_is_not_good() -> None:
    assert not judged({}, video("1")).is_good
    assert not judged({}).is_good


@given(LINKS, FLAGS)
def test_every_confirmed_video_is_right_or_wrong_once(
    links: dict[str, LinkType], flags: list[tuple[bool, bool, bool]]
) -> None:
    videos = [
        video(str(number), OWN if is_own else OTHER, carries=carries, reachable=reachable)
        for number, (is_own, carries, reachable) in enumerate(flags)
    ]
    found = judged(links, *videos)
    own = {one.aweme_id for one in videos if one.music_id == OWN and one.carries_recording}
    exact = {name for name, link in links.items() if link == "exact_music_id"}
    link = found.of("exact_music_id")
    assert link.precision == (len(exact & own) / len(exact) if exact else None)
    assert link.recall == (len(exact & own) / len(own) if own else None)
    carrying = {one.aweme_id for one in videos if one.carries_recording}
    assert {one.aweme_id for one in found.wrong} == links.keys() - carrying
    assert {one.aweme_id for one in found.missed} == carrying - links.keys()
    assert sum(one.confirmed_count for one in found.links) == len(links)


def test_the_document_has_no_figure_over_all_link_types() -> None:
    document = judged({"1": "exact_music_id"}, video("1")).to_document()
    assert not {"precision", "recall", "recall_reachable"} & document.keys()
    assert [link["link_type"] for link in document["by_link_type"]] == list(LINK_TYPES)


@pytest.mark.parametrize(("public", "expected"), [(True, 1), (False, 0)])
def test_only_public_videos_belong_to_the_ground_truth(*, public: bool, expected: int) -> None:
    work = {
        "aweme_id": "1", "music_id": OWN, "kind": "main", "sound": "live", "heard": "cover",
        "relation": "same", "carries_recording": False, "is_public": public, "round": 0,
    }  # fmt: skip
    found = to_ground_truth_videos({"works": [work]})
    assert [
        (one.sound, one.names_recording, one.carries_recording, one.is_reachable) for one in found
    ] == [("live", True, False, True)][:expected]
