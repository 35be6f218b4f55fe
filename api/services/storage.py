"""Disk usage of the stores, free space, and today's requests per host.

Blocks: walks folders. Paths are never returned. Not here: HTTP, clean-up.
"""

import os
import shutil
from collections.abc import Iterable, Mapping
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
    sizes = {name: _measure(root, entries) for name, entries in PARTS.items()}
    named = {entry for entries in PARTS.values() for entry in entries}
    others: list[str] = []
    with suppress(OSError):
        others = [path.name for path in root.iterdir() if path.name not in named]
    sizes["other"] = _measure(root, others)
    parts: list[StoragePart] = [
        {"name": name, "bytes": size, "files": files} for name, (size, files) in sizes.items()
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


def _measure(root: Path, names: Iterable[str]) -> tuple[int, int]:
    """Return total size and number of the files at or below these paths of a folder."""
    sizes: list[int] = []
    for name in names:
        files: Iterable[Path] = (root / name,)
        # A file may vanish at any moment: compaction and clean-up go on meanwhile.
        with suppress(OSError):
            if (root / name).is_dir():
                walk = os.walk(root / name)
                files = (Path(folder) / file for folder, _, entries in walk for file in entries)
        for file in files:
            with suppress(OSError):
                sizes.append(file.stat().st_size)
    return sum(sizes), len(sizes)
