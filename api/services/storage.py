"""Disk usage of the stores, free space, and today's requests per host.

Blocks: walks folders. Paths are never returned. Not here: HTTP, clean-up.
"""

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from api.schemas.extensions.exports import HostBudget, Storage, StoragePart

PARTS: Mapping[str, tuple[str, ...]] = {
    "lake": ("lake",),
    "control": ("control.sqlite", "control.sqlite-wal", "control.sqlite-shm"),
    "orchestrator": ("dagster",),
    "sounds": ("sounds",),
    "reports": ("reports",),
    "cache": ("cache",),
}


def measure_storage(
    root: Path, *, spent_today: Mapping[str, int], daily_budget: int, is_demo: bool
) -> Storage:
    """Return sizes below the home folder in bytes, and today's request budget (UTC)."""
    found = {name: _measure(root, names) for name, names in PARTS.items()}
    named = {name for names in PARTS.values() for name in names}
    rest = [path.name for path in _entries(root) if path.name not in named]
    found["other"] = _measure(root, tuple(rest))
    parts: list[StoragePart] = [
        {"name": name, "bytes": size, "files": files} for name, (size, files) in found.items()
    ]
    hosts: list[HostBudget] = [
        {"host": host, "used": used, "left": max(0, daily_budget - used)}
        for host, used in spent_today.items()
    ]
    return {
        "parts": parts,
        "total_bytes": sum(part["bytes"] for part in parts),
        "free_bytes": shutil.disk_usage(root).free,
        "budget": {
            "limit": daily_budget,
            "used": max(spent_today.values(), default=0),
            "hosts": hosts,
        },
        "is_demo_data": is_demo,
    }


def _measure(root: Path, names: tuple[str, ...]) -> tuple[int, int]:
    sizes = [size for name in names for size in _sizes(root / name)]
    return sum(sizes), len(sizes)


def _sizes(path: Path) -> Iterator[int]:
    """Yield the sizes of all files at or below a path; files that vanish meanwhile are skipped."""
    with suppress(OSError):
        if not path.is_dir():
            yield path.stat().st_size
            return
    for folder, _, files in os.walk(path):
        for name in files:
            with suppress(OSError):
                yield (Path(folder) / name).stat().st_size


def _entries(root: Path) -> list[Path]:
    with suppress(OSError):
        return sorted(root.iterdir())
    return []
