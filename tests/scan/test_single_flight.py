"""Jobs that learn at the same moment that they ask for the same scan."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from threading import Barrier
from typing import Any

import pytest

from pipelines.scan.service.preparation import PreparedScan, acquire_scan_lease
from warehouse.control import ControlStore, jobs, leases
from warehouse.control import jobs as job_claims
from warehouse.control.jobs import NewJob
from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.record_rows import pack_document
from warehouse.lake.store import Lake
from warehouse.queries.results import read_result_document
from warehouse.records.jobs import Job

pytestmark = pytest.mark.full

KEPT = timedelta(days=1)
DOCUMENT = {"music_id": "1", "confirmed_count": 7, "algorithm": "test"}


@dataclass(slots=True)
class Stores:
    """The part of a runtime that serving from a twin needs, and the life of a job in it."""

    control: ControlStore
    lake: Lake
    engine: Engine

    def running_job(self, link: str) -> Job:
        new = NewJob(
            kind="scan", input=link, target=link, music_id=None, parameters={},
            fingerprint=link, scan_key=None, origin="cli", priority=100,
        )  # fmt: skip
        jobs.create_or_join(self.control, new)
        job = job_claims.claim(self.control, "worker")
        assert job is not None
        return job

    def complete(self, job: Job) -> None:
        row = {"job_id": job.job_id, "document": pack_document(DOCUMENT), **DOCUMENT}
        self.lake.append("marts.job_results", [row], job_id=job.job_id)
        self.end(job, "completed")

    def end(self, job: Job, status: Any) -> None:
        jobs.finish(self.control, job.job_id, status, expires_at=datetime.now(UTC) + KEPT)


@pytest.fixture
def stores(opened_stores: tuple[ControlStore, Lake, Engine]) -> Stores:
    return Stores(*opened_stores)


def settle(stores: Any, job: Job) -> PreparedScan:
    """Ask until it is known whether this job scans or is served, as a worker does."""
    held = acquire_scan_lease(stores, job, "1", "twin")
    while held.waits_for is not None:
        time.sleep(0.01)
        held = acquire_scan_lease(stores, job, "1", "twin", waited_for=held.waits_for)
    return held


def test_simultaneous_equal_jobs_share_one_scan(stores: Any) -> None:
    jobs = [stores.running_job(f"link {number}") for number in range(6)]
    start = Barrier(len(jobs))

    def run(job: Job) -> bool:
        start.wait()
        served = settle(stores, job).is_served
        if served:
            stores.end(job, "completed")
        else:
            stores.complete(job)
        return served

    with ThreadPoolExecutor(len(jobs)) as threads:
        served = list(threads.map(run, jobs))
    assert served.count(False) == 1
    scanned = jobs[served.index(False)].job_id
    stores.engine.refresh()
    for job, is_copy in zip(jobs, served, strict=True):
        named = {"scan_job_id": scanned} if is_copy else {}
        assert read_result_document(stores.engine, job.job_id) == DOCUMENT | named


def test_second_job_of_a_scan_waits_for_the_lease_of_the_first(stores: Any) -> None:
    first, second = stores.running_job("a"), stores.running_job("b")
    assert acquire_scan_lease(stores, first, "1", "twin") == PreparedScan("1")
    assert acquire_scan_lease(stores, second, "1", "twin") == PreparedScan(
        "1", waits_for=first.job_id
    )
    assert acquire_scan_lease(stores, first, "1", "twin") == PreparedScan("1")


def test_waiting_job_is_served_by_the_result_after_the_lease_is_released(
    stores: Any,
) -> None:
    first, second = stores.running_job("a"), stores.running_job("b")
    assert acquire_scan_lease(stores, first, "1", "twin") == PreparedScan("1")
    waits_for = acquire_scan_lease(stores, second, "1", "twin").waits_for
    stores.complete(first)
    leases.release_all(stores.control, first.job_id)
    assert acquire_scan_lease(stores, second, "1", "twin", waited_for=waits_for) == PreparedScan(
        "1", is_served=True
    )


def test_when_the_one_that_scans_fails_another_scans(stores: Any) -> None:
    first, second = stores.running_job("a"), stores.running_job("b")
    assert acquire_scan_lease(stores, first, "1", "twin") == PreparedScan("1")
    stores.end(first, "failed")
    assert acquire_scan_lease(stores, second, "1", "twin") == PreparedScan("1")
    assert leases.holder(stores.control, "scan:twin") == second.job_id


def test_a_result_from_before_the_question_is_not_taken_as_a_twins(stores: Any) -> None:
    first = stores.running_job("a")
    assert acquire_scan_lease(stores, first, "1", "twin") == PreparedScan("1")
    stores.complete(first)
    later = stores.running_job("b")
    assert acquire_scan_lease(stores, later, "1", "twin") == PreparedScan("1")


def test_scans_of_different_things_do_not_wait_for_each_other(stores: Any) -> None:
    first, second = stores.running_job("a"), stores.running_job("b")
    assert (
        acquire_scan_lease(stores, first, "1", "one")
        == acquire_scan_lease(stores, second, "1", "other")
        == PreparedScan("1")
    )
