"""Keep the tables of a demo, so that analysts have data after it.

Jobs are not kept: a later scan of the same track is a scan, not the demo's result again.
"""

import shutil
from pathlib import Path

from warehouse.records.errors import SametrackError

WORLD = "sandbox"
"""World of demos, and its folder in a data home."""
_MARK = "world.json"
_FOLDERS = (Path("cache/excerpts"), Path("lake"))


def has_tables(data_home: Path) -> bool:
    """Return True if the sandbox below this data home has a lake."""
    return any((data_home / WORLD / "lake").glob("*/*/_delta_log"))


def keep_tables(source: Path, target: Path) -> bool:
    """Copy lake and excerpts of the sandbox from one data home to another.

    Returns False, and changes nothing, if the target has tables already: two demos are two worlds
    with the same ids. The mark comes last, so an interrupted copy is no home.

    Raises:
        SametrackError: The folder is not writable.
    """
    if has_tables(target):
        return False
    home = target / WORLD
    try:
        for folder in _FOLDERS:
            if (source / WORLD / folder).is_dir():
                _copy(source / WORLD / folder, home / folder)
        home.chmod(0o700)
        shutil.copy2(source / WORLD / _MARK, home / _MARK)
    except OSError as error:
        raise SametrackError(f"{target} cannot be written: {error.strerror}") from error
    return True


def _copy(source: Path, target: Path) -> None:
    partial = target.with_name(f"{target.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    shutil.copytree(source, partial)
    shutil.rmtree(target, ignore_errors=True)
    partial.rename(target)
