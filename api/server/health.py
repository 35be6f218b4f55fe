"""Readiness of this service with the reason of a failure, and the known state of the platform.

A reason names an error class, never a path or an address. Reads stores and contacts no host.
Blocks: routes call it in a thread. Not here: probing (`pipelines/doctor`).
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from api.schemas import health as schemas
from pipelines.doctor import documents
from pipelines.documents.videos import to_document, to_time
from warehouse.control.hosts import CircuitState, RobotsDecision
from warehouse.files import free_megabytes, why_unwritable
from warehouse.records.errors import ProfileNotChosenError, WarehouseError
from warehouse.records.health import SurfaceHealth


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformHealth:
    """State of the surfaces of one profile.

    Attributes:
        latest: Newest probe of each surface.
        last_worked: Time of the last successful read of each surface.
        circuits: State of the circuit breakers.
        robots: Decisions from the hosts' robots files.
        is_demo: True if the profile holds demo data.
    """

    latest: Callable[[], Mapping[str, SurfaceHealth]]
    last_worked: Callable[[], Mapping[str, datetime]]
    circuits: Callable[[], Sequence[CircuitState]]
    robots: Callable[[], Sequence[RobotsDecision]]
    is_demo: bool

    def document(self) -> schemas.PlatformReport:
        """Return the last report on every surface that was ever probed."""
        surfaces = list(self.latest().values())
        newest = max((health.observed_at for health in surfaces), default=None)
        return {
            "surfaces": documents.to_surface_documents(surfaces, last_worked=self.last_worked()),
            "observed_at": to_time(newest),
            "circuits": documents.to_circuit_documents(self.circuits()),
            "robots": documents.to_robots_documents(self.robots()),
            "is_demo_data": self.is_demo,
        }

    def states(self) -> list[schemas.SurfaceState]:
        """Return the outcome of the last probe of each surface, in short."""
        return [to_document(schemas.SurfaceState, health) for health in self.latest().values()]


@dataclass(frozen=True, slots=True)
class Readiness:
    """Named probes. A probe returns why the service is not ready, or None; it may raise.

    `platform` is None while no profile is chosen. Its state is reported but does not decide
    readiness.
    """

    probes: Mapping[str, Callable[[], str | None]]
    platform: PlatformHealth | None = None

    def checks(self) -> list[schemas.HealthCheck]:
        """Run every probe."""
        checks: list[schemas.HealthCheck] = []
        for name, probe in self.probes.items():
            try:
                reason = probe()
            except Exception as exc:  # noqa: BLE001  # whatever it is, the service is not ready
                reason = type(exc).__name__
            checks.append({"name": name, "reason": reason})
        return checks

    def document(self) -> schemas.ReadinessReport:
        """Return whether the service is ready, with the last probe outcome of each surface."""
        checks = self.checks()
        surfaces: list[schemas.SurfaceState] = []
        if self.platform is not None:
            # If the store cannot be read, its own check says so.
            with suppress(WarehouseError):
                surfaces = self.platform.states()
        return {"ready": _is_ready(checks), "checks": checks, "surfaces": surfaces}

    def report(self) -> schemas.DoctorReport:
        """Return the readiness document with everything known about the surfaces.

        Raises:
            ProfileNotChosenError: No profile is chosen, so there is no platform to report on.
            WarehouseError: The stores cannot be read.
        """
        if self.platform is None:
            raise ProfileNotChosenError("No platform profile is chosen, so nothing is probed")
        checks = self.checks()
        return {"ready": _is_ready(checks), "checks": checks, **self.platform.document()}


def _is_ready(checks: Sequence[schemas.HealthCheck]) -> bool:
    return all(check["reason"] is None for check in checks)


def probe_workers(live_workers: Callable[[], Sequence[str]]) -> Callable[[], str | None]:
    """Build a probe that fails when no worker has sent a recent heartbeat."""
    return lambda: None if live_workers() else "no worker is alive; start `sametrack worker`"


def probe_disk(folder: Path, *, min_free_mb: int) -> Callable[[], str | None]:
    """Build a probe that fails when less than `min_free_mb` of disk space is left."""

    def probe() -> str | None:
        free_mb = free_megabytes(folder)
        return None if free_mb >= min_free_mb else f"{free_mb} MB free, {min_free_mb} MB needed"

    return probe


def probe_writable(folder: Path) -> str | None:
    """Return why the data home cannot be written, for example on a read-only disk, or None."""
    reason = why_unwritable(folder)
    return None if reason is None else f"the data home: {reason}"
