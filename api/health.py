"""Whether this service can do its work: control store, lake, workers, disk. And why not.

Reasons name a class of error, never a path or an address.
"""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

MEGABYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that must work, and what is wrong with it; None: nothing."""

    name: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class Readiness:
    """Named probes; each returns what is wrong, None when nothing is, and may raise."""

    probes: Mapping[str, Callable[[], str | None]]

    def checks(self) -> list[Check]:
        """Ask every probe."""
        return [Check(name, _ask(probe)) for name, probe in self.probes.items()]


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
