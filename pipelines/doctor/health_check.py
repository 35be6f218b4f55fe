"""One health check: the machine and the stores, then every surface, then storing the results.

It runs in its own thread with its own event loop; a view polls `findings` and `surfaces` meanwhile.
Nothing here knows a terminal or HTTP.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial

from pipelines.doctor.check_results import CheckResult, HealthVerdict, summarise_health
from pipelines.doctor.checks.machine import check_disk, check_python, check_sandbox, check_workers
from pipelines.doctor.checks.stores import check_control, check_home, check_warehouse
from pipelines.doctor.documents import (
    CircuitReport,
    RobotsReport,
    to_circuit_documents,
    to_robots_documents,
    to_surface_documents,
)
from pipelines.doctor.probes.probe_round import ProbeListener, probe_and_store
from pipelines.doctor.recording import ProbeResponse
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.providers import choose_profile
from pipelines.settings import Settings
from warehouse.control import ControlStore, job_claims
from warehouse.control.hosts import circuits, robots
from warehouse.engine.duckdb_engine import Engine
from warehouse.queries.surface_health import read_last_worked
from warehouse.records.errors import SametrackError, UnreachableError
from warehouse.records.health import SurfaceHealth
from warehouse.records.values import Document

TOTAL_TIMEOUT_S = 22.0
"""Time limit of a health check. A busy machine is slow to load libraries."""
AFTER_CHECKS_S = 8.0  # of that, left when the checks of this machine must have ended
STORING_S = 2.0  # of that, left for storing the results of the surfaces
STORES = frozenset({"disk", "data home", "control store", "warehouse"})

CHECK_ORDER = (
    "python", "extras", "chromium", "disk", "time zone", "data home", "control store", "warehouse",
    "worker", "api", "dagster", "dagster ui", "webhook", "sandbox", "user agent", "referer",
    "adb server", "android device", "app", "app layout", "guest mode",
)  # fmt: skip

type MachineCheck = Callable[[], CheckResult]
type ProbeState = SurfaceHealth | str
"""Result of a surface's probe, or `waiting`, or `asking`."""


