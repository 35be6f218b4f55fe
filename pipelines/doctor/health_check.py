"""One health check: the machine and the stores, then every surface, then storing the results.

It runs in its own thread with its own event loop; a view polls `findings` and `surfaces` meanwhile.
Not here: printing (`api/cli/rendering/doctor.py`), HTTP.
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

from pipelines.doctor import checks as doctor_checks
from pipelines.doctor import documents
from pipelines.doctor.documents import CheckResult, HealthVerdict, summarise_health
from pipelines.doctor.probes.probe_round import ProbeListener, probe_and_store
from pipelines.doctor.recording import ProbeResponse
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.providers import choose_profile
from pipelines.settings import Settings
from warehouse.control import hosts, jobs
from warehouse.queries.surface_health import read_last_worked
from warehouse.records.errors import SametrackError, UnreachableError
from warehouse.records.health import SurfaceHealth
from warehouse.records.values import Document

TOTAL_TIMEOUT_S = 22.0
"""Time limit of a health check. A busy machine is slow to load libraries."""
AFTER_CHECKS_S = 8.0
"""Part of it that remains when the checks of this machine must have ended."""
STORING_S = 2.0
"""Part of it that remains for storing the results of the surfaces."""
STORES = frozenset({"disk", "data home", "control store", "warehouse"})

CHECK_ORDER = (
    "python",
    "extras",
    "chromium",
    "disk",
    "time zone",
    "data home",
    "control store",
    "warehouse",
    "worker",
    "api",
    "dagster",
    "dagster ui",
    "webhook",
    "sandbox",
    "user agent",
    "referer",
    "adb server",
    "android device",
    "app",
    "app layout",
    "guest mode",
)

type MachineCheck = Callable[[], CheckResult]
type ProbeState = SurfaceHealth | str
"""Result of a surface's probe, or `waiting`, or `asking`."""


