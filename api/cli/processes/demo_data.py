"""Keep the job and the tables of a demo, so that every read command has data after it.

The job is kept without the key by which results are reused: a later scan of the same track is a
scan, not the demo's result again.
"""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from warehouse.control import open_control
from warehouse.records.errors import SametrackError

WORLD = "sandbox"
"""World of demos, and its folder in a data home."""
_MARK = "world.json"
_FOLDERS = (Path("cache/excerpts"), Path("lake"))


def has_tables(data_home: Path) -> bool:
    """Return True if the sandbox below this data home has a lake."""
    return any((data_home / WORLD / "lake").glob("*/*/_delta_log"))


def keep_tables(source: Path, target: Path) -> bool:
    """Copy lake, excerpts and jobs of the sandbox from one data home to another.

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
                # A rename at the end, so that an interrupted copy is not taken for a lake.
                copy = home / folder
                partial = copy.with_name(f"{copy.name}.partial")
                shutil.rmtree(partial, ignore_errors=True)
                shutil.copytree(source / WORLD / folder, partial)
                shutil.rmtree(copy, ignore_errors=True)
                partial.rename(copy)
        home.chmod(0o700)
        _copy_jobs(source / WORLD, home)
        shutil.copy2(source / WORLD / _MARK, home / _MARK)
    except (OSError, sqlite3.Error) as error:
        raise SametrackError(
            f"{target} cannot be written: {getattr(error, 'strerror', error)}"
        ) from error
    return True


def _copy_jobs(source: Path, home: Path) -> None:
    """Copy the jobs, and the capture numbers, so that new captures continue after the lake's."""
    database = home / "control.sqlite"
    open_control(f"sqlite:///{database}", world=WORLD).close()
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("attach ? as demo", (str(source / database.name),))
        with connection:
            for table in ("jobs", "sequences"):
                connection.execute(f"insert or ignore into {table} select * from demo.{table}")  # noqa: S608 -- names above
            # A later scan of the same track must not get the demo's result.
            connection.execute(
                "update jobs set scan_key = null where job_id in (select job_id from demo.jobs)"
            )
