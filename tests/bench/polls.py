"""Figures of looking at jobs and of stopping them, while two scans run.

`python -m tests.bench.polls [--seconds 15] [--rate 200]`. Polls are sent at a fixed rate whatever
the answers take, so a slow answer delays no other; the times include the client.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import httpx2
from rich.console import Console

from pipelines.domain.jobs import Job
from tests.stage import Stage, open_stage, wait_for

type Figure = tuple[str, str, str]

JOBS = "/api/v1/vidplat/app/v3/music_collection_jobs"
SEED, SIZE = 7, 0.3
SLOW_MS = 300


def measure_polls(root: Path, cache: Path, *, rate: int = 200, seconds: float = 15) -> list[Figure]:
    """Poll latency while two scans run, then how long a cancel takes."""
    root.mkdir(parents=True, exist_ok=True)
    with open_stage(root, cache) as stage:
        stage.settings = {
            "WORKER_LOST_AFTER_S": "60",
            "HEARTBEAT_S": "2",
        }  # a bench is no test of that
        stage.start_platform(seed=SEED, size=SIZE, latency_ms=SLOW_MS)
        stage.start_worker(WORKER_RUNS="2")
        api = stage.start_api()
        tracks = [track["music_id"] for track in stage.world("/_world/tracks")["tracks"]]
        ids = [stage.ask(music_id, music_id=music_id) for music_id in tracks[:2]]
        for job_id in ids:
            _wait(stage, job_id, lambda job: job.progress.detail_checked_count > 0)
        times = asyncio.run(_poll(str(api.base_url), ids, rate=rate, seconds=seconds))
        cancels = [_cancel(stage, api, job_id) for job_id in ids]
        heard = _cancel_while_listening(stage, api, tracks[2])
    return [
        (f"poll at {rate}/s while two scans run, median / p99", _spread(times), "p99 10 ms"),
        ("cancel while waiting for upstream", f"{max(cancels):.2f} s", "5 s"),
        ("cancel while listening", f"{heard:.2f} s", "10 s"),
    ]


async def _poll(base_url: str, job_ids: list[str], *, rate: int, seconds: float) -> list[float]:
    times: list[float] = []

    async def one(client: httpx2.AsyncClient, number: int) -> None:
        began = time.perf_counter()
        answer = await client.get(f"{JOBS}/{job_ids[number % len(job_ids)]}")
        times.append(time.perf_counter() - began)
        assert answer.status_code == 200, answer.text

    async with httpx2.AsyncClient(base_url=base_url, timeout=30) as client:
        began, asked = time.perf_counter(), []
        for number in range(int(rate * seconds)):
            await asyncio.sleep(max(0.0, began + number / rate - time.perf_counter()))
            asked.append(asyncio.create_task(one(client, number)))
        await asyncio.gather(*asked)
    return times


def _cancel(stage: Stage, api: httpx2.Client, job_id: str) -> float:
    began = time.monotonic()
    api.delete(f"{JOBS}/{job_id}").raise_for_status()
    job = stage.ended(job_id)
    assert job.status in {"cancelled", "completed"}, job.error
    return time.monotonic() - began


def _cancel_while_listening(stage: Stage, api: httpx2.Client, music_id: str) -> float:
    job_id = stage.ask(music_id, music_id=music_id)
    _wait(stage, job_id, lambda job: job.progress.audio_checked_count > 0)
    return _cancel(stage, api, job_id)


def _wait(stage: Stage, job_id: str, holds: Callable[[Job], bool]) -> None:
    wait_for(lambda: holds(stage.job(job_id)) or stage.job(job_id).finished_at is not None)


def _spread(seconds: list[float]) -> str:
    ordered = sorted(seconds)
    p99 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
    return f"{statistics.median(ordered) * 1000:.1f} / {p99 * 1000:.1f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=15)
    options = parser.parse_args()
    console = Console(width=130)
    with tempfile.TemporaryDirectory() as folder:
        for figure in measure_polls(
            Path(folder) / "stage",
            Path(folder) / "sounds",
            rate=options.rate,
            seconds=options.seconds,
        ):
            console.print(*figure, sep="   ")


if __name__ == "__main__":
    main()
