"""Whether this service can do its work: control store, lake, workers, disk. And why not.

Reasons name a class of error, never a path or an address.
"""

import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from api.server.platform_health import PlatformHealth
from pipelines.documents.videos import Document
from warehouse.records.errors import ProfileNotChosenError, WarehouseError

MEGABYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that must work, and what is wrong with it; None: nothing."""

    name: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class Readiness:
    """Named probes; each returns what is wrong, None when nothing is, and may raise. `platform` is
    None while no profile is chosen; its state is told, but does not decide.
    """

    probes: Mapping[str, Callable[[], str | None]]
    platform: PlatformHealth | None = None

    def checks(self) -> list[Check]:
        """Ask every probe."""
        return [Check(name, _ask(probe)) for name, probe in self.probes.items()]

    def document(self) -> Document:
        """Whether the service can do its work, and how the surfaces last fared."""
        return {**self._own(), "surfaces": self._states()}

    def report(self) -> Document:
        """The same with everything that is known of the surfaces.

        Raises:
            ProfileNotChosenError: None is chosen, so there is no platform to know of.
            WarehouseError: The stores cannot be read.
        """
        if self.platform is None:
            raise ProfileNotChosenError("No platform profile is chosen, so nothing is probed")
        return {**self._own(), **self.platform.document()}

    def _own(self) -> Document:
        checks = self.checks()
        is_ready = all(check.reason is None for check in checks)
        return {"ready": is_ready, "checks": [asdict(check) for check in checks]}

    def _states(self) -> list[Document]:
        """Empty where they cannot be read: the checks say what is wrong with the stores."""
        if self.platform is None:
            return []
        with suppress(WarehouseError):
            return self.platform.states()
        return []


def _ask(probe: Callable[[], str | None]) -> str | None:
    try:
        return probe()
    except Exception as exc:  # noqa: BLE001  # whatever it is, the service is not ready
        return type(exc).__name__


def probe_workers(live_workers: Callable[[], Sequence[str]]) -> Callable[[], str | None]:
    """Some worker must have said lately that it is alive."""
    return lambda: None if live_workers() else "no worker is alive; start `sametrack worker`"


def probe_disk(folder: Path, *, min_free_mb: int) -> Callable[[], str | None]:
    """There must be room for more observations."""

    def probe() -> str | None:
        free_mb = shutil.disk_usage(folder).free // MEGABYTE
        return None if free_mb >= min_free_mb else f"{free_mb} MB free, {min_free_mb} MB needed"

    return probe
