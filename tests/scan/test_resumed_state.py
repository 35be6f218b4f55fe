"""What a later run of a job begins with, and what is taken back of the run before it."""

from dataclasses import replace
from typing import Any, NamedTuple, cast

import pytest

from pipelines.scan.runtime import Runtime
from pipelines.scan.state.scan_state import (
    CHECKPOINTS,
    ScanState,
    checkpoint_row,
    find_state,
    resume_scan,
    unpack_checkpoint,
)
from warehouse.control import ControlStore, jobs, scan_journal
from warehouse.control.jobs import NewJob
from warehouse.control.scan_journal import JournalRow
from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.store import Lake
from warehouse.records.jobs import Job

pytestmark = pytest.mark.full

FRESH = ScanState(settled={"fresh"})


class Stores(NamedTuple):
    """The part of a runtime that checkpoints need."""

    control: ControlStore
    lake: Lake
    engine: Engine

    @property
    def runtime(self) -> Runtime:
        return cast("Runtime", self)

    def job(self, run_number: int) -> Job:
        new = NewJob(
            kind="scan", input="1", target="1", music_id="1", parameters={}, fingerprint="1",
            scan_key=None, origin="cli", priority=100,
        )  # fmt: skip
        job, _ = jobs.create_or_join(self.control, new)
        return replace(job, run_number=run_number)

    def keep(self, job: Job, state: ScanState, /, **changed: Any) -> None:
        """Store a checkpoint after the second round, with some cells changed."""
        row = checkpoint_row(job, state, stage="raw/sounds", round_number=2)
        self.lake.append(CHECKPOINTS, [row | changed], job_id=job.job_id)

    def write_marts(self, job: Job) -> None:
        coverage = {
            "job_id": job.job_id, "surface": "music_list", "requests": 1, "pages": 1, "items": 1,
            "new_items": 1, "stop_reason": "exhausted", "foreign_rows": 0,
        }  # fmt: skip
        rounds = {"job_id": job.job_id, "round": 0, "music_ids": [], "new_confirmed_count": 1}
        self.lake.append("marts.coverage", [coverage], job_id=job.job_id)
        self.lake.append("marts.expansion_rounds", [rounds], job_id=job.job_id)

    def count(self, table: str) -> int:
        self.engine.refresh()
        return int(self.engine.rows(f"select count(*) as n from {table}")[0]["n"])


def of_the_journal(job: Job) -> JournalRow:
    return JournalRow(
        job_id=job.job_id, run_number=1, position=0, checkpoint=0, key="video/1", capture_id="c",
        document=b"", body=None,
    )  # fmt: skip


@pytest.fixture
def stores(opened_stores: tuple[ControlStore, Lake, Engine]) -> Stores:
    return Stores(*opened_stores)


def test_the_first_run_of_a_job_begins_with_what_it_is_given(stores: Stores) -> None:
    found = resume_scan(stores.runtime, stores.job(1), fresh=FRESH)
    assert found.state is FRESH
    assert (found.stage, found.round_number) == (None, None)


def test_a_later_run_without_a_checkpoint_begins_from_nothing(stores: Stores) -> None:
    job = stores.job(2)
    stores.write_marts(job)
    assert resume_scan(stores.runtime, job, fresh=FRESH).state == ScanState()
    assert (stores.count("marts.coverage"), stores.count("marts.expansion_rounds")) == (0, 0)


def test_a_later_run_goes_on_and_takes_back_what_came_after_the_checkpoint(stores: Stores) -> None:
    job = stores.job(2)
    state = ScanState(checkpoint=3, written={"coverage"}, settled={"m"})
    stores.keep(job, ScanState(checkpoint=2))
    stores.keep(job, state)
    stores.write_marts(job)
    found = resume_scan(stores.runtime, job, fresh=FRESH)
    assert (found.state, found.stage, found.round_number) == (state, "raw/sounds", 2)
    assert (stores.count("marts.coverage"), stores.count("marts.expansion_rounds")) == (1, 0)


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"revision": "of another release"}, id="another-revision"),
        pytest.param({"state": b"damaged"}, id="damaged"),
    ],
)
def test_a_checkpoint_that_cannot_be_read_is_deleted_and_the_scan_begins_again(
    stores: Stores, changed: dict[str, Any]
) -> None:
    job = stores.job(2)
    stores.keep(job, ScanState(checkpoint=1, written={"coverage"}), **changed)
    stores.write_marts(job)
    scan_journal.append(stores.control, of_the_journal(job))
    found = resume_scan(stores.runtime, job, fresh=FRESH)
    assert (found.state, found.stage) == (ScanState(), None)
    assert (stores.count(CHECKPOINTS), stores.count("marts.coverage")) == (0, 0)
    assert scan_journal.captures(stores.control, job.job_id) == []


def test_the_newest_state_with_the_wanted_steps_behind_it_is_found(stores: Stores) -> None:
    job = stores.job(1)
    early = ScanState(checkpoint=1, steps={"tracks": {}})
    stores.keep(job, early)
    stores.keep(job, ScanState(checkpoint=2, steps={"tracks": {}, "candidates": {}}))
    stores.keep(job, ScanState(checkpoint=3, steps={"tracks": {}}), revision="another")
    names = ["unknown", job.job_id]
    found = find_state(stores.runtime, names, finished=["tracks"], unfinished=["candidates"])
    assert found == early
    assert find_state(stores.runtime, names, finished=["rankings"], unfinished=[]) is None


def test_a_row_of_this_revision_gives_back_its_state(stores: Stores) -> None:
    state = ScanState(checkpoint=4, verified={"own": None})
    row = checkpoint_row(stores.job(1), state, stage="raw/sounds", round_number=None)
    assert row["round"] is None
    assert unpack_checkpoint(row) == state