@dataclass(slots=True)
class SystemHealthCheck:
    """A health check in progress: its checks and the results so far.

    Attributes:
        settings: The settings to check.
        profile: The platform; None if no profile is chosen.
        checks: Checks of this machine, with their names.
        surfaces: The surfaces to probe, and the state of each probe.
        findings: Results of the checks, in the order in which they ended.
        responses: What the probes received, with their results.
        last_worked: When each surface last worked before.
        circuits: Surfaces with recent failures.
        robots: Decisions from robots.txt.
        fault: The error that ended the health check, if any.
        begun_at: Time of its start, in seconds of `time.monotonic`.
        time_s: Time limit of the whole health check, in seconds.
    """

    settings: Settings
    profile: PlatformProfile | None
    checks: Sequence[tuple[str, MachineCheck]]
    surfaces: dict[str, ProbeState] = field(default_factory=dict)
    findings: list[CheckResult] = field(default_factory=list)
    responses: list[ProbeResponse] = field(default_factory=list)
    last_worked: dict[str, datetime] = field(default_factory=dict)
    circuits: list[documents.CircuitReport] = field(default_factory=list)
    robots: list[documents.RobotsReport] = field(default_factory=list)
    fault: BaseException | None = None
    begun_at: float = field(default_factory=time.monotonic)
    time_s: float = TOTAL_TIMEOUT_S

    def run(self) -> None:
        """Run all checks and probes; never raises. Blocking."""

        async def run_all(stack: ExitStack) -> None:
            async with asyncio.TaskGroup() as group:
                for name, check in self.checks:
                    group.create_task(self._check(name, check))
                if self.profile is not None:
                    group.create_task(self._check_world(self.profile, stack))

        try:
            # The stores stay open until the last probe has ended.
            with ExitStack() as stack:
                asyncio.run(run_all(stack))
        except BaseException as fault:  # noqa: BLE001  # reported by the view
            self.fault = fault

    def end(self) -> None:
        """Close checks and probes without a result; called when the time limit is reached."""
        ended = {finding.name for finding in self.findings}
        for name, _ in self.checks:
            if name not in ended:
                self.findings.append(CheckResult(name, "warn", "no result in time"))
        for surface, state in list(self.surfaces.items()):
            if not isinstance(state, SurfaceHealth):
                was_requested = state == "asking"
                self.surfaces[surface] = SurfaceHealth(
                    surface=surface,
                    outcome="unreachable" if was_requested else "not_asked",
                    error_type=UnreachableError.type if was_requested else None,
                    reason="no_answer" if was_requested else "time_is_up",
                    observed_at=datetime.now(UTC),
                )

    def to_document(self, took_s: float) -> Document:
        """Return the complete report."""
        verdict = self.verdict()
        # In a fixed order; a check without a position comes last.
        positions = {name: position for position, name in enumerate(CHECK_ORDER)}
        findings = sorted(
            self.findings, key=lambda finding: positions.get(finding.name, len(CHECK_ORDER))
        )
        return {
            "profile": None if self.profile is None else self.profile.name,
            "is_demo_data": self.profile is not None and self.profile.is_demo,
            "exit_code": verdict.exit_code,
            "verdict": verdict.sentence,
            "took_s": round(took_s, 1),
            "machine": [asdict(finding) for finding in findings],
            "surfaces": documents.to_surface_documents(self.health(), last_worked=self.last_worked),
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

    async def _check(self, name: str, check: MachineCheck) -> None:
        """Run a check of this machine; a failure is its result."""
        # A check may hang: a dead disk must not block the report, so its daemon thread is abandoned
        # when the time is up.
        future: Future[CheckResult] = Future()

        def run() -> None:
            try:
                result = check()
            except BaseException as error:  # noqa: BLE001  # passed on to the caller
                future.set_exception(error)
            else:
                future.set_result(result)

        threading.Thread(target=run, name=name, daemon=True).start()
        within_s = self.time_s - AFTER_CHECKS_S
        try:
            # Shielded, because the thread could not set the result of a cancelled future.
            pending = asyncio.shield(asyncio.wrap_future(future))
            result = await asyncio.wait_for(pending, within_s)
        except TimeoutError:
            says = f"no result within {within_s:.0f} s"
            result = (
                CheckResult(name, "fail", says, "check the disk, and the store's server")
                if name in STORES
                else CheckResult(name, "warn", says, "run it again when this machine is less busy")
            )
        except Exception as error:  # noqa: BLE001  # a failing check is a line of the report
            result = CheckResult(name, "fail", f"{type(error).__name__}: {error}")
        self.findings.append(result)

    async def _check_world(self, profile: PlatformProfile, stack: ExitStack) -> None:
        """Check the stores and workers of the configured world, then probe its surfaces."""
        # Without its home, no store can be opened.
        home = await self._opened(
            "data home", lambda: doctor_checks.check_home(self.settings, profile.name)
        )
        if home is None:
            self._skip_all("data_home_unfit")
            return
        control, engine = await asyncio.gather(
            self._opened(
                "control store", lambda: doctor_checks.check_control(self.settings, home, stack)
            ),
            self._opened(
                "warehouse", lambda: doctor_checks.check_warehouse(self.settings, home, stack)
            ),
        )
        if control is not None:
            live = partial(jobs.live_workers, control, self.settings.worker_lost_after_s)
            await self._check("worker", partial(doctor_checks.check_workers, live))
        if not self.surfaces:
            return
        if profile.may_name_loopback:
            await self._check("sandbox", lambda: doctor_checks.check_sandbox(profile.port))
        # Without the control store, which holds the rate limits, no surface is probed.
        if control is None or engine is None:
            self._skip_all("stores_unfit")
            return

        self.last_worked = await asyncio.to_thread(read_last_worked, engine)
        listener = ProbeListener(
            on_start=lambda surface: self.surfaces.update({surface: "asking"}),
            on_result=lambda health: self.surfaces.update({health.surface: health}),
            on_response=lambda health, response: self.responses.append((health, response)),
            on_comparison=self.findings.append,
        )
        try:
            await probe_and_store(
                self.settings,
                profile,
                control=control,
                engine=engine,
                surfaces=list(self.surfaces),
                asked_by="cli",
                listener=listener,
                total_s=max(1.0, self.begun_at + self.time_s - STORING_S - time.monotonic()),
            )
            self.circuits = documents.to_circuit_documents(hosts.read_circuits(control))
            self.robots = documents.to_robots_documents(hosts.robots_decisions(control))
        except SametrackError as error:
            self.findings.append(CheckResult("stores", "fail", error.detail, error.hint))

    async def _opened[T](self, name: str, check: Callable[[], tuple[str, T]]) -> T | None:
        """Return what a check opens, or None if it cannot be opened; both are a result."""
        opened: list[T] = []

        def open_store() -> CheckResult:
            try:
                says, store = check()
            except SametrackError as error:
                return CheckResult(name, "fail", error.detail, error.hint)
            opened.append(store)
            return CheckResult(name, "ok", says)

        await self._check(name, open_store)
        return next(iter(opened), None)

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
    disk = partial(
        doctor_checks.check_disk, settings.data_home, min_free_mb=settings.min_free_disk_mb
    )
    health_check = SystemHealthCheck(
        settings=settings,
        profile=choose_profile(settings),
        checks=[("python", doctor_checks.check_python), ("disk", disk)],
    )
    health_check.run()
    health_check.end()
    if health_check.fault is not None:
        raise health_check.fault
    return health_check.to_document(time.monotonic() - health_check.begun_at)
