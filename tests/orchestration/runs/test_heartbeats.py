"""Heartbeats go on whatever fails, and one look at silence gives nobody up."""

import threading
from dataclasses import replace
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from pipelines.orchestration.runs.run_session import SILENT_CHECKS, SilenceWatch, heartbeats
from tests.fake_clock import START
from warehouse.records.jobs import Job, ProgressRecord

PATIENCE_S = 240.0  # a machine may be busy with other things; a test may take 600

JOB = Job(
    job_id="a", kind="scan", status="running", input="x", target="x", music_id=None, parameters={},
    fingerprint="f", scan_key=None, origin="api", priority=100, progress=ProgressRecord(),
    error=None, cancel_requested=False, worker_id="w", heartbeat_at=START, created_at=START,
    started_at=START, finished_at=None, expires_at=None,
)  # fmt: skip


@given(st.lists(st.booleans(), max_size=20))
def test_a_job_is_lost_after_so_many_silent_looks_in_a_row_and_never_before(
    silent: list[bool],
) -> None:
    watch = SilenceWatch()
    row = 0
    for is_silent in silent:
        row = row + 1 if is_silent else 0
        assert bool(watch.lost([JOB] if is_silent else [])) is (row >= SILENT_CHECKS)


def test_a_heartbeat_between_two_looks_begins_the_count_anew() -> None:
    watch = SilenceWatch()
    for number in range(3 * SILENT_CHECKS):
        late = replace(JOB, heartbeat_at=START + timedelta(seconds=30 * number))
        assert watch.lost([late]) == []


def test_a_heartbeat_that_fails_is_sent_again() -> None:
    tried: list[int] = []
    again = threading.Event()

    def beat() -> None:
        tried.append(len(tried))
        if len(tried) == 1:
            raise OSError("no space left on device")
        again.set()

    with heartbeats(beat, every_s=0.001):
        assert again.wait(PATIENCE_S)
