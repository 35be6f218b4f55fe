"""Scans of one platform by one worker: what they find, and what people and platforms do to them.

A whole scan takes long, so several tests look at one of them. Each has a track of its own, unless
it follows the first scan: none is served from what another found.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from dagster import DagsterRunStatus
from pydantic import TypeAdapter
from starlette.testclient import TestClient

from api.process import build_app_from_settings
from api.schemas.result import DiscoveryResponse
from api.services.job_feed import JobBroadcaster
from api.settings import ApiSettings
from pipelines.catalog.sound_matches import CatalogReferenceSounds, SoundMatches
from pipelines.documents.messages import STOPS
from pipelines.parameters.scan import fingerprint, scan_parameters
from tests.deployment import Deployment
from tests.scan.whole_scans.switch_scans import switch_to
from tests.switch_outcomes import GENEROUS, SwitchOutcome
from warehouse.control import hosts, jobs
from warehouse.control.jobs import NewJob
from warehouse.queries.results import read_result_document
from warehouse.records.catalogs import CatalogTrack, ImportedTrack
from warehouse.records.evidence import MatchThresholds
from warehouse.records.jobs import Job, keyword_subject

pytestmark = pytest.mark.full

DISCOVER = "/api/v1/vidplat/app/v3/discover_music_related_videos"
SMALL: dict[str, Any] = {"candidate_limit": 15, "search_enabled": False}
LISTS_OF_ACCOUNTS = ("user_posts", "user_page")
FIRST = 15
"""The place of a track whose song is paid for, and of which another music id has several videos."""


def track(shared_deployment: Deployment, number: int) -> dict[str, Any]:
    found: dict[str, Any] = shared_deployment.world("/_world/tracks")["tracks"][number]
    return found


def ask(shared_deployment: Deployment, number: int, **parameters: Any) -> str:
    music_id = track(shared_deployment, number)["music_id"]
    return shared_deployment.ask(music_id, music_id=music_id, **parameters)


def failure(job: Job) -> dict[str, object]:
    """The error of a job that failed."""
    assert job.status == "failed"
    assert job.error is not None
    return job.error


def completed(shared_deployment: Deployment, job_id: str) -> dict[str, Any]:
    """The result of a job that completes."""
    job = shared_deployment.ended(job_id)
    assert (job.status, job.error) == ("completed", None)
    shared_deployment.engine.refresh()
    document = read_result_document(shared_deployment.engine, job_id)
    assert document is not None
    return document


def kept_works(shared_deployment: Deployment, job_id: str) -> int:
    found = shared_deployment.rows(
        "select count(*) as n from raw.videos where job_id = $id", id=job_id
    )
    return int(found[0]["n"])


@dataclass(frozen=True)
class Scanned:
    """A track, the job of two for it that was scanned, the other one, and the result."""

    track: dict[str, Any]
    job_id: str
    twin_id: str
    document: dict[str, Any]

    @property
    def stops(self) -> dict[str, dict[str, Any]]:
        return {source["surface"]: source for source in self.document["coverage"]["sources"]}


@pytest.fixture(scope="module")
def first_scan(session_deployment: Deployment) -> Scanned:
    """A scan by a worker that knows that the lists of accounts have refused lately."""
    session_deployment.settle()
    for surface in LISTS_OF_ACCOUNTS:
        answer(session_deployment, surface, "empty_body")
    known = track(session_deployment, FIRST)
    assert known["is_paid"]
    both = [session_deployment.ask(known[link], **SMALL) for link in ("prose", "share_link")]
    document, _ = (completed(session_deployment, job_id) for job_id in both)
    with session_deployment.instance() as instance:
        both.sort(key=lambda job_id: instance.get_run_by_id(job_id) is None)
    job_id, twin_id = both
    return Scanned(known, job_id, twin_id, document)


def answer(shared_deployment: Deployment, surface: str, kind: str) -> None:
    """Let the last three answers of a surface have been of one kind, whatever was before."""
    host = "share.vidplat.localhost"
    for _ in range(3):
        hosts.note_answer(
            shared_deployment.control, host, surface, kind=kind, keep=3, max_age_s=3600
        )


def test_two_links_of_one_track_are_one_run_that_the_orchestrator_shows(
    shared_deployment: Deployment, first_scan: Scanned
) -> None:
    first, second = first_scan.job_id, first_scan.twin_id
    found = shared_deployment.rows(
        "select confirmed_count from marts.job_results where job_id in ($first, $second)",
        first=first,
        second=second,
    )
    assert len(found) == 2
    assert found[0] == found[1]
    with shared_deployment.instance() as instance:
        (begun,) = filter(None, map(instance.get_run_by_id, (first, second)))
        run = shared_deployment.ended_run(begun.run_id)
        records = instance.get_records_for_run(run.run_id).records
    assert run.status == DagsterRunStatus.SUCCESS
    assert run.tags["dagster/partition"] == f"music:{first_scan.track['music_id']}"
    assert run.remote_job_origin is not None
    events = [record.event_log_entry.dagster_event for record in records]
    materialized = {
        "/".join(event.asset_key.path)
        for event in events
        if event is not None
        and event.asset_key is not None
        and event.event_type_value == "ASSET_MATERIALIZATION"
    }
    assert {"marts/confirmed_videos", "marts/rankings", "marts/job_results"} <= materialized


def test_sick_surfaces_are_not_requested_and_reported_as_not_reached(
    shared_deployment: Deployment, first_scan: Scanned
) -> None:
    document = first_scan.document
    coverage = document["coverage"]
    chosen = {one["surface"]: one for one in coverage["decisions"]}
    for surface in LISTS_OF_ACCOUNTS:
        one = chosen[surface]
        assert (one["tried"], one["latest_answers"], one["latest_refusals"]) == (0, 3, 3)
    rows = shared_deployment.rows(
        "select unit, observed_count, method from marts.coverage_estimates where job_id = $id",
        id=first_scan.job_id,
    )
    estimates = {
        "music_id": coverage["estimates"]["music_ids"],
        "video": coverage["estimates"]["videos"],
    }
    assert {row["unit"]: (row["observed_count"], row["method"]) for row in rows} == {
        unit: (one["observed"], one["method"]) for unit, one in estimates.items()
    }
    assert estimates["video"]["observed"] == document["confirmed_count"]
    left = [name for name in coverage["not_reached"] if name.startswith("user_posts:")]
    # nor are the lists of accounts that the last round has shown
    assert 0 < chosen["user_posts"]["left_sick"] <= len(left)
    stops = {one["stop_reason"]: one["requests"] for one in coverage["sources"]}
    assert stops["upstream_refused_lately"] == 0


def test_the_song_of_the_music_service_is_the_first_reference(
    shared_deployment: Deployment, first_scan: Scanned
) -> None:
    pairs = evidence(shared_deployment, first_scan.job_id)
    of_song = [pair for pair in pairs if pair["reference_source"] == "music_service"]
    assert {pair["reference_aweme_id"] for pair in of_song} == {first_scan.track["track_id"]}
    assert any(pair["verdict"] == "confirmed" for pair in of_song)
    for surface in ("service_track", "service_audio"):
        assert first_scan.stops[surface]["stop_reason"] == "completed"
    assert first_scan.document["confirmed_count"] > 0


@pytest.mark.soak
def test_a_whole_song_of_the_music_service_is_the_first_reference(
    shared_deployment: Deployment,
) -> None:
    songs = shared_deployment.world("/_world/tracks")["tracks"]
    song = next(one for one in songs if one["track_id"] and not one["is_paid"])
    job_id = shared_deployment.ask(song["music_id"], music_id=song["music_id"], **SMALL)
    document = completed(shared_deployment, job_id)
    pairs = evidence(shared_deployment, job_id)
    of_song = [pair for pair in pairs if pair["reference_source"] == "music_service"]
    assert {pair["reference_aweme_id"] for pair in of_song} == {song["track_id"]}
    assert any(pair["verdict"] == "confirmed" for pair in of_song)
    assert document["confirmed_count"] > 0


def evidence(deployment: Deployment, job_id: str) -> list[dict[str, Any]]:
    return deployment.rows("select * from marts.audio_comparisons where job_id = $id", id=job_id)


@dataclass(frozen=True)
class Discovered:
    """What the service answers to a discovery of a copy of the first track, and its job."""

    music_id: str
    data: dict[str, Any]
    job: Job


@pytest.fixture(scope="module")
def discovered(session_deployment: Deployment, first_scan: Scanned) -> Discovered:
    """A discovery on a platform whose pages of songs give nothing."""
    shared_deployment = session_deployment
    shared_deployment.settle()
    shared_deployment.fault(surface="service_track", kind="500", times=0)
    confirmed = confirmed_ids(first_scan.document)
    of_copies = copies(shared_deployment, first_scan.track["music_id"]).most_common()
    copy = next(music_id for music_id, _ in of_copies if music_id not in confirmed)
    with service(shared_deployment) as client:
        answer = client.get(DISCOVER, params={"music_id": copy, "candidate_limit": 10})
    assert answer.status_code == 200, answer.text
    data = answer.json()["data"]
    return Discovered(copy, data, shared_deployment.job(data["job_id"]))


@contextmanager
def service(shared_deployment: Deployment) -> Iterator[TestClient]:
    """The service over the stores of a stage, in this process."""
    settings = ApiSettings(
        _env_file=None,
        profile="sandbox",
        data_home=shared_deployment.root / "home",
        sandbox_port=shared_deployment.port,
    )
    with (
        build_app_from_settings(settings, feed=JobBroadcaster(limit=4)) as app,
        TestClient(app, base_url="http://127.0.0.1") as client,
    ):
        yield client


def test_related_videos_are_verified_and_every_candidate_says_why(
    shared_deployment: Deployment, discovered: Discovered
) -> None:
    data = discovered.data
    TypeAdapter(DiscoveryResponse).validate_python(data)
    truth = shared_deployment.world(f"/_world/truth/{discovered.music_id}")["works"]
    same = {work["aweme_id"] for work in truth if work["relation"] == "same"}
    assert data["aweme_list"]
    assert {video["aweme_id"] for video in data["aweme_list"]} <= same
    assert all(video["association_type"] for video in data["aweme_list"])
    assert data["reference_works"]
    candidates = data["candidates"]
    assert data["layer_counts"]["layer2_text_candidates"] == len(candidates) <= 10
    assert all(entry["verdict"] != "pooled" for entry in candidates)
    rejected = [entry for entry in candidates if entry["verdict"] == "rejected"]
    assert rejected
    assert all(entry["reason"] for entry in rejected)
    [kept] = shared_deployment.rows(
        "select count(*) as rows, count(distinct (job_id, aweme_id)) as videos "
        "from marts.candidates where job_id in (select job_id from marts.discovered_videos)"
    )
    assert kept["rows"] == kept["videos"] > 0


def test_a_scan_goes_on_where_the_page_of_the_song_gives_nothing(
    shared_deployment: Deployment, discovered: Discovered
) -> None:
    pairs = evidence(shared_deployment, discovered.job.job_id)
    assert pairs
    assert {pair["reference_source"] for pair in pairs} == {"platform"}


def copies(shared_deployment: Deployment, music_id: str) -> Counter[str]:
    """The other music ids of a recording, with how many public videos play it under them."""
    works = shared_deployment.world(f"/_world/truth/{music_id}")["works"]
    return Counter(
        work["music_id"]
        for work in works
        if work["music_id"] != music_id
        and work["relation"] == "same"
        and work["carries_recording"]
        and work["is_public"]
    )


def confirmed_ids(document: dict[str, Any]) -> set[str]:
    return {video["source_music_id"] for video in document["ranked"]}


def look_up(shared_deployment: Deployment, *music_ids: str) -> None:
    """Look for the recordings of a catalogue in all sounds that were measured."""
    tracks = [
        CatalogTrack(
            given=ImportedTrack(key=f"music:{one}", input=one), position=place, music_id=one
        )
        for place, one in enumerate(music_ids)
    ]
    references = CatalogReferenceSounds(shared_deployment.engine, tracks, None)
    SoundMatches(references, None, limits=MatchThresholds()).find(lambda *_: None)


@dataclass(frozen=True)
class Repeated:
    """The first track again, when a catalogue has looked for its recording in all sounds."""

    copy: str
    job_id: str
    document: dict[str, Any]


@pytest.fixture(scope="module")
def second_scan(
    session_deployment: Deployment, first_scan: Scanned, discovered: Discovered
) -> Repeated:
    """On a platform with shell pages, without posts of accounts, with a login for the search and a
    challenge for profiles.
    """
    shared_deployment, music_id = session_deployment, first_scan.track["music_id"]
    shared_deployment.settle()
    look_up(shared_deployment, music_id, discovered.music_id)
    switch_to(shared_deployment.port, SwitchOutcome(mode="autumn-2026"))
    shared_deployment.fault(surface="user_info", kind="captcha", times=0)
    try:
        job_id = ask(shared_deployment, FIRST, candidate_limit=15, refresh=True)
        document = completed(shared_deployment, job_id)
    finally:
        switch_to(shared_deployment.port, GENEROUS)
    return Repeated(discovered.music_id, job_id, document)


def test_the_next_scan_confirms_what_was_heard_in_the_scan_of_another_track(
    second_scan: Repeated,
) -> None:
    """A catalogue's scan takes a video that only the scan of another track has fetched."""
    assert second_scan.copy in confirmed_ids(second_scan.document)
    sources = {one["surface"]: one for one in second_scan.document["coverage"]["sources"]}
    assert sources["catalog_matches"]["items"] > 0
    assert sources["catalog_matches"]["requests"] == 0


