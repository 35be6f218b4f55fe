"""Whole scans against the world's ground truth, video by video and link type by link type: real
processes, real HTTP, real sound. A scan has the default parameters and knows nothing of the truth.
"""

import json
from typing import Any

import pytest

from api.services.report.ground_truth import RECALL_GOAL, Judgement, judge, to_ground_truth_videos
from tests.deployment import Deployment
from warehouse.queries.results import read_candidates, read_result_document

pytestmark = pytest.mark.soak
SIZE = 0.2
ACCOUNT_PROFILES = 30
NOT_THE_RECORDING = {"muted", "silent", "replaced", "live"}


@pytest.mark.parametrize(
    ("seed", "place"),
    [
        pytest.param(11, 0, id="own most liked video plays another song, an id has only a muted"),
        pytest.param(42, 4, id="own video is played live, a sibling of a match another song"),
    ],
)
def test_a_scan_confirms_what_carries_the_recording_as_far_as_ids_keep_their_promise(
    deployment: Deployment, seed: int, place: int
) -> None:
    deployment.start_platform(seed=seed, size=SIZE)
    deployment.start_worker(RANDOM_AUDIT_SIZE="10")
    track = deployment.world("/_world/tracks")["tracks"][place]
    job_id = deployment.ask(track["prose"])

    job = deployment.ended(job_id)
    assert (job.status, job.error) == ("completed", None)
    assert job.music_id == track["music_id"]

    deployment.engine.refresh()
    document = read_result_document(deployment.engine, job_id)
    assert document is not None
    truth = deployment.world(f"/_world/truth/{track['music_id']}")
    variants = document["variants"]["aweme_list"]
    videos = to_ground_truth_videos(truth)
    judgement = judge(track["music_id"], document["ranked"], variants, videos)
    _every_match_by_audio_is_right(judgement)
    _what_a_music_id_promises_falsely_is_an_error_of_its_link_type(judgement, truth, document)
    _most_of_what_can_be_reached_is_found(judgement)
    _no_reference_plays_something_else(deployment, job_id, truth)

    confirmed = {video["aweme_id"] for video in document["ranked"]}
    _variants_are_heard_at_their_own_speed(truth, document)
    _versions_are_covers_and_nothing_that_is_counted(truth, document)
    _every_audio_link_has_evidence(document)
    _every_stop_has_a_reason(document)
    _the_random_audit_finds_what_is_true(deployment, job_id, truth, document)
    _every_candidate_has_an_outcome(deployment, job_id, document)
    _the_first_accounts_have_profiles(document)
    _the_union_of_all_runs_is_this_run(document)
    _what_the_search_showed_is_listed_by_itself(document, confirmed)
    _the_ledger_is_what_the_platform_counted(deployment, document)


def _every_match_by_audio_is_right(judgement: Judgement) -> None:
    link = judgement.of("audio_fingerprint_match")
    assert (link.precision, link.confirmed_count > 0) == (1.0, True)
    assert judgement.variants_confirmed == 0


def _what_a_music_id_promises_falsely_is_an_error_of_its_link_type(
    judgement: Judgement, truth: dict[str, Any], document: dict[str, Any]
) -> None:
    """The same music id is never compared, so each such video is confirmed: the label is true, and
    precision counts it as wrong.
    """
    works = {work["aweme_id"]: work for work in truth["works"]}
    assert {video.sound for video in judgement.wrong} <= NOT_THE_RECORDING
    assert [link.label_precision for link in judgement.links if link.confirmed_count] == [1.0] * 3
    assert all(video.is_label_true for video in judgement.wrong)
    assert {video.link_type for video in judgement.wrong} <= {
        "exact_music_id",
        "verified_music_id_graph",
    }
    for video in document["ranked"]:
        is_own = works[video["aweme_id"]]["music_id"] == truth["music_id"]
        assert is_own == (video["link_type"] == "exact_music_id")
    misnamed = {
        name
        for name, work in works.items()
        if work["music_id"] == truth["music_id"]
        and work["is_public"]
        and not work["carries_recording"]
    }
    same_id = {video.aweme_id for video in judgement.wrong if video.link_type == "exact_music_id"}
    assert misnamed
    assert same_id == misnamed
    precision = judgement.of("exact_music_id").precision
    assert precision is not None
    assert 0 < precision < 1


def _most_of_what_can_be_reached_is_found(judgement: Judgement) -> None:
    for recall in (judgement.own_id, judgement.other_ids):
        assert recall.reachable_count >= 5
        assert (recall.share_reachable or 0) >= RECALL_GOAL


def _no_reference_plays_something_else(
    deployment: Deployment, job_id: str, truth: dict[str, Any]
) -> None:
    sounds = {work["aweme_id"]: work["sound"] for work in truth["works"]}
    rows = deployment.rows(
        "select distinct reference_aweme_id from marts.audio_comparisons "
        "where job_id = $job_id and reference_source = 'platform'",
        job_id=job_id,
    )
    references = {sounds[row["reference_aweme_id"]] for row in rows}
    assert references
    assert not references & NOT_THE_RECORDING


def _variants_are_heard_at_their_own_speed(truth: dict[str, Any], document: dict[str, Any]) -> None:
    works = {work["aweme_id"]: work for work in truth["works"]}
    for video in document["variants"]["aweme_list"]:
        work = works[video["aweme_id"]]
        assert work["heard"] == "variant"
        assert abs(video["speed"] / work["speed"] - 1) <= 0.005
        assert abs(video["semitones"] - work["semitones"]) <= 0.3