@dataclass(slots=True)
class SystemHealthCheck:
    """A health check in progress: its checks and the results so far.

    Attributes:
        settings: What is chosen.
        profile: The platform; None when none is chosen.
        looks: Looks at this machine, by what they look at.
        surfaces: The surfaces to be asked, and what became of them.
        findings: What was found on this machine, in the order in which it was found.
        responses: What the probes received, with what each concluded.
        time_s: Time limit of the whole health check, in seconds.
    """

    settings: Settings
    profile: PlatformProfile | None
    looks: Sequence[tuple[str, MachineCheck]]
    surfaces: dict[str, ProbeState] = field(default_factory=dict)
    findings: list[CheckResult] = field(default_factory=list)
    responses: list[ProbeResponse] = field(default_factory=list)
    last_worked: dict[str, datetime] = field(default_factory=dict)
    circuits: list[CircuitReport] = field(default_factory=list)
    robots: list[RobotsReport] = field(default_factory=list)
    fault: BaseException | None = None
    begun_at: float = field(default_factory=time.monotonic)
    time_s: float = TOTAL_TIMEOUT_S

    def run(self) -> None:
        """Run all checks and probes; never raises. Blocking."""
        try:
            with ExitStack() as stack:
                asyncio.run(self._run(stack))
        except BaseException as fault:  # noqa: BLE001  # reported by the view
            self.fault = fault

    def end(self) -> None:
        """Close checks and probes without a result; called when the time limit is reached."""
        found = {finding.name for finding in self.findings}
        for name, _ in self.looks:
            if name not in found:
                self.findings.append(CheckResult(name, "warn", "no result in time"))
        for surface, state in list(self.surfaces.items()):
            if not isinstance(state, SurfaceHealth):
                self.surfaces[surface] = _out_of_time(surface, was_asked=state == "asking")

    def to_document(self, took_s: float) -> Document:
        """Return the complete report."""
        verdict = self.verdict()
        return {
            "profile": None if self.profile is None else self.profile.name,
            "is_demo_data": self.profile is not None and self.profile.is_demo,
            "exit_code": verdict.exit_code,
            "verdict": verdict.sentence,
            "took_s": round(took_s, 1),
            "machine": [asdict(one) for one in sorted(self.findings, key=_place)],
            "surfaces": to_surface_documents(self.health(), last_worked=self.last_worked),
            "circuits": self.circuits,
            "robots": self.robots,
        }

    def health(self) -> list[SurfaceHealth]:
        """Return the results of all finished probes."""
        return [state for state in self.surfaces.values() if isinstance(state, SurfaceHealth)]

    def verdict(self) -> HealthVerdict:
        """Return the verdict on the results so far."""
        return summarise_health(
            list(self.findings),
            self.health(),
            is_chosen=self.profile is not None,
            wants_surfaces=bool(self.surfaces),
        )

    async def _run(self, stack: ExitStack) -> None:
        async with asyncio.TaskGroup() as group:
            for name, look in self.looks:
                group.create_task(self._look(name, look))
            if self.profile is not None:
                group.create_task(self._examine_world(self.profile, stack))

    async def _look(self, name: str, look: MachineCheck) -> None:
        try:
            found = await _run_with_timeout(look, self.time_s - AFTER_CHECKS_S, name=name)
        except TimeoutError:
            says = f"no result within {self.time_s - AFTER_CHECKS_S:.0f} s"
            found = (
                CheckResult(name, "fail", says, "check the disk, and the store's server")
                if name in STORES
                else CheckResult(name, "warn", says, "run it again when this machine is less busy")
            )
        except Exception as error:  # noqa: BLE001  # a failing check is a line of the report
            found = CheckResult(name, "fail", f"{type(error).__name__}: {error}")
        self.findings.append(found)

    async def _examine_world(self, profile: PlatformProfile, stack: ExitStack) -> None:
        home = await self._opened("data home", lambda: check_home(self.settings, profile.name))
        if home is None:
            self._skip_all("data_home_unfit")
            return
        control, engine = await asyncio.gather(
            self._opened("control store", lambda: check_control(self.settings, home, stack)),
            self._opened("warehouse", lambda: check_warehouse(self.settings, home, stack)),
        )
        if control is not None:
            live = partial(job_claims.live_workers, control, self.settings.worker_lost_after_s)
            await self._look("worker", partial(check_workers, live))
        if profile.may_name_loopback and self.surfaces:
            await self._look("sandbox", lambda: check_sandbox(profile.port))
        await self._ask(profile, control, engine)

    async def _opened[T](self, name: str, check: Callable[[], tuple[str, T]]) -> T | None:
        """Return what a check opens; None if it cannot be opened, which is a result."""
        opened: list[T] = []

        def look() -> CheckResult:
            try:
                says, store = check()
            except SametrackError as error:
                return CheckResult(name, "fail", error.detail, error.hint)
            opened.append(store)
            return CheckResult(name, "ok", says)

        await self._look(name, look)
        return next(iter(opened), None)

    async def _ask(
        self, profile: PlatformProfile, control: ControlStore | None, engine: Engine | None
    ) -> None:
        """Probe the surfaces; none without the control store, which holds the rate limits."""
        if not self.surfaces:
            return
        if control is None or engine is None:
            self._skip_all("stores_unfit")
            return
        self.last_worked = await asyncio.to_thread(read_last_worked, engine)
        watch = ProbeListener(
            asking=lambda surface: self.surfaces.update({surface: "asking"}),
            found=lambda health: self.surfaces.update({health.surface: health}),
            received=lambda health, response: self.responses.append((health, response)),
            compared=self.findings.append,
        )
        try:
            await probe_and_store(
                self.settings, profile, control=control, engine=engine,
                surfaces=list(self.surfaces), asked_by="cli", watch=watch,
                total_s=max(1.0, self.begun_at + self.time_s - STORING_S - time.monotonic()),
            )  # fmt: skip
            self.circuits = to_circuit_documents(circuits.read_all(control))
            self.robots = to_robots_documents(robots.decisions(control))
        except SametrackError as error:
            self.findings.append(CheckResult("stores", "fail", error.detail, error.hint))

    def _skip_all(self, reason: str) -> None:
        for surface in self.surfaces:
            self.surfaces[surface] = SurfaceHealth(
                surface=surface, outcome="not_asked", reason=reason, observed_at=datetime.now(UTC)
            )


def check_machine(settings: Settings) -> Document:
    """Check the machine, the stores and the workers, for the scheduled job. Blocking.

    No surface is probed. Checks that need the API's settings are left to `sametrack doctor`.

    Raises:
        ProfileNotChosenError: No profile is chosen.
    """
    disk = partial(check_disk, settings.data_home, min_free_mb=settings.min_free_disk_mb)
    examination = SystemHealthCheck(
        settings=settings,
        profile=choose_profile(settings),
        looks=[("python", check_python), ("disk", disk)],
    )
    examination.run()
    examination.end()
    if examination.fault is not None:
        raise examination.fault
    return examination.to_document(time.monotonic() - examination.begun_at)


async def _run_with_timeout[T](look: Callable[[], T], seconds: float, *, name: str) -> T:
    """Return the result of `look`, which may hang: a dead disk must not block the report.

    Raises:
        TimeoutError: It takes longer; its daemon thread is abandoned.
    """
    future: Future[T] = Future()

    def run() -> None:
        try:
            found = look()
        except BaseException as error:  # noqa: BLE001  # passed on to the caller
            future.set_exception(error)
        else:
            future.set_result(found)

    threading.Thread(target=run, name=name, daemon=True).start()
    # shielded: the thread could not set the result of a cancelled future
    return await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(future)), seconds)


def _place(finding: CheckResult) -> int:
    """Return the fixed position of a check in the report."""
    return CHECK_ORDER.index(finding.name) if finding.name in CHECK_ORDER else len(CHECK_ORDER)


def _out_of_time(surface: str, *, was_asked: bool) -> SurfaceHealth:
    return SurfaceHealth(
        surface=surface,
        outcome="unreachable" if was_asked else "not_asked",
        error_type=UnreachableError.type if was_asked else None,
        reason="no_answer" if was_asked else "time_is_up",
        observed_at=datetime.now(UTC),
    )