def test_a_platform_that_demands_verification_gives_an_honest_short_result(
    shared_deployment: Deployment, second_scan: Repeated
) -> None:
    reported = shared_deployment.rows(
        "select surface, stop_reason from marts.coverage where job_id = $id", id=second_scan.job_id
    )
    stops = {row["surface"]: row["stop_reason"] for row in reported}
    assert stops["user_info"] == "upstream_verification"


def test_a_scan_of_a_platform_that_withholds_most_says_what_it_chose_and_why_it_stopped(
    second_scan: Repeated,
) -> None:
    document = second_scan.document
    assert document["confirmed_count"] > 0
    chosen = {one["surface"]: one for one in document["coverage"]["decisions"]}
    details = chosen["slides_info"]
    assert details["answered"] == details["tried"] > 0
    assert chosen.get("video_page", {"tried": 0})["tried"] <= 2
    stops = {source["stop_reason"] for source in document["coverage"]["sources"]}
    assert "upstream_structure_changed" not in stops
    assert stops <= STOPS.keys()


def test_a_name_is_searched_in_scenes_and_nothing_is_confirmed(
    shared_deployment: Deployment,
) -> None:
    title = track(shared_deployment, 2)["title"]
    values = scan_parameters({"candidate_limit": 10})
    subject = keyword_subject(title)
    new = NewJob(
        kind="keyword_search", input=title, target=subject, music_id=None,
        parameters=values.to_document(), scan_key=None, origin="cli", priority=100,
        fingerprint=fingerprint(subject, "sandbox", "public-graph", values),
    )  # fmt: skip
    job_id = jobs.create_or_join(shared_deployment.control, new)[0].job_id
    document = completed(shared_deployment, job_id)
    assert (document["keyword"], document["music"], document["music_id"]) == (title, None, None)
    assert (document["confirmed_count"], document["unique_account_count"]) == (0, 0)
    related = document["search_related"]
    assert related["high_relevance_count"] > 0
    assert all(title in term["term"] for term in related["pagination"]["terms"])
    assert any(video["statistics_complete"] for video in related["aweme_list"])
    run = shared_deployment.ended_run(job_id)
    assert run.status == DagsterRunStatus.SUCCESS
    assert run.tags["dagster/partition"] == subject


