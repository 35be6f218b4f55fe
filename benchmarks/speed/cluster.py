"""`python -m benchmarks.speed.cluster`: scans on one Celery worker and on three, one of them
killed.

The sandbox answers late, as a platform does, so that waiting is what a scan mostly does. Results
must be equal: same videos, verdicts and order. The parts that need a processor (decoding and
matching) share the processors of this machine, whatever the number of workers.
"""

import argparse
import time
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from rich.console import Console

from tests.deploy.clusters import OpenCluster, open_cluster

SEED, SIZE = 7, 0.3
console = Console(width=110, highlight=False)


def main() -> int:
    options = _options()
    world = {
        "seed": SEED, "size": SIZE, "latency_ms": options.latency_ms, "apis": 1,
        "sound_cache": Path(options.cache),
    }  # fmt: skip
    if not Path(options.cache).exists():
        console.print("first, not counted: the same scans without delay, to render the sounds")
        _measured(options.workers, options, world | {"latency_ms": 0}, is_killed=False)
    console.print(f"{options.scans} scans, every answer after {options.latency_ms} ms")
    alone = _measured(1, options, world, is_killed=False)
    shared = _measured(options.workers, options, world, is_killed=False)
    killed = _measured(options.workers, options, world, is_killed=True)
    differ = [one for one in alone[1] if not alone[1][one] == shared[1][one] == killed[1][one]]
    console.print(f"results that differ: {len(differ)} of {len(alone[1])} {differ}")
    console.print(
        f"one worker {alone[0]:.1f} s, {options.workers} workers {shared[0]:.1f} s: "
        f"{alone[0] / shared[0]:.2f} times as fast; with one killed {killed[0]:.1f} s"
    )
    return 1 if differ else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scans", type=int, default=10)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--latency-ms", type=int, default=3000)
    parser.add_argument("--candidates", type=int, default=15)
    parser.add_argument("--cache", default=str(Path(gettempdir(), "sametrack-bench-sounds")))
    return parser.parse_args()


def _measured(
    workers: int, options: argparse.Namespace, world: dict[str, Any], *, is_killed: bool
) -> tuple[float, dict[str, Any]]:
    """Seconds from the first request to the last result, and the results by track."""
    with open_cluster(celery_workers=workers, **world) as cluster:
        began = time.monotonic()
        asked = {"candidate_limit": options.candidates, "search_enabled": False}
        tracks = cluster.tracks()[: options.scans]
        jobs = {track: cluster.ask(track, **asked) for track in tracks}
        if is_killed:
            _kill_one(cluster, jobs)
        ended = {track: cluster.ended(job_id) for track, job_id in jobs.items()}
        took = time.monotonic() - began
    attempts = sum(job["progress"]["attempt"] for job in ended.values())
    videos = sum(len((job["result"] or {}).get("aweme_list", [])) for job in ended.values())
    console.print(f"{workers} workers: {took:.1f} s, {attempts} attempts, {videos} ranked videos")
    return took, {track: _outcome(job) for track, job in ended.items()}


def _kill_one(cluster: OpenCluster, jobs: dict[str, str]) -> None:
    """Kill a worker in the middle of a scan: some details are read, more are to come."""

    def is_reading() -> bool:
        progress = [cluster.job(job_id)["progress"] for job_id in jobs.values()]
        return any(one["detail_checked_count"] >= 4 for one in progress)

    cluster.wait(is_reading)
    (number, *_) = cluster.busy_workers()
    cluster.kill_celery_worker(number)
    console.print(f"killed Celery worker {number}")


def _outcome(job: Any) -> Any:
    """What must not depend on where a scan ran."""
    result = job["result"] or {}
    videos = result.get("aweme_list", [])
    return job["status"], [(one["aweme_id"], one["link_type"], one["hot_score"]) for one in videos]


if __name__ == "__main__":
    raise SystemExit(main())
