"""Watches the processes that share the tests, as a plugin: `pytest -p tests.measured`.

A plugin, because modules count from their import on; nothing else imports this. Of the programs
that tests start, those are watched that ask for `child_environment`, so a share is a lower bound.
"""

import os
from pathlib import Path

from tests.branch_coverage import FOLDER, INTO, watch, write

# A child of such a process inherits the variable; `measured_children` decides about it.
IS_WATCHED = "PYTEST_XDIST_WORKER" in os.environ and INTO not in os.environ
if IS_WATCHED:
    watch(FOLDER)


def child_environment() -> dict[str, str]:
    """Return what lets a program of Python be watched; nothing if this process is not."""
    if INTO not in os.environ and "PYTEST_XDIST_WORKER" not in os.environ:
        return {}
    return {"PYTHONPATH": str(Path(__file__).with_name("measured_children")), INTO: str(FOLDER)}


def pytest_sessionfinish() -> None:
    """Write what has run so far: xdist kills a process that takes ten seconds to end."""
    if IS_WATCHED:
        write(FOLDER)
