"""A real platform, a real worker and their stores, each in a process of its own.

For integration tests and benches.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
from dagster import AssetKey, DagsterInstance, DagsterRun

from api.cli.processes.child_processes import (
    Child,
    ChildProcessGroup,
    Program,
    find_port,
    sametrack_command,
)
from pipelines.orchestration.runs.open_instance import open_instance
from pipelines.parameters.scan import fingerprint, scan_parameters
from pipelines.platform.sources.rules import ANSWERED
from warehouse.control import ControlStore, hosts, jobs, open_control
from warehouse.control.jobs import NewJob
from warehouse.engine.duckdb_engine import Engine
from warehouse.home import open_home
from warehouse.lake.store import open_lake
from warehouse.records.jobs import Job

HOUR_S = 3600.0
IN_TESTS = {
    "LISTENING_WORKERS": "1",
    "RANDOM_AUDIT_SIZE": "0",  # it reads and decodes; tests of it set another size
}
"""Benches measure what people get; tests need less, and need it beside other programs."""
PATIENCE_S = 240.0  # a machine may be busy with other things; a test may take 600
LOCAL = httpx2.Client(verify=False, timeout=60, limits=httpx2.Limits(max_keepalive_connections=0))
"""Asks servers of this machine: each call of `httpx2.get` reads all certificates first."""


def measured_environment() -> dict[str, str]:
    """Return what lets a child be measured; nothing if the tests are not (`tests.measured`)."""
    measured = sys.modules.get("tests.measured")
    return measured.child_environment() if measured else {}


def wait_for[T](
    look: Callable[[], T | None], *, max_wait_s: float = PATIENCE_S, every_s: float = 0.05
) -> T:
    """Look until there is something, or fail."""
    until = time.monotonic() + max_wait_s
    while time.monotonic() < until:
        found = look()
        if found:
            return found
        time.sleep(every_s)
    raise AssertionError("what was waited for did not happen")


@dataclass
class Deployment:
    """One world: its platform's port, its home, and what was started in it."""

    process_group: ChildProcessGroup
    root: Path
    cache: Path
    stack: ExitStack
    port: int = field(default_factory=find_port)
    settings: dict[str, str] = field(default_factory=dict)
    command_line: Callable[..., list[str]] = sametrack_command
    is_measured: bool = False
    worker: Child | None = None
    platform: Child | None = None

    def __post_init__(self) -> None:
        self.home = open_home(self.root / "home", "sandbox")
        self.control_url = self.settings.get("CONTROL_URL") or self.home.control_url
        self.control: ControlStore = open_control(self.control_url, world="sandbox")
        self.engine = Engine(open_lake(self.home.lake_url, world="sandbox"))

    def start_platform(
        self,
        *,
        seed: int,
        size: float,
        latency_ms: int = 0,
        tracks: int | None = None,
        adb_port: int | None = None,
        mode: str = "generous",
        switches: tuple[str, ...] = (),
    ) -> None:
        world = ["--seed", str(seed), "--size", str(size), "--latency-ms", str(latency_ms)]
        world += [] if tracks is None else ["--tracks", str(tracks)]
        world += [] if adb_port is None else ["--adb-port", str(adb_port)]
        world += ["--mode", mode, *(part for one in switches for part in ("--switch", one))]
        place = ["--port", str(self.port), "--cache", str(self.cache)]
        self.platform = self._start("sandbox", [*world, *place])
        wait_for(self._is_up)

    def start_worker(self, **settings: str) -> None:
        self.worker = self._start("worker", [], **settings)

    def start_api(self) -> httpx2.Client:
        """Start the API; returns a client of it, closed with the deployment."""
        port = find_port()
        self._start("serve", ["--port", str(port)])
        client = httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, verify=False)
        self.stack.callback(client.close)

        def is_up() -> bool:
            try:
                return client.get("/healthz").status_code == 200
            except httpx2.HTTPError:
                return False

        wait_for(is_up)
        return client

    def start_dagster_ui(self, port: int) -> None:
        """Start the orchestrator's UI without a code server."""
        self._start("dagster-ui", ["--port", str(port), "--socket", str(self.root / "none")])

        def is_up() -> bool:
            try:
                return LOCAL.get(f"http://127.0.0.1:{port}/session").status_code == 200
            except httpx2.HTTPError:
                return False

        wait_for(is_up)

    def run(self, command: str, *arguments: str) -> None:
        """Run a command of `sametrack` to its end; it must succeed."""
        environment = os.environ | self.environment()
        line = sametrack_command(command, *arguments)
        subprocess.run(line, env=environment, check=True, stdout=subprocess.DEVNULL)

    def stopwatch(self, job_id: str) -> dict[str, float]:
        """Where the time of a scan went, as its run says."""
        with self.instance() as instance:
            records = instance.fetch_materializations(AssetKey(["marts", "job_results"]), limit=20)
            for record in records.records:
                found = record.asset_materialization
                if record.run_id == job_id and found is not None:
                    return {
                        name: float(str(entry.value))
                        for name, entry in found.metadata.items()
                        if name.endswith("_s")
                    }
        raise AssertionError("the run has no result")

    def wait(self, look: Callable[[], object]) -> None:
        """Wait until a look shows something true."""
        wait_for(look)

    def stop(self, child: Child) -> None:
        self.process_group.stop(child)

    def world(self, path: str) -> dict[str, Any]:
        answer: dict[str, Any] = LOCAL.get(f"http://127.0.0.1:{self.port}{path}").json()
        return answer

    def fault(self, **fault: object) -> None:
        LOCAL.post(f"http://127.0.0.1:{self.port}/_world/faults", json=fault).raise_for_status()

    def settle(self) -> None:
        """No fault in force or remembered; a worker at work, if one was started and is gone."""
        LOCAL.delete(f"http://127.0.0.1:{self.port}/_world/faults").raise_for_status()
        for one in hosts.read_circuits(self.control):
            hosts.note_success(self.control, one.host, one.surface, is_probe=True, with_data=True)
        for host, surface in hosts.recent_answers(self.control, max_age_s=HOUR_S):
            hosts.note_answer(self.control, host, surface, kind=ANSWERED, keep=1, max_age_s=HOUR_S)
        if self.worker is not None and self.worker.exit_code() is not None:
            self.start_worker()
        self.wait(lambda: self.worker is None or jobs.live_workers(self.control, HOUR_S))

    def pronounce_worker_dead(self) -> None:
        """Put its last word, and that of its scans, an hour back: so long nobody waits for it."""
        running = [job.job_id for job in jobs.newest(self.control, limit=100, status="running")]
        with closing(
            open_control(self.control_url, world="sandbox", clock=lambda: time.time() - HOUR_S)
        ) as past:
            for worker_id in jobs.live_workers(self.control, HOUR_S):
                jobs.beat(past, worker_id, running)

    def hold(self, surface: str, *, after: int) -> Callable[[], bool]:
        """Let the platform answer so many requests of a surface, and leave the next unanswered.

        Returns a look that says whether one of them has come. How many calls are journaled by then
        says less: one that needs a second request may still wait for it.
        """
        answered = self.asked(surface) + after
        self.fault(surface=surface, kind="timeout", nth=after + 1, times=0, seconds=PATIENCE_S)
        return lambda: self.asked(surface) > answered

    def asked(self, surface: str) -> int:
        """How many requests of a surface the platform has received."""
        counted: int = self.world("/_world/access-log/summary")["surfaces"].get(surface, 0)
        return counted

    def ask(self, text: str, *, music_id: str | None = None, **parameters: object) -> str:
        """Put a job into the queue; returns its id."""
        values = scan_parameters(parameters)
        new = NewJob(
            kind="scan",
            input=text,
            target=music_id or text,
            music_id=music_id,
            parameters=values.to_document(),
            fingerprint=fingerprint(music_id or text, "sandbox", "public-graph", values),
            scan_key=None,
            origin="cli",
            priority=100,
        )
        return jobs.create_or_join(self.control, new)[0].job_id

    def job(self, job_id: str) -> Job:
        found = jobs.get(self.control, job_id)
        assert found is not None
        return found

    def ended(self, job_id: str, *, max_wait_s: float = PATIENCE_S) -> Job:
        """Wait until a job has ended."""

        def look() -> Job | None:
            job = self.job(job_id)
            return job if job.finished_at is not None else None

        return wait_for(look, max_wait_s=max_wait_s, every_s=0.1)

    def ended_run(self, run_id: str) -> DagsterRun:
        """Wait for the end of a run, which comes a moment after that of its job."""
        with self.instance() as instance:

            def look() -> DagsterRun | None:
                run = instance.get_run_by_id(run_id)
                return run if run is not None and run.is_finished else None

            return wait_for(look)

    def rows(self, sql: str, **params: object) -> list[dict[str, Any]]:
        self.engine.refresh()
        return self.engine.rows(sql, params)

    def instance(self) -> DagsterInstance:
        return open_instance(self.home)

    def _start(self, command: str, arguments: list[str], **settings: str) -> Child:
        stamp = datetime.now(UTC).strftime("%H%M%S%f")
        return self.process_group.start(
            Program(
                name=command,
                command=self.command_line(command, *arguments),
                log=self.root / f"{command}-{stamp}.log",
                env=self.environment() | settings,
            )
        )

    def environment(self) -> dict[str, str]:
        return (
            {
                "PROFILE": "sandbox",
                "DATA_HOME": str(self.root / "home"),
                "SANDBOX_PORT": str(self.port),
                "SANDBOX_CALENDAR": "fixed",
                "CONTROL_URL": "",
                "DAGSTER_STORAGE_URL": "",
                "LAKE_URL": "",
                "WORKER_RUNS": "1",
                "HEARTBEAT_S": "0.3",
                "WORKER_LOST_AFTER_S": "600",  # on a busy machine silence proves nothing
                "PYTHONDONTWRITEBYTECODE": "",
            }
            | (IN_TESTS if "PYTEST_VERSION" in os.environ else {})
            | (measured_environment() if self.is_measured else {})
            | self.settings
        )

    def _is_up(self) -> bool:
        try:
            self.world("/_world/tracks")
        except httpx2.HTTPError:
            return False
        return True


@contextmanager
def open_deployment(
    root: Path,
    cache: Path,
    *,
    settings: Mapping[str, str] | None = None,
    is_measured: bool = False,
) -> Iterator[Deployment]:
    """An empty world; everything started in it is stopped again.

    `settings`: of its processes. `is_measured`: the branches that they take count, if those of the
    tests do; watched processes take some seconds longer to start.
    """
    with ExitStack() as stack:
        process_group = stack.enter_context(ChildProcessGroup(grace_s=3.0))
        chosen = dict(settings or {})
        built = Deployment(
            process_group,
            root=root,
            cache=cache,
            stack=stack,
            settings=chosen,
            is_measured=is_measured,
        )
        stack.enter_context(closing(built.control))
        stack.enter_context(closing(built.engine))
        yield built
