"""Streams of events from a real process: clients that vanish, and a service that stops."""

import signal
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx2
import psutil
import pytest

from pipelines.domain.jobs import Progress
from tests.documents import MUSIC_ID
from tests.stage import Stage, open_stage

LIMIT = 20


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with open_stage(tmp_path, tmp_path) as built:
        built.settings = {"EVENT_STREAMS_MAX": str(LIMIT), "WORKER_LOST_AFTER_S": "600"}
        yield built


@contextmanager
def reading(api: httpx2.Client, job_id: str) -> Iterator[httpx2.Response]:
    """An open stream on a connection of its own, with its first event read."""
    with (
        closing(httpx2.Client(base_url=api.base_url, timeout=60)) as client,
        client.stream("GET", f"/api/v1/sametrack/jobs/{job_id}/events") as answer,
    ):
        yield answer


def status_of_a_new_stream(api: httpx2.Client, job_id: str) -> int:
    with reading(api, job_id) as answer:
        return answer.status_code


def test_clients_that_vanish_leave_no_thread_and_no_descriptor(stage: Stage) -> None:
    api = stage.start_api()
    job_id = stage.ask(MUSIC_ID, music_id=MUSIC_ID)
    (service,) = [child for child in stage.household._children if child.name == "serve"]
    process = psutil.Process(service.process.pid)
    assert status_of_a_new_stream(api, job_id) == 200
    files, threads = process.num_fds(), process.num_threads()
    for _ in range(3):
        streams = [reading(api, job_id) for _ in range(LIMIT)]
        assert [stream.__enter__().status_code for stream in streams] == [200] * LIMIT
        assert status_of_a_new_stream(api, job_id) == 503
        for stream in streams:
            stream.__exit__(None, None, None)
        stage.wait(lambda: status_of_a_new_stream(api, job_id) == 200)
    stage.wait(lambda: process.num_fds() <= files)
    assert process.num_threads() <= threads + 2  # the pool of threads does not grow with streams


def test_progress_reaches_a_reader_and_a_stop_ends_the_stream(stage: Stage) -> None:
    api = stage.start_api()
    job_id = stage.ask(MUSIC_ID, music_id=MUSIC_ID)
    (service,) = [child for child in stage.household._children if child.name == "serve"]
    with reading(api, job_id) as answer:
        lines = answer.iter_lines()
        assert any('"status":"queued"' in line for line in lines)
        stage.control.claim("worker")
        stage.control.save_progress(job_id, Progress(candidate_pool_count=41))
        assert any('"candidate_pool_count":41' in line for line in lines)
        service.process.send_signal(signal.SIGTERM)
        assert all("event: ended" not in line for line in lines)
    assert service.process.wait(20) == 0
