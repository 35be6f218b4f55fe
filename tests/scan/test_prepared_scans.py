"""What a worker finds out about a job before it scans: a stored result, a twin, or neither."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, Self, cast

import pytest

from pipelines.scan.runtime import Runtime
from pipelines.scan.service import preparation
from pipelines.scan.service.preparation import PreparedScan, prepare_scan
from warehouse.control import jobs
from warehouse.records.jobs import DISCOVERY, KEYWORD_SEARCH, SCAN, Job, ProgressRecord

MUSIC_ID = "7300000000000000001"


def job_of(kind: str, music_id: str | None = None) -> Job:
    return Job(
        job_id="job", kind=kind, status="running", input="http://link", target="http://link",
        music_id=music_id, parameters={}, fingerprint="f", scan_key=None, origin="cli",
        priority=100, progress=ProgressRecord(), error=None, cancel_requested=False,
        worker_id="worker", heartbeat_at=None, created_at=datetime(2026, 1, 31, tzinfo=UTC),
        started_at=None, finished_at=None, expires_at=None,
    )  # fmt: skip


@dataclass
class PreparedStores:
    """What is stored, and who holds the lease; `done` is what was asked for."""

    has_result: bool = False
    twin: str | None = None
    done: list[str] = field(default_factory=list)
    scan_keys: set[str] = field(default_factory=set)

    world = "sandbox"
    music_provider = "public-graph"

    @property
    def control(self) -> None:
        return None

    def set_target(self, _control: object, job_id: str, *, music_id: str, scan_key: str) -> None:
        self.done.append(f"target of {job_id}: {music_id}")
        self.scan_keys.add(scan_key)

    def serve_stored(self, _runtime: Runtime, job: Job, key: str, _parameters: object) -> bool:
        assert key in self.scan_keys
        self.done.append(f"stored result for {job.job_id}")
        return self.has_result

    def acquire(
        self, _runtime: Runtime, _job: Job, music_id: str, _key: str, *, waited_for: str | None
    ) -> PreparedScan:
        self.done.append(f"lease after {waited_for}")
        return PreparedScan(music_id, waits_for=self.twin)

    def prepare(self, job: Job, **named: str) -> PreparedScan:
        return prepare_scan(cast("Runtime", self), job, **named)


class ResolvingScan:
    """A scan that is opened for the resolving of its input alone."""

    def __init__(self, _runtime: Runtime, job: Job, *, music_id: str) -> None:
        assert music_id == ""
        self._input = job.input
        self.captures = SimpleNamespace(resolve=lambda text: f"target of {text}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is open."""

    def wait_for(self, target: Any) -> str:
        assert target == f"target of {self._input}"
        return MUSIC_ID


@pytest.fixture
def stores(monkeypatch: pytest.MonkeyPatch) -> PreparedStores:
    made = PreparedStores()
    monkeypatch.setattr(preparation, "ScanRun", ResolvingScan)
    monkeypatch.setattr(jobs, "set_target", made.set_target)
    monkeypatch.setattr(preparation, "serve_stored", made.serve_stored)
    monkeypatch.setattr(preparation, "acquire_scan_lease", made.acquire)
    return made


def test_a_link_whose_track_has_a_result_needs_no_scan(stores: PreparedStores) -> None:
    stores.has_result = True
    assert stores.prepare(job_of(SCAN)) == PreparedScan(MUSIC_ID, is_served=True)
    assert stores.done == [f"target of job: {MUSIC_ID}", "stored result for job"]


def test_a_link_whose_track_has_none_is_scanned_once_the_lease_is_held(
    stores: PreparedStores,
) -> None:
    assert stores.prepare(job_of(SCAN)) == PreparedScan(MUSIC_ID)
    assert stores.done == [
        f"target of job: {MUSIC_ID}", "stored result for job", "lease after None",
    ]  # fmt: skip


@pytest.mark.parametrize("kind", [SCAN, DISCOVERY])
def test_for_a_music_id_the_stored_results_have_been_looked_at_before(
    kind: str, stores: PreparedStores
) -> None:
    stores.twin = "twin"
    prepared = stores.prepare(job_of(kind, "70001"), waited_for="another")
    assert prepared == PreparedScan("70001", waits_for="twin")
    assert stores.done == ["target of job: 70001", "lease after another"]


def test_a_search_by_name_has_no_track_to_find(stores: PreparedStores) -> None:
    assert stores.prepare(job_of(KEYWORD_SEARCH)) == PreparedScan("")
    assert stores.done == []
