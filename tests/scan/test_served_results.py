"""A job is served by a stored result only if that satisfies it and can be read."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pipelines.parameters.scan import ScanParameters
from pipelines.scan.runtime import Runtime
from pipelines.scan.service.preparation import PreparedScan, acquire_scan_lease, serve_stored
from warehouse.control import ControlStore, jobs, leases
from warehouse.control.jobs import NewJob
from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.record_rows import pack_document
from warehouse.lake.store import Lake
from warehouse.queries.results import read_result_document
from warehouse.records.jobs import Job

pytestmark = pytest.mark.full

KEY = "the same scan"
WANTED = ScanParameters(candidate_limit=50)


@dataclass
class Stores:
    """The part of a runtime that serving needs."""

    control: ControlStore
    lake: Lake
    engine: Engine
    settings: Any = field(default_factory=lambda: SimpleNamespace(result_cache_ttl=3600))

    @property
    def runtime(self) -> Runtime:
        return cast("Runtime", self)

    def running(self, text: str) -> Job:
        new = NewJob(
            kind="scan", input=text, target=text, music_id="1", parameters={}, fingerprint=text,
            scan_key=KEY, origin="cli", priority=100,
        )  # fmt: skip
        jobs.create_or_join(self.control, new)
        job = jobs.claim(self.control, "worker")
        assert job is not None
        return job

    def completed(self, text: str, document: dict[str, Any] | None) -> Job:
        """A job that has ended; without a document its result is lost."""
        job = self.running(text)
        if document is not None:
            row = {
                "job_id": job.job_id, "document": pack_document(document), "music_id": "1",
                "confirmed_count": 0, "algorithm": "a",
            }  # fmt: skip
            self.lake.append("marts.job_results", [row], job_id=job.job_id)
        until = datetime.now(UTC) + timedelta(days=1)
        jobs.finish(self.control, job.job_id, "completed", expires_at=until)
        self.engine.refresh()
        return job

    def result_of(self, job: Job) -> Any:
        self.engine.refresh()
        return read_result_document(self.engine, job.job_id)


def document_of(candidate_limit: int) -> dict[str, Any]:
    """A result as deep as this; the track has no more videos."""
    return {
        "music_id": "1", "confirmed_count": 0, "algorithm": "a", "ranked": [],
        "parameters": ScanParameters(candidate_limit=candidate_limit).to_document(),
        "sources_ended_by_exhaustion": {"music": False, "search": True, "accounts": True},
        "keyword": "a search ranks nothing",
    }  # fmt: skip


@pytest.fixture
def stores(opened_stores: tuple[ControlStore, Lake, Engine]) -> Stores:
    return Stores(*opened_stores)


def test_results_that_are_lost_or_not_deep_enough_are_passed_over(stores: Stores) -> None:
    stores.completed("lost", None)
    stores.completed("shallow", document_of(20))
    job = stores.running("job")
    assert not serve_stored(stores.runtime, job, KEY, WANTED)
    assert stores.result_of(job) is None
    deep = stores.completed("deep", document_of(60))
    assert serve_stored(stores.runtime, job, KEY, WANTED)
    assert stores.result_of(job) == document_of(60) | {"scan_job_id": deep.job_id}


def test_a_copy_of_a_copied_result_names_the_job_that_scanned(stores: Stores) -> None:
    stores.completed("served", document_of(60) | {"scan_job_id": "the first"})
    job = stores.running("job")
    assert serve_stored(stores.runtime, job, KEY, WANTED)
    assert stores.result_of(job)["scan_job_id"] == "the first"


def test_a_result_gets_no_younger_by_being_served(stores: Stores) -> None:
    original = stores.completed("deep", document_of(60))
    job = stores.running("job")
    assert serve_stored(stores.runtime, job, KEY, WANTED)
    jobs.finish(stores.control, job.job_id, "completed", expires_at=datetime.now(UTC))
    found = jobs.completed(stores.control, KEY, since=datetime(2000, 1, 1, tzinfo=UTC))
    assert [one.job_id for one in found] == [original.job_id]


def test_an_equal_job_whose_result_is_lost_leaves_the_scan_to_the_next_one(stores: Stores) -> None:
    job = stores.running("job")
    twin = stores.completed("twin", None)
    assert leases.acquire(stores.control, "scan:key", twin.job_id, 60)
    found = acquire_scan_lease(stores.runtime, job, "1", "key", waited_for=twin.job_id)
    assert found == PreparedScan("1")
    assert leases.holder(stores.control, "scan:key") == job.job_id


def test_a_lease_that_is_given_back_meanwhile_is_asked_for_again(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, twin = stores.running("job"), stores.running("twin")
    leases.acquire(stores.control, "scan:key", twin.job_id, 60)
    holder_of = leases.holder

    def give_back(control: ControlStore, name: str) -> str | None:
        leases.release_all(control, twin.job_id)
        return holder_of(control, name)

    monkeypatch.setattr(leases, "holder", give_back)
    assert acquire_scan_lease(stores.runtime, job, "1", "key") == PreparedScan("1")
    assert holder_of(stores.control, "scan:key") == job.job_id
