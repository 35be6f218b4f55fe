"""Figures of scans, over HTTP: a whole one with its sounds rendered, its stored result, how soon a
new one takes its first step and how soon it is answered.
"""

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx2

from benchmarks.speed.running import Figure, RowOutput, Workspace
from pipelines.scan.state.scan_state import pack_state, unpack_state
from pipelines.settings import Settings
from tests.deployment import Deployment, open_deployment, wait_for

JOBS = "/api/v1/vidplat/app/v3/music_collection_jobs"
CANDIDATES = 150


def measure_scans(space: Workspace) -> Iterator[RowOutput]:
    """In a world whose sounds are rendered already, before processes that are warm."""
    yield "rendering the sounds of one track"
    with _running(space, "rendering") as (stage, api):
        tracks = [track["music_id"] for track in stage.world("/_world/tracks")["tracks"]]
        _scan(api, tracks[0], candidate_limit=CANDIDATES)
    yield "warming every process with a small scan"
    with _running(space, "scans") as (stage, api):
        _scan(api, tracks[1], candidate_limit=15)
        yield from _whole_scan(stage, api, tracks[0])
        yield from _stored_result(api, tracks[0])
        yield from _first_step(stage, api, tracks[2:9])
        yield from _post(api, tracks[9:])


@contextmanager
def _running(space: Workspace, name: str) -> Iterator[tuple[Deployment, httpx2.Client]]:
    with open_deployment(space.folder / name, space.sounds) as stage:
        # as the product has it, not as tests do: on a busy machine three seconds are no silence,
        # and the next scan need not wait for a process that is being replaced
        runs = Settings.model_fields["worker_runs"].default
        stage.settings = {
            "WORKER_LOST_AFTER_S": "60", "HEARTBEAT_S": "2", "WORKER_RUNS": str(runs),
        }  # fmt: skip
        stage.start_platform(seed=space.seed, size=space.size)
        stage.start_worker()
        yield stage, stage.start_api()


def _scan(api: httpx2.Client, music_id: str, **parameters: object) -> dict[str, Any]:
    job = api.post(JOBS, json={"input": music_id, **parameters}).json()["data"]
    poll = job["poll_url"]

    def look() -> dict[str, Any] | None:
        now: dict[str, Any] = api.get(poll).json()["data"]
        return now if now["status"] in {"completed", "failed", "cancelled"} else None

    ended = wait_for(look, max_wait_s=900)
    assert ended["status"] == "completed", ended["error"]
    return ended


def _whole_scan(stage: Deployment, api: httpx2.Client, music_id: str) -> Iterator[Figure]:
    before = stage.world("/_world/cpu")
    began = time.monotonic()
    job = _scan(api, music_id, candidate_limit=CANDIDATES)
    spent = time.monotonic() - began
    after = stage.world("/_world/cpu")
    split = stage.stopwatch(job["job_id"])
    own = split["own_s"] / split["total_s"]
    pool = job["result"]["candidate_pool_size"]
    heard = job["progress"]["audio_checked_count"]
    yield f"scan of {CANDIDATES} candidates, sounds rendered", f"{spent:.1f} s", "20 s"
    yield "  pool / sounds heard", f"{pool} / {heard}", ""
    yield "  upstream in flight", f"{split['upstream_s']:.1f} s", ""
    yield "  decoding and measuring in flight", f"{split['listening_s']:.1f} s", ""
    yield "  neither", f"{split['own_s']:.2f} s ({own:.1%})", "under 10 %"
    yield from _checkpoints(stage, job["job_id"])
    yield "  the platform's own CPU", f"{_cpu(after) - _cpu(before):.1f} s", "apart"


def _checkpoints(stage: Deployment, job_id: str) -> Iterator[Figure]:
    """How many states a scan keeps, how large they are, and what packing them takes of it."""
    text = "select state from raw.scan_checkpoints where job_id = $id order by number"
    packed = [row["state"] for row in stage.rows(text, id=job_id)]
    states = [unpack_state(one) for one in packed]
    began = time.perf_counter()
    for state in states:
        pack_state(state)
    spent = (time.perf_counter() - began) * 1000
    largest = max(map(len, packed)) / 1000
    yield "  checkpoints / the largest", f"{len(packed)} / {largest:.0f} kB", ""
    yield "  packing all checkpoints", f"{spent:.0f} ms", ""


def _cpu(answer: dict[str, Any]) -> float:
    return float(answer["total_s"])


def _stored_result(api: httpx2.Client, music_id: str) -> Iterator[Figure]:
    times = [
        _timed(lambda: api.post(JOBS, json={"input": music_id}), expected=200) for _ in range(30)
    ]
    yield "repeat from the stored result, median / p95", _spread(times), "30 ms"


def _first_step(stage: Deployment, api: httpx2.Client, music_ids: list[str]) -> Iterator[Figure]:
    times = []
    for music_id in music_ids:
        began = time.monotonic()
        job_id = api.post(JOBS, json={"input": music_id, "refresh": True}).json()["data"]["job_id"]
        while stage.job(job_id).progress.stage == "resolving":
            time.sleep(0.005)
        times.append(time.monotonic() - began)
        api.delete(f"{JOBS}/{job_id}")
        stage.ended(job_id)
    yield "POST to first step, median / p95", _spread(times), "2 s"


def _post(api: httpx2.Client, music_ids: list[str]) -> Iterator[Figure]:
    times: list[float] = []
    jobs: list[httpx2.Response] = []
    for n in range(100):
        body = {"input": music_ids[n % len(music_ids)], "count": n + 1, "refresh": True}
        times.append(_timed(lambda body=body: api.post(JOBS, json=body), expected=202, into=jobs))  # type: ignore[misc]  # bound at once
    for answer in jobs:
        api.delete(answer.json()["data"]["poll_url"])
    yield "POST to 202, median / p95", _spread(times), "p95 50 ms"


def _timed(
    call: Callable[[], httpx2.Response], *, expected: int, into: list[httpx2.Response] | None = None
) -> float:
    began = time.perf_counter()
    answer = call()
    spent = time.perf_counter() - began
    assert answer.status_code == expected, answer.text
    if into is not None:
        into.append(answer)
    return spent


def _spread(seconds: list[float]) -> str:
    ordered = sorted(seconds)
    p95 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
    return f"{statistics.median(ordered) * 1000:.1f} / {p95 * 1000:.1f} ms"
