"""Erasure of files next to the lake: excerpts, reports, digests, the published database.

Sounds that a killed scan left are deleted, too: no process that needs them is running.
Only these are deleted. Any other file that names the account is reported by the proof, for the
operator to decide.
"""

import re
from collections.abc import Collection, Iterator
from pathlib import Path

from warehouse.home.folder import Home
from warehouse.maintenance.erasure.proof import file_contains

RECREATED_FOLDERS = ("published", "cache/pictures")
"""Folders of files that cannot be searched; they are recreated."""
USER_FOLDERS = ("reports", "digests")
"""Folders of files for users: a file is deleted if it names the account or cannot be searched."""
_UNSEARCHABLE = frozenset({".pdf", ".png", ".jpg", ".jpeg", ".webp"})


def erase_files(home: Home, pattern: re.Pattern[bytes], *, sounds: Collection[str]) -> int:
    """Delete files that name the account or were cut from its sounds; returns how many."""
    doomed = {
        *_excerpts(home, sounds),
        *_copies_of_the_control_store(home),
        *_files(home.sounds_dir),
        *(path for folder in RECREATED_FOLDERS for path in _files(home.root / folder)),
        *(
            path
            for folder in USER_FOLDERS
            for path in _files(home.root / folder)
            if path.suffix.lower() in _UNSEARCHABLE or file_contains(path, pattern)
        ),
    }
    for path in doomed:
        path.unlink(missing_ok=True)
    return len(doomed)


def _excerpts(home: Home, sounds: Collection[str]) -> Iterator[Path]:
    for path in _files(home.cache_dir / "excerpts"):
        if path.name.split("-")[0] in sounds:
            yield path


def _copies_of_the_control_store(home: Home) -> Iterator[Path]:
    """Yield copies made before a migration, which are no longer needed."""
    yield from home.root.glob("control.sqlite.version-*")


def _files(folder: Path) -> Iterator[Path]:
    if folder.is_dir():
        yield from (path for path in folder.rglob("*") if path.is_file())
