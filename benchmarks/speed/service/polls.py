"""Figures of looking at jobs and of stopping them, while two scans run.

`python -m benchmarks.speed.service.polls [--seconds 15] [--rate 200]`. Polls are sent at a fixed
rate whatever the answers take, so a slow answer delays no other; the times include the client.
"""

import argparse
import asyncio
import gc
import statistics
import time
from collections.abc import Callable, Iterator

import httpx2

from benchmarks.speed.running import RowOutput, Workspace, run_alone
from tests.deployment import Deployment, open_deployment, wait_for
from warehouse.records.jobs import Job

JOBS = "/api/v1/vidplat/app/v3/music_collection_jobs"
SEED, SIZE = 7, 0.3
SLOW_MS = 300
LINES = 20


def measure_polls(space: Workspace, *, rate: int = 200, seconds: float = 15) -> Iterator[RowOutput]:
    """Poll latency while two scans run, then how long a cancel takes."""
    with open_deployment(space.folder / "polls", space.sounds) as deployment:
        deployment.settings = {
            "WORKER_LOST_AFTER_S": "60",
            "HEARTBEAT_S": "2",
            "RATE_LIMIT_PER_S": "0",
        }  # a bench is no test of that
        deployment.start_platform(seed=SEED, size=SIZE, latency_ms=SLOW_MS)
        deployment.start_worker(WORKER_RUNS="2")
        api = deployment.start_api()
        tracks = [track["music_id"] for track in deployment.world("/_world/tracks")["tracks"]]
        yield "rendering the sounds of three tracks"
        # the platform is not what is measured
        for asked in [deployment.ask(music_id, music_id=music_id) for music_id in tracks[:3]]:
            deployment.ended(asked, max_wait_s=900)
        ids = [deployment.ask(music_id, music_id=music_id, refresh=True) for music_id in tracks[:2]]
        for job_id in ids:
            _wait(deployment, job_id, lambda job: job.progress.detail_checked_count > 0)
        yield f"polling for {seconds:g} s"
        times = asyncio.run(_poll(api.base_url.port or 80, ids, rate=rate, seconds=seconds))
        yield f"poll at {rate}/s while two scans run, median / p99", _spread(times), "p99 10 ms"
        cancels = [_cancel(deployment, api, job_id) for job_id in ids]
        yield "cancel while waiting for upstream", f"{max(cancels):.2f} s", "5 s"
        heard = _cancel_while_listening(deployment, api, tracks[2])
        yield "cancel while listening", f"{heard:.2f} s", "10 s"


class Line:
    """One kept connection. A whole client library would cost more than the service it measures."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()

    async def open(self, port: int) -> None:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", port)

    async def get(self, path: str) -> float:
        """Seconds until the whole answer is there; waiting for one's turn counts."""
        began = time.perf_counter()
        async with self._turn:
            self._writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            head = await self._reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200"), head
            length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
            await self._reader.readexactly(int(length))
        return time.perf_counter() - began

    async def close(self) -> None:
        self._writer.close()
        await self._writer.wait_closed()


async def _poll(port: int, job_ids: list[str], *, rate: int, seconds: float) -> list[float]:
    lines = [Line() for _ in range(LINES)]
    for line in lines:
        await line.open(port)
    gc.collect()
    gc.freeze()  # a collection over all that a bench imports would be taken for a slow answer
    began, asked = time.perf_counter(), []
    for number in range(int(rate * seconds)):
        await asyncio.sleep(max(0.0, began + number / rate - time.perf_counter()))
        path = f"{JOBS}/{job_ids[number % len(job_ids)]}"
        asked.append(asyncio.create_task(lines[number % LINES].get(path)))
    times = await asyncio.gather(*asked)
    gc.unfreeze()
    for line in lines:
        await line.close()
    return times


def _cancel(deployment: Deployment, api: httpx2.Client, job_id: str) -> float:
    began = time.monotonic()
    api.delete(f"{JOBS}/{job_id}").raise_for_status()
    job = deployment.ended(job_id)
    assert job.status in {"cancelled", "completed"}, job.error
    return time.monotonic() - began


def _cancel_while_listening(deployment: Deployment, api: httpx2.Client, music_id: str) -> float:
    job_id = deployment.ask(music_id, music_id=music_id, refresh=True)
    _wait(deployment, job_id, lambda job: job.progress.audio_checked_count > 0)
    return _cancel(deployment, api, job_id)


def _wait(deployment: Deployment, job_id: str, holds: Callable[[Job], bool]) -> None:
    wait_for(
        lambda: holds(deployment.job(job_id)) or deployment.job(job_id).finished_at is not None
    )


def _spread(seconds: list[float]) -> str:
    ordered = sorted(seconds)
    p99 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
    return f"{statistics.median(ordered) * 1000:.1f} / {p99 * 1000:.1f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=15)
    options = parser.parse_args()
    run_alone(
        "polls", lambda space: measure_polls(space, rate=options.rate, seconds=options.seconds)
    )


if __name__ == "__main__":
    main()
