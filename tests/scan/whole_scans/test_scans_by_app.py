"""Whole scans with `mobileapp-guest`: sandbox, device and worker in processes of their own.

The full tier has a scan of a device that is slow and lost for a while. In the soak are one whose
list ends early and one without a device, and sounds are compared too, as by the public pages.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from api.cli.processes.child_processes import find_port
from tests.deployment import LOCAL, Deployment, open_deployment, wait_for
from tests.shared_deployment import SEED, SIZE
from warehouse.control import jobs
from warehouse.queries.results import read_result_document
from warehouse.records.jobs import Job

pytestmark = pytest.mark.full

HEARD = {"candidate_limit": 20, "search_enabled": False}
QUICK = {"verify_audio": False, "search_enabled": False, "candidate_limit": 15}
PROMISED_S = 5.0


class Scans:
    """A home that reads by the app."""

    def __init__(self, deployment: Deployment, home: Path, cache: Path) -> None:
        self.deployment = deployment
        self.home = home
        self.cache = cache
        tracks = deployment.world("/_world/tracks")["tracks"]
        self.track = max(tracks, key=lambda one: one["listed_count"])["music_id"]

    def device(self, **script: Any) -> dict[str, Any]:
        """Set what goes wrong; what was done with the device."""
        place = f"http://127.0.0.1:{self.deployment.port}/_world/device"
        answer = LOCAL.post(place, json=script).raise_for_status().json()
        log: dict[str, Any] = answer["log"]
        return log

    @property
    def truth(self) -> list[dict[str, Any]]:
        """The public works that have to do with the track, as they are in truth."""
        works = self.deployment.world(f"/_world/truth/{self.track}")["works"]
        return [work for work in works if work["is_public"]]

    def restore(self) -> None:
        LOCAL.delete(f"http://127.0.0.1:{self.deployment.port}/_world/device").raise_for_status()
        self.deployment.settle()

    def ask(self, **parameters: Any) -> str:
        """Scan the track once more."""
        return self.deployment.ask(self.track, music_id=self.track, refresh=True, **parameters)

    def ended(self, **parameters: Any) -> Job:
        return self.deployment.ended(self.ask(**parameters))

    def sources(self, job: Job) -> dict[str, str]:
        """Why the reading of each source ended."""
        rows = self.deployment.rows(
            "select surface, stop_reason from marts.coverage where job_id = $job_id",
            job_id=job.job_id,
        )
        return {str(row["surface"]): str(row["stop_reason"]) for row in rows}


def confirmed(deployment: Deployment, job: Job) -> set[str]:
    rows = deployment.rows(
        "select aweme_id from marts.confirmed_videos where job_id = $job_id", job_id=job.job_id
    )
    return {str(row["aweme_id"]) for row in rows}


def result_of(deployment: Deployment, job: Job) -> dict[str, Any]:
    return read_result_document(deployment.engine, job.job_id) or {}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, sound_cache: Path) -> Iterator[Scans]:
    adb_port, home = find_port(), tmp_path_factory.mktemp("app")
    with open_deployment(home, sound_cache, is_measured=True) as deployment:
        deployment.settings = {
            "MUSIC_DATA_PROVIDER": "mobileapp-guest", "MOBILEAPP_DEVICE": "stand-in-1",
            "MOBILEAPP_ADB_PORT": str(adb_port),
        }  # fmt: skip
        deployment.start_platform(seed=SEED, size=SIZE, adb_port=adb_port)
        deployment.start_worker()
        yield Scans(deployment, home, sound_cache)


@pytest.fixture
def scans(running: Scans) -> Iterator[Scans]:
    running.restore()
    yield running
    running.restore()


@dataclass(frozen=True)
class Watched:
    """A scan by the app, watched while it read the list of a track; the device was lost once, and
    the platform withheld the details of videos.
    """

    job: Job
    counted_first: int
    log: dict[str, Any]


@pytest.fixture(scope="module")
def watched(running: Scans) -> Watched:
    running.restore()
    for surface in ("video_page", "slides_info"):
        running.deployment.fault(surface=surface, kind="empty", times=0)
    # so slow that nobody misses what lies between
    running.device(delay_s=0.4, lose_after=running.device()["swipes"] + 4, away=5)
    job_id = running.ask(**QUICK)
    counted = wait_for(lambda: running.deployment.job(job_id).progress.candidate_pool_count)
    running.device(delay_s=0.0)
    return Watched(running.deployment.ended(job_id), counted, running.device())


@pytest.mark.soak
def test_works_are_counted_one_by_one_while_they_are_read(watched: Watched) -> None:
    assert watched.job.status == "completed"
    assert 0 < watched.counted_first < len(set(watched.log["works"]))


@pytest.mark.soak
def test_all_public_works_are_confirmed_though_the_device_was_lost_once(
    watched: Watched, scans: Scans
) -> None:
    assert (watched.job.status, watched.log["losses"]) == ("completed", 1)
    own = {work["aweme_id"] for work in scans.truth if work["music_id"] == scans.track}
    assert len(own) >= 5
    assert confirmed(scans.deployment, watched.job) == own


@pytest.mark.soak
def test_withheld_details_come_from_the_app_with_rounded_counts_marked(
    watched: Watched, scans: Scans
) -> None:
    rows = scans.deployment.rows(
        "select v.is_exact, v.sec_uid, v.digg_count, v.statistics_complete from raw.videos v "
        "where v.surface = 'app_work' and v.job_id = $job_id",
        job_id=watched.job.job_id,
    )
    assert len(rows) == len(confirmed(scans.deployment, watched.job)) > 0
    assert all(row["sec_uid"] for row in rows)
    assert not any(row["statistics_complete"] and not row["is_exact"] for row in rows)
    assert all((row["digg_count"] or 0) < 10_000 for row in rows if row["is_exact"])


@pytest.mark.soak
def test_a_login_prompt_ends_the_list_by_name_and_the_scan_completes(scans: Scans) -> None:
    scans.device(prompt="login", prompt_after=2)
    job = scans.ended(**QUICK)
    assert job.status == "completed"
    assert scans.sources(job)["music_list"] == "upstream_login_required"
    assert len(confirmed(scans.deployment, job)) >= 2
    assert result_of(scans.deployment, job)["mobile_emulator_used"] is True


@pytest.mark.soak
def test_the_app_confirms_what_the_public_pages_confirm(scans: Scans) -> None:
    """With audio verification; the app shows all public works of the track."""
    by_app = scans.ended(**HEARD)
    with open_deployment(scans.home / "public", scans.cache) as public:
        public.port = scans.deployment.port
        public.start_worker()
        job = public.ended(public.ask(scans.track, music_id=scans.track, **HEARD))
        assert confirmed(public, job) == confirmed(scans.deployment, by_app)
        assert result_of(public, job)["mobile_emulator_used"] is False


@pytest.mark.soak
def test_a_scan_is_cancelled_though_the_device_is_silent(
    scans: Scans, capsys: pytest.CaptureFixture[str]
) -> None:
    scans.device(is_silent=True)
    job_id = scans.ask(**QUICK)
    scans.deployment.wait(lambda: scans.deployment.job(job_id).progress.stage == "track")
    asked_at = time.monotonic()
    jobs.request_cancel(scans.deployment.control, job_id)
    job = scans.deployment.ended(job_id)
    took_s = time.monotonic() - asked_at
    with capsys.disabled():
        print(f"\ncancelled after {took_s:.2f} s (promised: {PROMISED_S:.0f} s on an idle machine)")
    assert job.status == "cancelled"


@pytest.mark.soak
def test_without_its_device_a_scan_fails_at_once_with_what_to_do(scans: Scans) -> None:
    scans.device(state="absent")
    job = scans.ended(**QUICK)
    error: Any = job.error
    assert (job.status, error["type"]) == ("failed", "mobile_device_unavailable")
    assert error["upstream"]["reason"] == "absent"
    assert "MOBILEAPP_DEVICE" in error["hint"]
