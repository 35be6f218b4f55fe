"""The tier of every test, and what holds for all of them.

A test's folder says its tier: `quick` (`make test`) or `full` (`make check` runs both). One that
takes minutes, and shows in another case what a shorter one shows, is marked `soak` (`make soak`).
Tests of the browser need a Chromium; where there is none they are left out, and the summary says
so.
No test fails because a machine is slow: generated examples have no deadline.
"""

import atexit
import gc
import os
import shutil
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer

from tests.scheduling import FilesAndFolders
from tests.shared import SharedFolder

for _library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "NUMBA"):
    # read when the library is loaded: the processes that share the tests have a core each
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts what runs in the background so, and all that tests start would inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)

gc.disable()  # until all tests are collected: nothing of that is garbage

os.environ["SANDBOX_CALENDAR"] = "fixed"  # no test depends on the date
pytest_plugins = ["tests.town", "tests.postgres", "tests.empty_lakes"]

RULES = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("sametrack", RULES, max_examples=15)
settings.register_profile("thorough", RULES, max_examples=500)  # `make soak`
settings.load_profile("sametrack")

ROOT = f"{Path(__file__).parent}{os.sep}"
TIERS = {
    "unit": "quick",
    "contract": "quick",
    "end_to_end": "quick",
    "integration": "full",
    "notebooks": "full",
    "browser": "full",
}
HANGS_AFTER_S = {"full": 900, "soak": 7200}
"""A test of another tier may take longer than `timeout` in pyproject.toml says."""
LONG_FIRST = (
    "end_to_end/",
    "browser/",
    "integration/scan/",
    "notebooks/",
    "integration/upstream/",
    "integration/mobileapp/test_scans_by_app.py",
    "integration/cli/",
    "integration/",
)
"""Long files start first, so that the processes that share the tests end at about the same time."""

LEFT_OUT = pytest.StashKey[int]()


@pytest.fixture(scope="session")
def shared_folder(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> SharedFolder:
    """Files that this run of the tests makes once, whichever of its processes needs them first."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if hasattr(request.config, "workerinput") else base) / "shared"
    folder.mkdir(exist_ok=True)
    return SharedFolder(folder)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the other tier unread when one is asked for: importing it takes seconds."""
    asked = config.getoption("markexpr")
    place = str(collection_path)
    if asked not in TIERS.values() or not place.startswith(ROOT):
        return None
    return True if TIERS.get(_folder(place), asked) != asked else None


def pytest_itemcollected(item: pytest.Item) -> None:
    is_soak = item.get_closest_marker("soak") is not None
    tier = "soak" if is_soak else TIERS[_folder(str(item.path))]
    if not is_soak:
        item.add_marker(tier)
    if tier in HANGS_AFTER_S and not item.get_closest_marker("timeout"):
        item.add_marker(pytest.mark.timeout(HANGS_AFTER_S[tier]))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items.sort(key=_turn)
    if shutil.which("chromium"):
        return
    left_out = [item for item in items if item.get_closest_marker("browser")]
    items[:] = [item for item in items if not item.get_closest_marker("browser")]
    config.hook.pytest_deselected(items=left_out)
    config.stash[LEFT_OUT] = len(left_out)


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()
    gc.set_threshold(50_000, 20, 50)  # tests leave little behind, and each look takes long


def pytest_unconfigure(config: pytest.Config) -> None:
    """Let the interpreter free everything when it ends; DuckDB reports what outlives it as leaked.

    Hypothesis never removes its callback of the collector, which keeps all modules alive. In some
    orders of the tests one process still reports objects, and what holds them was not found. So
    processes that share the tests, which have nothing more to say here, close their stderr.
    """
    atexit.register(gc.unfreeze)  # not yet: pytest collects garbage here, five times
    atexit.register(gc.callbacks.clear)
    if hasattr(config, "workerinput"):
        # as the last thing of all: pytest's capturing would open it again
        atexit.register(os.dup2, os.open(os.devnull, os.O_WRONLY), 2)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> FilesAndFolders | None:
    return FilesAndFolders(config, log) if config.getoption("dist") == "loadfile" else None


def _turn(item: pytest.Item) -> int:
    place = str(item.path).removeprefix(ROOT).replace(os.sep, "/")
    turns = (turn for turn, folder in enumerate(LONG_FIRST) if place.startswith(folder))
    return next(turns, len(LONG_FIRST))


def _folder(path: str) -> str:
    """The folder of `tests` that a file or folder is in; asked of thousands, hence of texts."""
    return path.removeprefix(ROOT).partition(os.sep)[0]


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    count = config.stash.get(LEFT_OUT, 0)
    if count:
        terminalreporter.section("no Chromium on this machine")
        terminalreporter.write_line(f"{count} tests of the browser were left out", yellow=True)
        terminalreporter.write_line("`make setup-browser` installs it (Debian, as root)")
