"""What the end of a job means for its track."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from pipelines.catalog.rules import day_number, next_job_id, refused, settled, submitted
from warehouse.records.catalogs import Catalog, CatalogSettings, CatalogTrack, ImportedTrack
from warehouse.records.errors import InvalidMusicInputError
from warehouse.records.jobs import PRIORITY_SCHEDULED, Job, JobStatus, ProgressRecord

NOW = datetime(2026, 11, 20, 8, tzinfo=UTC)
HOUR = timedelta(hours=1)
CATALOG = Catalog(name="songs", settings=CatalogSettings(), created_at=NOW, updated_at=NOW)
TRACK = CatalogTrack(given=ImportedTrack(key="music:12345", input="12345"), position=0)


def job(status: JobStatus, *, job_id: str = "a", requests: int = 40) -> Job:
    return Job(
        job_id=job_id, kind="scan", status=status, input="12345", target="12345", music_id="12345",
        parameters={}, fingerprint="f", scan_key=None, origin="schedule",
        priority=PRIORITY_SCHEDULED, progress=ProgressRecord(requests_used=requests),
        error={"type": "upstream_empty", "detail": "nothing came"} if status == "failed" else None,
        cancel_requested=False, worker_id=None, heartbeat_at=None, created_at=NOW, started_at=NOW,
        finished_at=None if status in {"queued", "running"} else NOW, expires_at=None,
    )  # fmt: skip


def scanned(status: JobStatus, track: CatalogTrack = TRACK) -> CatalogTrack:
    running = submitted(track, job("running"), now=NOW, costs_a_scan=True)
    return settled(running, job(status), now=NOW, is_charged=True)


def test_a_completed_job_leaves_its_result_and_its_cost() -> None:
    done = scanned("completed")
    assert (done.job_id, done.music_id, done.result_job_id) == (None, "12345", "a")
    assert (done.result_at, done.charged_requests, done.charged_day) == (NOW, 40, day_number(NOW))


def test_a_failed_job_leaves_its_error_and_the_result_before_it() -> None:
    failed = scanned("failed", replace(TRACK, result_job_id="before", result_at=NOW - HOUR))
    assert (failed.failed_at, failed.result_job_id) == (NOW, "before")
    assert failed.error == {"type": "upstream_empty", "detail": "nothing came"}
    assert failed.charged_requests == 40


def test_a_later_result_forgets_the_failure_and_keeps_the_result_before() -> None:
    failed = scanned("failed", replace(TRACK, result_job_id="before", result_at=NOW - HOUR))
    done = scanned("completed", failed)
    assert (done.failed_at, done.error, done.previous_job_id) == (None, None, "before")
    assert (done.charged_scans, done.charged_requests) == (2, 80)


def test_a_cancelled_job_and_a_deleted_one_leave_the_track_as_it_was() -> None:
    assert replace(scanned("cancelled"), charged_requests=0) == replace(
        TRACK, submission_count=1, charged_day=day_number(NOW), charged_scans=1
    )
    running = replace(TRACK, job_id="a")
    assert settled(running, None, now=NOW, is_charged=True) == TRACK


def test_a_job_under_way_changes_nothing() -> None:
    running = replace(TRACK, job_id="a")
    assert settled(running, job("queued"), now=NOW, is_charged=True) is running


def test_a_stored_result_costs_nothing_and_coming_again_is_no_change() -> None:
    track = replace(TRACK, result_job_id="a", result_at=NOW - HOUR, previous_job_id="older")
    asked = submitted(track, job("completed"), now=NOW, costs_a_scan=False)
    served = settled(asked, job("completed"), now=NOW, is_charged=False)
    assert (served.charged_day, served.charged_requests) == (None, 0)
    assert served.previous_job_id == "older"


def test_a_new_day_begins_with_nothing_spent() -> None:
    later = submitted(
        replace(TRACK, charged_day=day_number(NOW), charged_scans=3, charged_requests=40),
        job("queued"), now=NOW + timedelta(days=1), costs_a_scan=True,
    )  # fmt: skip
    assert (later.charged_day, later.charged_requests) == (day_number(NOW) + 1, 0)
    assert later.charged_scans == 1


def test_the_next_job_id_follows_from_the_row() -> None:
    assert next_job_id(CATALOG, TRACK) == next_job_id(CATALOG, replace(TRACK, music_id="1"))
    assert next_job_id(CATALOG, TRACK) != next_job_id(CATALOG, replace(TRACK, submission_count=1))
    anew = replace(CATALOG, created_at=NOW + HOUR)
    assert next_job_id(CATALOG, TRACK) != next_job_id(anew, TRACK)


def test_an_input_that_is_refused_is_a_failure_with_its_reason() -> None:
    after = refused(TRACK, InvalidMusicInputError("no track"), now=NOW)
    assert (after.failed_at, (after.error or {})["type"]) == (NOW, "invalid_music_input")
