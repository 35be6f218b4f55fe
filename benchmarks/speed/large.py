"""Large work: ranking a hundred thousand confirmed works, a scan of two thousand candidates.

Memory is PSS, so that pages which processes share are counted once. `python -m
benchmarks.speed.large` runs this part alone.
"""

import random
import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx2
import psutil

from benchmarks.speed.running import Figure, RowOutput, Workspace, run_alone
from pipelines.parameters.scan import ScanParameters
from pipelines.scan.rules.results import view_result
from tests.deployment import Deployment, open_deployment, wait_for
from tests.stored_results import result, work

JOBS = "/api/v1/vidplat/app/v3/music_collection_jobs"
WORKS = 100_000
SIZE, TRACKS = 9, 4  # few tracks: more than two thousand videos to look at around each of them
SEED = 7
LOOK_EVERY_S = 0.5


def measure_ranking(space: Workspace) -> Iterator[Figure]:
    """The view of a result with a hundred thousand confirmed works, in processor time."""
    draw = random.Random(SEED)
    pattern = work(1)
    ranked = [_work(pattern, draw) for _ in range(WORKS)]
    document = result(1) | {"ranked": ranked, "confirmed_count": WORKS}
    for order in ("hot_score", "latest"):
        began = time.process_time()
        view_result(document, ScanParameters(sort_by=order, count=500))
        spent = time.process_time() - began
        yield f"ranking of {WORKS:,} works by {order}", f"{spent * 1000:.0f} ms", "300 ms"


def measure_large_scans(space: Workspace) -> Iterator[RowOutput]:
    """Scans of 200 and of 2,000 candidates: time, and the memory of API, worker and pool."""
    with open_deployment(space.folder / "large scans", space.sounds) as deployment:
        deployment.start_platform(seed=SEED, size=SIZE, tracks=TRACKS)
        deployment.start_worker(WORKER_RUNS="1")
        api = deployment.start_api()
        track = deployment.world("/_world/tracks")["tracks"][0]["music_id"]
        yield "rendering the sounds of 2,000 candidates"
        _scan(api, track, 2000)  # renders the sounds, so that both are measured alike
        scans = []
        for limit in (200, 2000):
            scans.append(_watched_scan(deployment, api, track, limit))
            pool, seconds, _ = scans[-1]
            yield f"scan of {pool:,} candidates", f"{seconds:.1f} s", ""
    small, large = (seconds for _, seconds, _ in scans)
    per = [(seconds / pool) for pool, seconds, _ in scans]
    yield "  seconds per candidate, large over small", f"{per[1] / per[0]:.2f}", "1.0"
    yield "  API, worker and pool, PSS at most", f"{scans[1][2]:,.0f} MB", "1,500 MB"
    yield "  time, large over small", f"{large / small:.1f}", ""


def _watched_scan(
    deployment: Deployment, api: httpx2.Client, track: str, limit: int
) -> tuple[int, float, float]:
    watch = _Memory(deployment)
    began = time.monotonic()
    with watch:
        job = _scan(api, track, limit)
    return job["result"]["candidate_pool_size"], time.monotonic() - began, watch.most_mb


class _Memory:
    """The most that API and worker held together with their children, looked at twice a second."""

    def __init__(self, deployment: Deployment) -> None:
        own = {
            child.process.pid
            for child in deployment.process_group.children
            if child != deployment.platform
        }
        self._roots = [psutil.Process(pid) for pid in own]
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self.most_mb = 0.0

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_exc: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._is_over.wait(LOOK_EVERY_S):
            self.most_mb = max(self.most_mb, sum(map(_pss_mb, self._family())))

    def _family(self) -> list[psutil.Process]:
        return [
            *self._roots,
            *(kid for root in self._roots for kid in root.children(recursive=True)),
        ]


def _pss_mb(process: psutil.Process) -> float:
    try:
        return float(process.memory_full_info().pss) / 1e6
    except psutil.NoSuchProcess:
        return 0.0


def _scan(api: httpx2.Client, track: str, limit: int) -> dict[str, Any]:
    body = {"input": track, "candidate_limit": limit, "count": 500, "refresh": True}
    poll = api.post(JOBS, json=body).json()["data"]["poll_url"]

    def look() -> dict[str, Any] | None:
        now: dict[str, Any] = api.get(poll).json()["data"]
        return now if now["status"] in {"completed", "failed", "cancelled"} else None

    ended = wait_for(look, max_wait_s=3600)
    assert ended["status"] == "completed", ended["error"]
    return ended


def _work(pattern: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    counts = {name: draw.randrange(10**6) for name in pattern["statistics"]}
    name = str(7_300_000_000_000_000_000 + draw.randrange(10**15))
    return pattern | {
        "aweme_id": name, "statistics": counts, "create_time": draw.randrange(10**9),
    }  # fmt: skip


def _both(space: Workspace) -> Iterator[RowOutput]:
    yield from measure_ranking(space)
    yield from measure_large_scans(space)


if __name__ == "__main__":
    run_alone("large", _both)
