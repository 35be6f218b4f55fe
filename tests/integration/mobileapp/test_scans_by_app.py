"""Whole scans with `mobileapp-guest`: sandbox, device and workers in processes of their own."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from api.cli.processes.child_processes import find_port
from tests.stage import LOCAL, Stage, open_stage, wait_for
from tests.town import SEED, SIZE
from warehouse.control import jobs
from warehouse.queries.results import read_result_document
from warehouse.records.jobs import Job

QUICK = {"verify_audio": False, "search_enabled": False, "candidate_limit": 15}
PROMISED_S = 5.0


class Scans:
    """Two homes over one platform: one reads by the app, the other as any guest."""

    def __init__(self, app: Stage, public: Stage) -> None:
        self.app = app
        self.public = public
        tracks = app.world("/_world/tracks")["tracks"]
        self.track = max(tracks, key=lambda one: one["listed_count"])["music_id"]
        self.other = min(tracks, key=lambda one: one["listed_count"])["music_id"]

    def device(self, **script: Any) -> dict[str, Any]:
        """Set what goes wrong; what was done with the device."""
        place = f"http://127.0.0.1:{self.app.port}/_world/device"
        answer = LOCAL.post(place, json=script).raise_for_status().json()
        log: dict[str, Any] = answer["log"]
        return log

    def restore(self) -> None:
        LOCAL.delete(f"http://127.0.0.1:{self.app.port}/_world/device").raise_for_status()
        self.app.settle()

    def confirmed(self, stage: Stage, job: Job) -> set[str]:
        rows = stage.rows(
            "select aweme_id from marts.confirmed_videos where job_id = $job_id", job_id=job.job_id
        )
        return {str(row["aweme_id"]) for row in rows}

    def sources(self, job: Job) -> dict[str, str]:
        """Why the reading of each source ended."""
        rows = self.app.rows(
            "select surface, stop_reason from marts.coverage where job_id = $job_id",
            job_id=job.job_id,
        )
        return {str(row["surface"]): str(row["stop_reason"]) for row in rows}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, sound_cache: Path) -> Iterator[Scans]:
    adb_port = find_port()
    with ExitStack() as stack:
        app, public = (
            stack.enter_context(
                open_stage(tmp_path_factory.mktemp(name), sound_cache, is_measured=True)
            )
            for name in ("app", "public")
        )
        app.settings = {
            "MUSIC_DATA_PROVIDER": "mobileapp-guest", "MOBILEAPP_DEVICE": "stand-in-1",
            "MOBILEAPP_ADB_PORT": str(adb_port),
        }  # fmt: skip
        app.start_platform(seed=SEED, size=SIZE, adb_port=adb_port)
        public.port = app.port
        app.start_worker()
        public.start_worker()
        yield Scans(app, public)


@pytest.fixture
def scans(running: Scans) -> Iterator[Scans]:
    running.restore()
    yield running
    running.restore()


def test_the_app_confirms_what_the_public_pages_confirm(scans: Scans) -> None:
    """With audio verification; the app shows all public works of the track."""
    wanted = {"candidate_limit": 20, "search_enabled": False}
    jobs = [
        stage.ended(stage.ask(scans.track, music_id=scans.track, **wanted))
        for stage in (scans.app, scans.public)
    ]
    assert [(job.status, job.error) for job in jobs] == [("completed", None)] * 2
    by_app = scans.confirmed(scans.app, jobs[0])
    assert by_app == scans.confirmed(scans.public, jobs[1])
    assert len(by_app) >= 5
    results = [
        read_result_document(stage.engine, job.job_id) or {}
        for stage, job in zip((scans.app, scans.public), jobs, strict=True)
    ]
    assert [result["mobile_emulator_used"] for result in results] == [True, False]


@dataclass(frozen=True)
class Watched:
    """An undisturbed scan by the app, watched while it read the list of a track."""

    job: Job
    counted_first: int
    works: set[str]


@pytest.fixture(scope="module")
def watched(running: Scans) -> Watched:
    running.restore()
    running.device(delay_s=0.4)  # so slow that nobody misses what lies between
    job_id = running.app.ask(running.track, music_id=running.track, refresh=True, **QUICK)
    counted = wait_for(lambda: running.app.job(job_id).progress.candidate_pool_count)
    running.device(delay_s=0.0)
    return Watched(running.app.ended(job_id), counted, set(running.device()["works"]))


def test_works_are_counted_one_by_one_while_they_are_read(watched: Watched) -> None:
    assert watched.job.status == "completed"
    assert 0 < watched.counted_first < len(watched.works)


def test_a_scan_survives_the_loss_of_the_device(watched: Watched, scans: Scans) -> None:
    scans.device(lose_after=scans.device()["swipes"] + 2, away=5)
    job = scans.app.ended(scans.app.ask(scans.track, music_id=scans.track, refresh=True, **QUICK))
    assert (job.status, scans.device()["losses"]) == ("completed", 1)
    assert scans.confirmed(scans.app, job) == scans.confirmed(scans.app, watched.job)


def test_a_login_prompt_ends_the_list_by_name_and_the_scan_completes(scans: Scans) -> None:
    scans.device(prompt="login", prompt_after=2)
    job = scans.app.ended(scans.app.ask(scans.track, music_id=scans.track, refresh=True, **QUICK))
    assert job.status == "completed"
    assert scans.sources(job)["music_list"] == "upstream_login_required"
    assert len(scans.confirmed(scans.app, job)) >= 2


def test_what_detail_pages_withhold_is_taken_from_the_app_and_its_rounding_is_marked(
    scans: Scans,
) -> None:
    for surface in ("video_page", "slides_info"):
        scans.app.fault(surface=surface, kind="empty", times=0)
    job = scans.app.ended(scans.app.ask(scans.other, music_id=scans.other, refresh=True, **QUICK))
    assert job.status == "completed"
    rows = scans.app.rows(
        "select v.is_exact, v.sec_uid, v.digg_count, v.statistics_complete from raw.videos v "
        "where v.surface = 'app_work' and v.job_id = $job_id",
        job_id=job.job_id,
    )
    assert len(rows) == len(scans.confirmed(scans.app, job)) > 0
    assert all(row["sec_uid"] for row in rows)
    assert not any(row["statistics_complete"] and not row["is_exact"] for row in rows)
    assert all((row["digg_count"] or 0) < 10_000 for row in rows if row["is_exact"])


def test_a_scan_is_cancelled_though_the_device_is_silent(
    scans: Scans, capsys: pytest.CaptureFixture[str]
) -> None:
    scans.device(is_silent=True)
    job_id = scans.app.ask(scans.track, music_id=scans.track, refresh=True, **QUICK)
    scans.app.wait(lambda: scans.app.job(job_id).progress.stage == "track")
    asked_at = time.monotonic()
    jobs.request_cancel(scans.app.control, job_id)
    job = scans.app.ended(job_id)
    took_s = time.monotonic() - asked_at
    with capsys.disabled():
        print(f"\ncancelled after {took_s:.2f} s (promised: {PROMISED_S:.0f} s on an idle machine)")
    assert job.status == "cancelled"


def test_without_its_device_a_scan_fails_at_once_with_what_to_do(scans: Scans) -> None:
    scans.device(state="absent")
    job = scans.app.ended(scans.app.ask(scans.track, music_id=scans.track, refresh=True, **QUICK))
    error: Any = job.error
    assert (job.status, error["type"]) == ("failed", "mobile_device_unavailable")
    assert error["upstream"]["reason"] == "absent"
    assert "MOBILEAPP_DEVICE" in error["hint"]