def _versions_are_covers_and_nothing_that_is_counted(
    truth: dict[str, Any], document: dict[str, Any]
) -> None:
    works = {work["aweme_id"]: work for work in truth["works"]}
    versions = {video["aweme_id"] for video in document["versions"]["aweme_list"]}
    assert versions
    assert {works[name]["heard"] for name in versions} == {"cover"}
    matches = (*document["ranked"], *document["variants"]["aweme_list"])
    assert versions.isdisjoint(video["aweme_id"] for video in matches)


def _every_audio_link_has_evidence(document: dict[str, Any]) -> None:
    links = [video for video in document["ranked"] if video["link_type"] != "exact_music_id"]
    assert links
    for video in links:
        evidence = video["evidence"]
        assert evidence["verdict"] == "confirmed"
        assert evidence["score"] >= evidence["limits"]["match_threshold"]
        assert (evidence["speed"], evidence["semitones"]) == (1.0, 0.0)
        assert evidence["candidate_music_id"] == video["source_music_id"]


def _every_stop_has_a_reason(document: dict[str, Any]) -> None:
    sources = document["coverage"]["sources"]
    assert {"music_info", "music_list", "user_posts", "video_detail"} <= {
        source["surface"] for source in sources
    }
    assert all(source["stop_reason"] for source in sources)
    assert all(source["requests"] or source["items"] for source in sources)
    assert document["sources_ended_by_exhaustion"] == {
        "music": document["candidate_pool_size"] < 150 and not _left_out(document),
        "accounts": document["unique_account_count"] <= ACCOUNT_PROFILES,
        "search": all(
            term["stop_reason"] in {"exhausted", "no_new_items"}
            for term in document["search_related"]["pagination"]["terms"]
        ),
    }


def _left_out(document: dict[str, Any]) -> list[str]:
    """What belongs to the music lists and was not reached."""
    apart = {"search", "user_info"}
    not_reached = document["coverage"]["not_reached"]
    return [name for name in not_reached if name.partition(":")[0] not in apart]


def _every_candidate_has_an_outcome(
    deployment: Deployment, job_id: str, document: dict[str, Any]
) -> None:
    candidates = read_candidates(deployment.engine, job_id)
    assert len(candidates) == document["candidate_pool_size"]
    assert {row["outcome"] for row in candidates} <= {
        "confirmed",
        "variant",
        "rejected",
        "not_comparable",
        "unavailable",
    }
    rejected = deployment.rows(
        "select * from marts.audio_comparisons where job_id = $job_id and verdict = 'rejected'",
        job_id=job_id,
    )
    assert rejected
    assert all(row["reason"] and json.loads(row["limits"]) for row in rejected)


def _the_first_accounts_have_profiles(document: dict[str, Any]) -> None:
    accounts = document["account_summary"]["accounts"]
    assert len(accounts) == document["unique_account_count"]
    filled = accounts[:ACCOUNT_PROFILES]
    assert all(entry["follower_count"] is not None for entry in filled if entry["profile_complete"])
    assert sum(entry["profile_complete"] for entry in filled) >= 0.9 * len(filled)
    assert not any(entry["profile_complete"] for entry in accounts[ACCOUNT_PROFILES:])


def _the_union_of_all_runs_is_this_run(document: dict[str, Any]) -> None:
    history = document["discovery"]["confirmed_graph_observation_history"]
    confirmed = document["confirmed_count"]
    assert history["run_count"] == 1
    assert (history["cumulative_confirmed_count"], history["new_confirmed_count"]) == (
        confirmed,
        confirmed,
    )


def _what_the_search_showed_is_listed_by_itself(
    document: dict[str, Any], confirmed: set[str]
) -> None:
    related = document["search_related"]
    assert related["returned_count"] == len(related["aweme_list"]) > 0
    assert related["pagination"]["pages_fetched"] > 0
    assert document["discovery"]["official_comprehensive_search"]["terms"]
    high = {"exact_title", "music_id_corroborated"}
    levels = [video["search_relevance_level"] for video in related["aweme_list"]]
    assert related["high_relevance_count"] == sum(level in high for level in levels)
    corroborated = {
        video["aweme_id"]
        for video in related["aweme_list"]
        if video["search_relevance_level"] == "music_id_corroborated"
    }
    assert corroborated & confirmed
    words_alone = {video["aweme_id"] for video in related["aweme_list"]} - confirmed
    assert words_alone


def _the_random_audit_finds_what_is_true(
    deployment: Deployment, job_id: str, truth: dict[str, Any], document: dict[str, Any]
) -> None:
    """Drawn videos are no candidates, their sounds are judged rightly, the mart has the limit."""
    audit = document["coverage"]["audit"]
    carrying = {work["aweme_id"] for work in truth["works"] if work["carries_recording"]}
    pooled = {row["aweme_id"] for row in read_candidates(deployment.engine, job_id)}
    drawn = {video["aweme_id"]: video["verdict"] for video in audit["videos"]}
    assert len(drawn) == min(10, audit["pool"])
    assert pooled.isdisjoint(drawn)
    assert {name for name, verdict in drawn.items() if verdict == "confirmed"} <= carrying
    assert audit["compared"] > 0
    (row,) = deployment.rows("select * from marts.random_audits where job_id = $id", id=job_id)
    assert (row["drawn_count"], row["carrying_count"]) == (len(drawn), audit["found"])
    assert row["upper_count"] == audit["upper_bound_count"]


def _the_ledger_is_what_the_platform_counted(
    deployment: Deployment, document: dict[str, Any]
) -> None:
    """Beside the scan itself, the link was resolved and each host's robots.txt was read."""
    log = deployment.world("/_world/access-log/summary")
    around = sum(log["surfaces"].get(name, 0) for name in ("short_link", "robots"))
    sources = document["coverage"]["sources"]
    booked = sum(source["requests"] for source in sources)
    each = " ".join(f"{source['surface']}={source['requests']}" for source in sources)
    assert booked == log["requests"] - around, f"{each} of {log['surfaces']}"
