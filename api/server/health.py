"""Readiness of this service: control store, lake, workers and disk, with the reason of a failure.

A reason names an error class, never a path or an address.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from api.schemas.base_models import HealthCheck, ReadinessReport, SurfaceState
from api.schemas.extensions.doctor import DoctorReport
from api.server.platform_health import PlatformHealth
from warehouse.home.disk_space import free_megabytes, why_unwritable
from warehouse.records.errors import ProfileNotChosenError, WarehouseError


@dataclass(frozen=True, slots=True)
class Readiness:
    """Named probes. A probe returns what is wrong, None if nothing is, and may raise.

    `platform` is None while no profile is chosen. Its state is reported but does not decide
    readiness.
    """

    probes: Mapping[str, Callable[[], str | None]]
    platform: PlatformHealth | None = None

    def checks(self) -> list[HealthCheck]:
        """Run every probe."""
        return [{"name": name, "reason": _run_probe(probe)} for name, probe in self.probes.items()]

    def document(self) -> ReadinessReport:
        """Return whether the service is ready, with the last probe outcome of each surface."""
        checks = self.checks()
        return {"ready": _is_ready(checks), "checks": checks, "surfaces": self._states()}

    def report(self) -> DoctorReport:
        """Return the readiness document with everything known about the surfaces.

        Raises:
            ProfileNotChosenError: No profile is chosen, so there is no platform to report on.
            WarehouseError: The stores cannot be read.
        """
        if self.platform is None:
            raise ProfileNotChosenError("No platform profile is chosen, so nothing is probed")
        checks = self.checks()
        return {"ready": _is_ready(checks), "checks": checks, **self.platform.document()}

    def _states(self) -> list[SurfaceState]:
        """Return the surface states, or none if they cannot be read: the checks report the
        store.
        """
        if self.platform is None:
            return []
        with suppress(WarehouseError):
            return self.platform.states()
        return []


def _is_ready(checks: Sequence[HealthCheck]) -> bool:
    return all(check["reason"] is None for check in checks)


def _run_probe(probe: Callable[[], str | None]) -> str | None:
    try:
        return probe()
    except Exception as exc:  # noqa: BLE001  # whatever it is, the service is not ready
        return type(exc).__name__


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
    """Return what is wrong if the data home cannot be written, as on a read-only disk."""
    why = why_unwritable(folder)
    return None if why is None else f"the data home: {why}"
