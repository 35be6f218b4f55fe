"""Figures of the warehouse: what one commit, one key read and one progress row cost."""

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime

from benchmarks.speed.running import Figure, Workspace
from warehouse.control import jobs, open_control
from warehouse.control.jobs import NewJob
from warehouse.engine.duckdb_engine import Engine
from warehouse.home import open_home
from warehouse.lake.record_rows import video_row
from warehouse.lake.store import Lake, open_lake
from warehouse.queries.results import read_latest_videos
from warehouse.records.jobs import ProgressRecord
from warehouse.records.videos import Statistics, Video

ROWS = 50
COMMITS = 60


def measure_stores(space: Workspace) -> Iterator[Figure]:
    """Append, read one key over 60 commits, write and read a progress row."""
    home = open_home(space.folder / "stores", "sandbox")
    lake = open_lake(home.lake_url, world="sandbox")
    appends = [_timed(lambda n=n: _append(lake, n)) for n in range(COMMITS)]  # type: ignore[misc]  # bound at once
    yield f"append {ROWS} rows, one commit, median", _ms(appends), "20 to 25 ms"
    with closing(Engine(lake)) as engine:
        read_latest_videos(engine, ["1000001"])
        reads = [
            _timed(lambda n=n: read_latest_videos(engine, [str(1000000 + n)]))  # type: ignore[misc]  # bound at once
            for n in range(30)
        ]
    yield f"one video by key over {COMMITS} commits, median", _ms(reads), "28 ms"
    with closing(open_control(home.control_url, world="sandbox")) as control:
        job, _ = jobs.create_or_join(control, _job())
        jobs.claim(control, "bench")
        writes = [
            _timed(lambda: jobs.save_progress(control, job.job_id, ProgressRecord()))
            for _ in range(100)
        ]
        yield "progress row written, median", _ms(writes), ""
        polls = [_timed(lambda: jobs.get(control, job.job_id)) for _ in range(300)]
    yield "progress row read, median", _ms(polls), "0.03 ms bare SQL"


def _append(lake: Lake, n: int) -> None:
    now = datetime.now(UTC)
    rows = [
        video_row(
            Video(
                aweme_id=str(1000000 + n * ROWS + place),
                surface="video_page",
                observed_at=now,
                statistics=Statistics(digg_count=place),
            ),
            capture_id=f"c{n}",
            job_id=None,
            data_provider="bench",
        )
        for place in range(ROWS)
    ]
    lake.append("raw.videos", rows)


def _job() -> NewJob:
    return NewJob(
        kind="scan",
        input="1000001",
        target="1000001",
        music_id="1000001",
        parameters={},
        fingerprint="bench",
        scan_key=None,
        origin="cli",
        priority=100,
    )


def _timed(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def _ms(seconds: list[float]) -> str:
    return f"{statistics.median(seconds) * 1000:.2f} ms"
