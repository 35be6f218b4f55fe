"""What is kept no longer goes, a bounded part at a time, and nothing else does."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from dagster import DagsterInstance, DagsterRunStatus, job, op
from typer.testing import CliRunner

from api.cli.main import app
from pipelines.open_stores import open_chosen_home
from pipelines.orchestration.worker.maintenance import (
    MaintenanceReport,
    StoreMaintainer,
    open_maintainer,
)
from pipelines.settings import Settings
from warehouse.control import jobs
from warehouse.control.jobs import NewJob
from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.record_rows import pack_document
from warehouse.queries.results import read_checkpointed_jobs, read_result_document

pytestmark = pytest.mark.full

KEPT = timedelta(days=30)


@op
def nothing() -> None:
    """Do nothing."""


@job(name="scan")
def empty_scan() -> None:
    """Stand in for the scan: only its run record matters here."""
    nothing()


@dataclass
class Store:
    keeper: StoreMaintainer
    engine: Engine
    now: datetime

    def completed(self, name: str) -> str:
        new = NewJob(
            kind="scan", input=name, target=name, music_id=None, parameters={}, fingerprint=name,
            scan_key=None, origin="api", priority=100,
        )  # fmt: skip
        job_id = jobs.create_or_join(self.keeper.control, new)[0].job_id
        row = {
            "job_id": job_id, "music_id": "1", "document": pack_document({"of": name}),
            "confirmed_count": 0, "algorithm": "test",
        }  # fmt: skip
        self.keeper.lake.append("marts.job_results", [row])
        jobs.finish(self.keeper.control, job_id, "completed", expires_at=self.now + KEPT)
        return job_id

    def result(self, job_id: str) -> Any:
        self.engine.refresh()
        return read_result_document(self.engine, job_id)


@pytest.fixture
def store(tmp_path: Path, instance: DagsterInstance) -> Iterator[Any]:
    settings = Settings(_env_file=None, profile="sandbox", data_home=tmp_path)
    with ExitStack() as stack:
        home = open_chosen_home(settings)
        keeper = open_maintainer(settings, home, instance, stack)
        engine = stack.enter_context(closing(Engine(keeper.lake)))
        yield Store(keeper, engine, datetime.now(UTC))


def test_expired_jobs_go_with_their_results_and_the_others_stay(store: Any) -> None:
    old, also_old = store.completed("old"), store.completed("also old")
    assert store.keeper.delete_expired(store.now) == MaintenanceReport()
    store.now += timedelta(days=1)
    newer = store.completed("newer")
    swept = store.keeper.delete_expired(store.now + KEPT - timedelta(hours=1))
    assert (swept.jobs, swept.results) == (2, 2)
    assert (jobs.get(store.keeper.control, old), store.result(also_old)) == (None, None)
    assert store.result(newer) == {"of": "newer"}
    assert jobs.get(store.keeper.control, newer) is not None


def test_maintenance_deletes_expired_jobs_in_bounded_batches(store: Any) -> None:
    store.keeper = replace(store.keeper, jobs_at_once=2)
    for number in range(5):
        store.completed(str(number))
    first = store.keeper.delete_expired(store.now + KEPT)
    assert (first.jobs, first.is_more) == (2, True)
    rest = store.keeper.maintain(store.now + KEPT)
    assert (rest.jobs, rest.results, rest.is_more) == (3, 3, False)


def test_states_of_ended_scans_are_kept_for_three_days_and_those_of_open_ones_longer(
    store: Any,
) -> None:
    ended = store.completed("ended")
    opened = jobs.create_or_join(
        store.keeper.control,
        NewJob(
            kind="scan", input="2", target="2", music_id=None, parameters={}, fingerprint="2",
            scan_key=None, origin="api", priority=100,
        )
    )[0].job_id  # fmt: skip
    for job_id in (ended, opened, "gone"):
        row = {
            "job_id": job_id, "number": 1, "run_number": 1, "stage": "track", "round": None,
            "revision": "test", "state": b"state",
        }  # fmt: skip
        store.keeper.lake.append("raw.scan_checkpoints", [row])

    def kept(after: timedelta) -> set[str]:
        store.keeper.delete_expired(store.now + after)
        store.engine.refresh()
        return set(read_checkpointed_jobs(store.engine))

    assert kept(timedelta(days=2)) == {ended, opened}
    assert kept(timedelta(days=3, minutes=1)) == {opened}


def test_runs_that_ended_long_ago_go_with_their_events(store: Any) -> None:
    instance = store.keeper.instance
    over = instance.create_run_for_job(empty_scan, status=DagsterRunStatus.STARTED)
    instance.report_run_failed(over)
    at_work = instance.create_run_for_job(empty_scan, status=DagsterRunStatus.STARTED)
    assert store.keeper.delete_expired(store.now + timedelta(days=29)).runs_deleted == 0
    assert store.keeper.delete_expired(store.now + timedelta(days=31)).runs_deleted == 1
    assert instance.get_run_by_id(over.run_id) is None
    assert instance.all_logs(over.run_id) == []
    assert instance.get_run_by_id(at_work.run_id) is not None


def test_the_command_tells_what_it_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROFILE", "sandbox")
    monkeypatch.setenv("DATA_HOME", str(tmp_path))
    said = CliRunner().invoke(app, ["maintain", "--json"])
    assert said.exit_code == 0
    assert json.loads(said.stdout)["jobs"] == 0
