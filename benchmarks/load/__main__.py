"""`make load`: users of the console and jobs at once, with faults between service and platform.

Each user asks, looks, and asks again, as a browser does; when a job ends, another begins. Once a
minute a line says where the load stands; at the end tables say how long requests took, how they
ended, and what the service and the worker held. Every two minutes all rest until no request and no
job is left, and the lake is maintained: what is still held then is what would pile up. Memory at
rest is fitted over time, after the first fifth: that of the process and all that it started, with
what their allocators keep, and what the process itself has in use, which shows a growth of less
than a megabyte; DuckDB's part of that is told apart.
"""

import argparse
import asyncio
import contextlib
import math
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
from rich.console import Console
from rich.table import Table

from api.cli.processes.child_processes import Child, Program, find_port
from benchmarks.chaos.faults import FAULTS
from benchmarks.chaos.proxy import open_proxy
from benchmarks.chaos.scans import PARAMETERS, SEED, SIZE, Weather
from benchmarks.load.gauges import Gauge, percentile, read_gauge, slope_per_h
from benchmarks.load.in_use import measured_command, read_in_use_mb
from benchmarks.load.users import JOBS, OWN, TIMEOUT_S, Tally, Town, User, ask_bare
from tests.deployment import Deployment, open_deployment
from warehouse.records.jobs import FINAL_STATUSES

WARM_UP = 0.2
GAUGE_EVERY_S = 10.0
LINE_EVERY = 6
REST_S = 12.0
"""Longer than it takes to give freed memory back, and than the service keeps an idle thread."""
AFTERMATH_S = 1.0
"""Long enough for threads that were told to end."""
KEPT_OPEN_S = 4.0
"""Shorter than the service keeps a connection (`IDLE_TIMEOUT_S`), so that none ends while it is
used: a browser repeats such a request, this client does not."""
LONG_FAULTS = {"silence", "trickle"}
console = Console(width=150)


