"""The newest jobs, read without SQLAlchemy: the same as the control store reads, or none at all."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.unit.cli.asked_scans import ask_for_scan
from warehouse.control import ControlStore, job_claims, jobs, open_control
from warehouse.control.migrations import MIGRATIONS
from warehouse.home.folder import CONTROL_VERSION
from warehouse.home.newest_jobs import read_newest_jobs
from warehouse.records.jobs import Job, ProgressRecord

NOW = datetime(2026, 9, 1, 12, 0, tzinfo=UTC)


class Times:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = NOW.timestamp()

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


@pytest.fixture
def url(tmp_path: Path) -> str:
    folder = tmp_path / "50% #1"  # in the address of a file, an escape and a fragment
    folder.mkdir()
    return f"sqlite:///{folder / 'control.sqlite'}"


@pytest.fixture
def control(url: str) -> Iterator[ControlStore]:
    with closing(open_control(url, world="sandbox", clock=Times())) as store:
        yield store


def read(url: str, *, world: str = "sandbox", limit: int = 500) -> list[Job] | None:
    return read_newest_jobs(url, world=world, limit=limit, kept_at=NOW + timedelta(days=1))


def fill(control: ControlStore) -> None:
    """Add a job of each status, and one whose retention period is over."""
    running = ProgressRecord(waiting_for="host_pause", eta_s=4.5, eta_range_s=(2.0, 9.0))
    for name in ("gone", "completed", "failed", "cancelled", "running"):
        job_id = ask_for_scan(control, name)
        if name == "cancelled":
            jobs.request_cancel(control, job_id)
            continue
        job_claims.claim(control, "worker")
        if name == "running":
            jobs.save_progress(control, job_id, running)
        elif name == "failed":
            jobs.finish(control, job_id, "failed", error={"type": "internal_error", "detail": "x"})
        else:
            kept_until = NOW if name == "gone" else NOW + timedelta(days=30)
            jobs.finish(control, job_id, "completed", expires_at=kept_until)
    ask_for_scan(control, "queued")


@pytest.mark.parametrize("limit", [1, 3, 500])
def test_jobs_are_those_that_the_store_reads(url: str, control: ControlStore, limit: int) -> None:
    fill(control)
    stored = jobs.newest(control, limit=limit, kept_at=NOW + timedelta(days=1))
    assert read(url, limit=limit) == stored
    assert [job.input for job in stored][:2] == ["queued", "running"][:limit]
    assert "gone" not in {job.input for job in stored}


def test_a_store_without_jobs_has_none(url: str, control: ControlStore) -> None:
    assert jobs.newest(control, limit=1) == []
    assert read(url) == []


def test_a_store_that_is_not_there_or_on_a_server_must_be_opened(url: str) -> None:
    assert read(url) is None
    assert read("postgresql+psycopg://user@host/base") is None
    assert not Path(url.removeprefix("sqlite:///")).exists()


@pytest.mark.parametrize(
    "change",
    [
        "update marks set value = value - 1 where name = 'schema_version'",
        "update marks set value = value + 1 where name = 'schema_version'",
        "update marks set value = 'public' where name = 'world'",
        "drop table marks",
        "alter table jobs drop column attempt",
    ],
    ids=["older", "newer", "another world", "no marks", "a missing column"],
)
def test_a_store_that_is_not_as_expected_must_be_opened(
    url: str, control: ControlStore, change: str
) -> None:
    fill(control)
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection, connection:
        connection.execute(change)
    assert read(url) is None


def test_a_damaged_store_must_be_opened(url: str) -> None:
    Path(url.removeprefix("sqlite:///")).write_bytes(b"no database" * 100)
    assert read(url) is None


def test_the_version_is_that_of_the_newest_migration() -> None:
    assert max(step.number for step in MIGRATIONS) == CONTROL_VERSION
