"""`make bench`: the figures of the hot paths, in one run, as a table.

Every figure is taken where a user meets it: real processes, real HTTP, sound rendered beforehand,
the stand-in platform's politeness delay off and its processor time stated apart. Read the ratios:
a shared machine moves all of them together.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
from rich.console import Console
from rich.table import Table

from tests.bench.audio import measure_audio
from tests.bench.cached_reads import measure_cached_reads
from tests.bench.chart_history import measure_chart_history
from tests.bench.console import measure_console
from tests.bench.large import measure_ranking
from tests.bench.maintenance import measure_maintenance
from tests.bench.parsers import measure_parsers
from tests.bench.polls import measure_polls
from tests.bench.reads import measure_reads
from tests.bench.stores import measure_stores
from tests.bench.twelve_weeks import measure_twelve_weeks
from tests.stage import Stage, open_stage, wait_for

JOBS = "/api/v1/vidplat/app/v3/music_collection_jobs"
console = Console(width=130)

type Figure = tuple[str, str, str]


def main() -> None:
    options = _options()
    table = Table(title=f"seed {options.seed}, size {options.size}")
    for name in ("what", "measured", "aim"):
        table.add_column(name)
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(options.sounds or folder) / "sounds"
        for figure in (
            *measure_stores(Path(folder) / "stores"),
            *measure_audio(),
            *measure_parsers(),
            *measure_ranking(),
            *measure_cached_reads(),
            *_scans(Path(folder) / "stage", cache, options),
            *measure_polls(Path(folder) / "polls", cache),
            *measure_reads(Path(folder) / "reads"),
            *measure_maintenance(Path(folder) / "upkeep", given=Path(folder) / "reads"),
            *measure_twelve_weeks(Path(folder) / "weeks"),
            *measure_chart_history(Path(folder) / "chart", cache),
            *measure_console(Path(folder) / "console", cache),
        ):
            table.add_row(*figure)
            console.print(*figure, sep="   ")
    console.print(table)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--size", type=float, default=1.0)
    parser.add_argument("--sounds", default="", help="keep rendered sounds in this folder")
    return parser.parse_args()


def _scans(root: Path, cache: Path, options: argparse.Namespace) -> list[Figure]:
    with _running(root / "first", cache, options) as (stage, api):
        tracks = [track["music_id"] for track in stage.world("/_world/tracks")["tracks"]]
        _scan(api, tracks[0])  # renders the sounds
    with _running(root / "second", cache, options) as (stage, api):
        _scan(api, tracks[1], candidate_limit=15)  # warms every process
        return [
            *_whole_scan(stage, api, tracks[0]),
            *_stored_result(api, tracks[0]),
            *_first_step(stage, api, tracks[2:9]),
            *_post(api, tracks[9:]),
        ]


@contextmanager
def _running(
    root: Path, cache: Path, options: argparse.Namespace
) -> Iterator[tuple[Stage, httpx2.Client]]:
    root.mkdir(parents=True)
    with open_stage(root, cache) as stage:
        stage.start_platform(seed=options.seed, size=options.size)
        stage.start_worker()
        yield stage, stage.start_api()


def _scan(api: httpx2.Client, music_id: str, **parameters: object) -> dict[str, Any]:
    job = api.post(JOBS, json={"input": music_id, **parameters}).json()["data"]
    poll = job["poll_url"]

    def look() -> dict[str, Any] | None:
        now: dict[str, Any] = api.get(poll).json()["data"]
        return now if now["status"] in {"completed", "failed", "cancelled"} else None

    ended = wait_for(look, patience_s=900)
    assert ended["status"] == "completed", ended["error"]
    return ended


def _whole_scan(stage: Stage, api: httpx2.Client, music_id: str) -> list[Figure]:
    before = stage.world("/_world/cpu")
    began = time.monotonic()
    job = _scan(api, music_id, candidate_limit=150)
    spent = time.monotonic() - began
    after = stage.world("/_world/cpu")
    split = stage.stopwatch(job["job_id"])
    own = split["own_s"] / split["total_s"]
    pool = job["result"]["candidate_pool_size"]
    heard = job["progress"]["audio_checked_count"]
    return [
        ("scan of 150 candidates, sounds rendered", f"{spent:.1f} s", "20 s"),
        ("  pool / sounds heard", f"{pool} / {heard}", ""),
        ("  upstream in flight", f"{split['upstream_s']:.1f} s", ""),
        ("  decoding and measuring in flight", f"{split['listening_s']:.1f} s", ""),
        ("  neither", f"{split['own_s']:.2f} s ({own:.1%})", "under 10 %"),
        ("  the platform's own CPU", f"{_cpu(after) - _cpu(before):.1f} s", "apart"),
    ]


def _cpu(answer: dict[str, Any]) -> float:
    return float(answer["total_s"])


def _stored_result(api: httpx2.Client, music_id: str) -> list[Figure]:
    times = [
        _timed(lambda: api.post(JOBS, json={"input": music_id}), expected=200) for _ in range(30)
    ]
    return [("repeat from the stored result, median / p95", _spread(times), "30 ms")]


def _first_step(stage: Stage, api: httpx2.Client, music_ids: list[str]) -> list[Figure]:
    times = []
    for music_id in music_ids:
        began = time.monotonic()
        job_id = api.post(JOBS, json={"input": music_id, "refresh": True}).json()["data"]["job_id"]
        while stage.job(job_id).progress.stage == "resolving":
            time.sleep(0.005)
        times.append(time.monotonic() - began)
        api.delete(f"{JOBS}/{job_id}")
        stage.ended(job_id)
    return [("POST to first step, median / p95", _spread(times), "500 ms")]


def _post(api: httpx2.Client, music_ids: list[str]) -> list[Figure]:
    times: list[float] = []
    jobs: list[httpx2.Response] = []
    for n in range(100):
        body = {"input": music_ids[n % len(music_ids)], "count": n + 1, "refresh": True}
        times.append(_timed(lambda body=body: api.post(JOBS, json=body), expected=202, into=jobs))  # type: ignore[misc]  # bound at once
    for answer in jobs:
        api.delete(answer.json()["data"]["poll_url"])
    return [("POST to 202, median / p95", _spread(times), "p95 50 ms")]


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


if __name__ == "__main__":
    main()