class Load:
    """A service under load: its users, its jobs, and what is read of its processes."""

    def __init__(
        self,
        base: str,
        town: Town,
        watched: dict[str, Child],
        root: Path,
        tidy_up: Callable[[], object],
        minutes: float,
        rest_every_s: float,
    ) -> None:
        self.tally = Tally()
        self.town = town
        self.base = base
        self.ends: dict[str, int] = {}
        self.gauges: dict[str, list[Gauge]] = {name: [] for name in watched}
        self.rests: dict[str, list[Gauge]] = {name: [] for name in watched}
        self._watched = watched
        self._root = root
        self._tidy_up = tidy_up
        self._rest_every_s = rest_every_s
        self._began = time.monotonic()
        self.until = self._began + minutes * 60

    async def run(self, users: int, jobs: int, bare: str) -> None:
        """Let all live until the time is over."""
        self.town.is_open.set()
        limits = httpx2.Limits(
            max_connections=users + jobs + 10, max_keepalive_connections=users,
            keepalive_expiry=KEPT_OPEN_S,
        )  # fmt: skip
        async with (
            httpx2.AsyncClient(
                base_url=self.base, timeout=TIMEOUT_S, limits=limits, trust_env=False
            ) as client,
            asyncio.TaskGroup() as group,
        ):
            for number in range(jobs):
                group.create_task(self._keep_a_job(client, number))
            for number in range(users):
                group.create_task(User(client, self.town, self.tally, number).live(self.until))
            group.create_task(ask_bare(bare, self.tally, self.until))
            group.create_task(self._watch())
            group.create_task(self._rest_together(client))

    async def _keep_a_job(self, client: httpx2.AsyncClient, number: int) -> None:
        chance = random.Random(number)
        while time.monotonic() < self.until:
            async with self.town.working():
                await self._run_a_job(client, chance)

    async def _run_a_job(self, client: httpx2.AsyncClient, chance: random.Random) -> None:
        body = {**PARAMETERS, "input": chance.choice(self.town.tracks), "verify_audio": False,
                "count": chance.randrange(10, 500)}  # fmt: skip
        began = time.monotonic()
        try:
            answer = await client.post(JOBS, json=body)
            end = str(answer.status_code)
        except httpx2.HTTPError as error:
            end = type(error).__name__
        self.tally.add("start a job", time.monotonic() - began, end)
        if end == "202":
            await self._await_end(client, answer.json()["data"]["job_id"])
        else:
            await asyncio.sleep(1)

    async def _await_end(self, client: httpx2.AsyncClient, job_id: str) -> None:
        self.town.jobs.append(job_id)
        job: dict[str, Any] = {"status": "unfinished"}
        while job["status"] not in FINAL_STATUSES and time.monotonic() < self.until:
            await asyncio.sleep(2)
            try:
                job = (await client.get(f"{JOBS}/{job_id}")).json()["data"]
            except (httpx2.HTTPError, KeyError, TypeError):
                continue
        error = job.get("error") or {}
        end = " ".join(filter(None, (job["status"], error.get("type"))))
        self.ends[end] = self.ends.get(end, 0) + 1
        if len(self.town.jobs) > 30:
            self.town.jobs.pop(0)

    async def _rest_together(self, client: httpx2.AsyncClient) -> None:
        while time.monotonic() + self._rest_every_s < self.until:
            await asyncio.sleep(self._rest_every_s)
            self.town.is_open.clear()
            await self.town.is_quiet.wait()
            if time.monotonic() < self.until:  # later, jobs that nobody waits for may be at work
                await self._rest(client)
            self.town.is_open.set()

    async def _rest(self, client: httpx2.AsyncClient) -> None:
        await asyncio.to_thread(self._tidy_up)
        await asyncio.sleep(REST_S)
        await self._end_idle_threads(client)
        await self._read_rest()
        self._line("at rest", self.rests)

    async def _end_idle_threads(self, client: httpx2.AsyncClient) -> None:
        """The pool of the service ends its idle threads with its next request."""
        with contextlib.suppress(httpx2.HTTPError):
            await client.get(f"{OWN}/jobs?limit=1")
        await asyncio.sleep(AFTERMATH_S)

    async def _read_gauges(self, into: dict[str, list[Gauge]]) -> None:
        for name, child in self._watched.items():
            gauge = await asyncio.to_thread(read_gauge, child.process.pid, began=self._began)
            into[name].append(gauge)

    async def _read_rest(self) -> None:
        """Read what is in use, too: at work its collection of garbage would cost the users time."""
        await self._read_gauges(self.rests)
        for name, gauges in self.rests.items():
            own_mb, database_mb = await asyncio.to_thread(read_in_use_mb, self._root, name)
            gauges[-1] = replace(gauges[-1], in_use_mb=own_mb, database_mb=database_mb)

    async def _watch(self) -> None:
        while time.monotonic() < self.until:
            await self._read_gauges(self.gauges)
            if len(next(iter(self.gauges.values()))) % LINE_EVERY == 0:
                self._line("at work", self.gauges)
            await asyncio.sleep(GAUGE_EVERY_S)

    def _line(self, state: str, gauges: dict[str, list[Gauge]]) -> None:
        minutes = (time.monotonic() - self._began) / 60
        held = " · ".join(f"{name} {found[-1]}" for name, found in gauges.items())
        console.print(f"{minutes:5.1f} min  {self.tally.ends.total():,} requests  {state}: {held}")

    def show(self) -> None:
        """Print the tables."""
        spent_s = time.monotonic() - self._began
        times = Table("request", "count", "a second", "p50 ms", "p99 ms", "ends")
        for kind, seconds in self.tally.seconds.items():
            ends = {end: count for (one, end), count in self.tally.ends.items() if one == kind}
            times.add_row(
                kind, f"{len(seconds):,}", f"{len(seconds) / spent_s:.1f}",
                f"{percentile(seconds, 0.5) * 1000:.0f}",
                f"{percentile(seconds, 0.99) * 1000:.0f}",
                ", ".join(f"{end}: {count:,}" for end, count in ends.items()),
            )  # fmt: skip
        console.print(times)
        held = Table(
            "process", "at rest", "memory MB", "slope MB/h", "in use MB", "slope MB/h", "DuckDB MB",
            "files", "threads", "processes",
        )  # fmt: skip
        for name, gauges in self.rests.items():
            warm = [one for one in gauges if one.at > WARM_UP * spent_s] or self.gauges[name]
            first, last = warm[0], warm[-1]
            at_s = [one.at for one in warm]
            held.add_row(
                name, f"{len(warm)} times",
                *_fitted(at_s, [one.pss_mb for one in warm], digits=0),
                *_fitted(at_s, [one.in_use_mb for one in warm], digits=2),
                _range([one.database_mb for one in warm]),
                f"{first.files} to {last.files}", f"{first.threads} to {last.threads}",
                f"{first.processes} to {last.processes}",
            )  # fmt: skip
        console.print(held)
        console.print(f"{spent_s / 60:.1f} minutes; jobs: {self.ends}")