def test_a_cancelled_scan_ends_and_keeps_what_it_saw(shared_deployment: Deployment) -> None:
    shared_deployment.hold("slides_info", after=12)
    job_id = ask(shared_deployment, 4, candidate_limit=30, search_enabled=False)
    shared_deployment.wait(lambda: shared_deployment.job(job_id).progress.detail_checked_count >= 8)
    jobs.request_cancel(shared_deployment.control, job_id)
    job = shared_deployment.ended(job_id)
    assert (job.status, job.error) == ("cancelled", None)
    assert kept_works(shared_deployment, job_id) >= 8
    assert shared_deployment.ended_run(job_id).status == DagsterRunStatus.CANCELED


@pytest.mark.soak
def test_a_track_that_does_not_exist_fails_the_job_by_name(shared_deployment: Deployment) -> None:
    job = shared_deployment.ended(
        shared_deployment.ask("1234567890123456789", music_id="1234567890123456789")
    )
    assert failure(job)["type"] == "invalid_music_input"


@pytest.mark.soak
def test_a_platform_that_breaks_every_connection_fails_the_job_by_name(
    shared_deployment: Deployment,
) -> None:
    nobody = "7361729694329545668"
    shared_deployment.fault(surface="*", kind="reset", times=0)
    error = failure(shared_deployment.ended(shared_deployment.ask(nobody, music_id=nobody)))
    assert error["type"] == "upstream_unreachable"
    upstream = error["upstream"]
    assert isinstance(upstream, dict)
    assert upstream["surface"] == "music_info"
