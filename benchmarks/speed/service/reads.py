"""Figures of uncached reads: pages of 20 and a year of the chart, from a large lake, over HTTP.

`python -m benchmarks.speed.service.reads [--observations N] [--near] [--lake FOLDER]` runs this
part alone, with five million observations, where `make bench` has half a million; a folder that is
there already is read as it stands. The works of a page lie far apart, or near. Every request asks
for a list that nobody asked for before, so nothing comes from memory but what the files' footers
say.
"""

import argparse
import random
import statistics
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import httpx2
import psutil

from api.cli.processes.child_processes import (
    ChildProcessGroup,
    Program,
    find_port,
    sametrack_command,
)
from benchmarks.speed.lake.large_lake import FAR, NEAR, PAGE, SMALLER, LargeLake, keep_large_lake
from benchmarks.speed.running import Figure, RowOutput, Workspace, run_alone
from tests.deployment import wait_for

APP = "/api/v1/vidplat/app/v3"
MUSIC = f"{APP}/fetch_music_video_list"
POSTS = f"{APP}/fetch_user_post_videos"
CHART = "/api/v1/music/chartsrc/top500/history"
OBSERVATIONS = 5_000_000
REQUESTS = 100
WARM_UP = 10
PAGE_AIM, CHART_AIM = "p95 60 ms", "100 ms"
SEED = 7


def measure_reads(
    space: Workspace, *, observations: int = SMALLER, is_near: bool = False
) -> Iterator[RowOutput]:
    """Uncached pages of music ids and of accounts, and of the chart."""
    size = LargeLake(observations, stride=NEAR if is_near else FAR)
    yield from keep_large_lake(space.lake, size)
    draw = random.Random(SEED)
    entities = draw.sample(range(size.entities), REQUESTS + WARM_UP)
    with (
        ChildProcessGroup(grace_s=5.0) as process_group,
        closing(_serving(process_group, space.lake)) as api,
    ):
        server = psutil.Process(process_group.children[0].process.pid)
        for what, path, queries, aim in (
            (
                "page of 20 of a music id",
                MUSIC,
                [{"music_id": size.music_id(one), "count": "20"} for one in entities],
                PAGE_AIM,
            ),
            (
                "page of 20 posts",
                POSTS,
                [{"sec_user_id": size.sec_uid(one)} for one in entities],
                PAGE_AIM,
            ),
            ("year of the chart", CHART, [_year(draw) for _ in entities], CHART_AIM),
        ):
            times = _times(api, server, path, queries)
            yield from _figures(f"uncached {what}, of {observations:,} observations", times, aim)


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds by the clock, each, and of the server's processor, on average."""

    by_clock: list[float]
    by_processor: float


def _serving(process_group: ChildProcessGroup, root: Path) -> httpx2.Client:
    """The service over the lake. Its platform is not there: an answer can only be a stored one."""
    port = find_port()
    process_group.start(
        Program(
            name="serve",
            command=sametrack_command("serve", "--port", str(port)),
            log=root / "serve.log",
            env={
                "PROFILE": "sandbox", "DATA_HOME": str(root), "CONTROL_URL": "", "LAKE_URL": "",
                "DATA_PROVIDER": "browser-public", "SANDBOX_PORT": str(find_port()),
                "POSTS_TTL": "100000000", "PROFILE_TTL": "100000000", "VIDEO_TTL": "100000000",
                "RATE_LIMIT_PER_S": "100000", "RATE_LIMIT_BURST": "100000",
                "PYTHONDONTWRITEBYTECODE": "",
            },
        )
    )  # fmt: skip
    client = httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=60)

    def is_up() -> bool:
        try:
            return client.get("/healthz").status_code == 200
        except httpx2.HTTPError:
            return False

    wait_for(is_up)
    return client


def _times(
    api: httpx2.Client, server: psutil.Process, path: str, queries: list[dict[str, str]]
) -> Times:
    times, used = [], 0.0
    for place, query in enumerate(queries):
        if place == WARM_UP:
            used = _processor_s(server)
        began = time.perf_counter()
        answer = api.get(path, params=query)
        times.append(time.perf_counter() - began)
        assert answer.status_code == 200, answer.text
        data = answer.json()["data"]
        assert len(data.get("aweme_list") or data["snapshots"]) >= PAGE
    measured = times[WARM_UP:]
    return Times(measured, (_processor_s(server) - used) / len(measured))


def _processor_s(process: psutil.Process) -> float:
    spent = process.cpu_times()
    return float(spent.user + spent.system)


def _year(draw: random.Random) -> dict[str, str]:
    """A year that begins on any day, so that none is asked for twice."""
    year, month, day = draw.randrange(2022, 2024), draw.randrange(1, 13), draw.randrange(1, 29)
    return {
        "start_date": f"{year}-{month:02}-{day:02}",
        "end_date": f"{year + 1}-{month:02}-{day:02}",
    }


def _figures(what: str, times: Times, aim: str) -> list[Figure]:
    """The clock's figure is what a reader waits; the processor's is also true on a busy machine."""
    ordered = sorted(times.by_clock)
    p95 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
    clock = f"{statistics.median(ordered) * 1000:.1f} / {p95 * 1000:.1f} ms"
    return [
        (f"{what}, median / p95", clock, aim),
        ("  processor time of the service, each", f"{times.by_processor * 1000:.1f} ms", ""),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--observations", type=int, default=OBSERVATIONS)
    parser.add_argument("--near", action="store_true", help="works of a list follow one another")
    parser.add_argument("--lake", default="", help="keep the lake in this folder, and use it again")
    options = parser.parse_args()
    run_alone(
        "reads",
        lambda space: measure_reads(space, observations=options.observations, is_near=options.near),
        lake=options.lake,
    )


if __name__ == "__main__":
    main()