def _fitted(at_s: Sequence[float], held_mb: Sequence[float], *, digits: int) -> tuple[str, str]:
    """The first and last of some values, and their slope with its error, as cells of a table."""
    if math.isnan(held_mb[0]):
        return "not read", ""
    slope, error = slope_per_h(at_s, held_mb)
    digits_of_slope = max(1, digits)
    return (
        f"{held_mb[0]:.{digits}f} to {held_mb[-1]:.{digits}f}",
        f"{slope:+.{digits_of_slope}f} ± {error:.{digits_of_slope}f}",
    )


def _range(values: Sequence[float]) -> str:
    return "not read" if math.isnan(values[0]) else f"{min(values):.1f} to {max(values):.1f}"


def run(
    deployment: Deployment, platform: Deployment, options: argparse.Namespace, proxy_port: int
) -> Load:
    """Start a service and a worker behind the proxy, and put them under load."""
    deployment.port = proxy_port
    deployment.command_line = partial(measured_command, deployment.root)
    deployment.settings |= {
        "RATE_LIMIT_PER_S": "0", "WORKER_RUNS": "2", "DAILY_REQUEST_BUDGET": "100000000",
        "LISTENING_WORKERS": "1",
    }  # fmt: skip
    deployment.start_worker()
    client = deployment.start_api()
    port = find_port()
    deployment.process_group.start(
        Program(
            name="bare", command=[sys.executable, "-m", "benchmarks.load.bare", str(port)],
            log=deployment.root / "bare.log",
        )
    )  # fmt: skip
    deployment.wait(lambda: _answers(port))
    town = Town(
        tracks=[one["music_id"] for one in platform.world("/_world/tracks?counts=0")["tracks"]],
        accounts=[one["sec_uid"] for one in platform.world("/_world/accounts")["accounts"]],
    )
    tidy_up = partial(deployment.run, "maintain")
    watched = {one.name: one for one in deployment.process_group.children if one.name != "bare"}
    load = Load(
        str(client.base_url), town, watched, deployment.root, tidy_up, options.minutes,
        options.rest_every_s,
    )  # fmt: skip
    asyncio.run(load.run(options.users, options.jobs, f"http://127.0.0.1:{port}"))
    return load


def _answers(port: int) -> bool:
    try:
        return httpx2.get(f"http://127.0.0.1:{port}/").is_success
    except httpx2.HTTPError:
        return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=10)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--rest-every-s", type=float, default=120.0, help="work between rests")
    parser.add_argument("--share", type=float, default=0.02, help="share of faulty responses")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sounds", default="", help="keep rendered sounds in this folder")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root, cache = Path(folder), Path(options.sounds or folder) / "sounds"
        for name in ("platform", "home"):
            (root / name).mkdir()
        with open_deployment(root / "platform", cache) as platform:
            platform.start_platform(seed=SEED, size=SIZE)
            with (
                open_proxy(platform.port) as proxy,
                open_deployment(root / "home", cache) as deployment,
            ):
                faults = tuple(one for one in FAULTS if one.name not in LONG_FAULTS)
                weather = Weather(name="load", faults=faults, share=options.share)
                proxy.choose = weather.chooser(random.Random(options.seed))
                run(deployment, platform, options, proxy.port).show()


if __name__ == "__main__":
    main()
