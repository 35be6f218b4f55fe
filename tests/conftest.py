"""The tier of every test, and what holds for all of them.

A file with `pytestmark = pytest.mark.full` is of the full tier, any other of the quick one:
`make test` runs the quick tests, `make check` both. A test that takes minutes, and shows in another
case what a shorter one shows, is marked `soak` (`make soak`) and is of no other tier.
Tests of the browser need a Chromium; where there is none they are left out, and the summary says
so.
No test fails because a machine is slow: generated examples have no deadline.
"""

import atexit
import gc
import os
import re
import shutil
import signal
from fnmatch import fnmatch
from pathlib import Path

import pytest
import structlog
from hypothesis import HealthCheck, settings
from xdist.remote import Producer

from tests.scheduling import FilesAndFolders
from tests.shared_files import SharedFolder

for _library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "NUMBA"):
    # read when the library is loaded: the processes that share the tests have a core each
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts what runs in the background so, and all that tests start would inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)

gc.disable()  # until all tests are collected: nothing of that is garbage

os.environ["SANDBOX_CALENDAR"] = "fixed"  # no test depends on the date
# As it comes, structlog formats each exception with colours and source code, which takes seconds.
structlog.configure(
    processors=[
        structlog.processors.add_log_level,
        structlog.processors.format_exc_info,
        structlog.processors.KeyValueRenderer(key_order=["level", "event"]),
    ]
)
pytest_plugins = ["tests.shared_deployment", "tests.postgres", "tests.empty_stores"]

RULES = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("sametrack", RULES, max_examples=15)
settings.register_profile("thorough", RULES, max_examples=500)  # `make soak`
settings.load_profile("sametrack")

ROOT = f"{Path(__file__).parent}{os.sep}"
OTHER_TIERS = re.compile(r"^pytestmark = .*\bpytest\.mark\.(full|soak)\b", re.MULTILINE)
HANGS_AFTER_S = {"full": 900, "soak": 7200}
"""A test of another tier may take longer than `timeout` in pyproject.toml says."""
LONG_FIRST = (
    "end_to_end/",
    "browser/",
    "scan/whole_scans/",
    "orchestration/runs/",
    "notebooks/",
    "captures/sandbox/",
    "platform/",
    "api/services/",
    "cli/processes/",
    "warehouse/",
    "contract/openapi/",
    "audio/",
)
"""Long files start first, so that the processes that share the tests end at about the same time.
Then come the others of the full tier, and the short ones fill what is left.
"""

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
    if asked not in ("quick", "full") or not fnmatch(collection_path.name, "test_*.py"):
        return None
    is_quick = OTHER_TIERS.search(collection_path.read_text(encoding="utf-8")) is None
    return True if is_quick != (asked == "quick") else None


def pytest_itemcollected(item: pytest.Item) -> None:
    if item.get_closest_marker("soak"):
        tier = "soak"
    elif item.get_closest_marker("full"):
        tier = "full"
    else:
        tier = "quick"
        item.add_marker(tier)
    if tier in HANGS_AFTER_S and not item.get_closest_marker("timeout"):
        item.add_marker(pytest.mark.timeout(HANGS_AFTER_S[tier]))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items.sort(key=_turn)
    asked = config.getoption("markexpr")
    if "full" in asked and "soak" not in asked:  # a soak test in a file of the full tier
        _leave_out(config, items, "soak")
    if not shutil.which("chromium"):
        config.stash[LEFT_OUT] = _leave_out(config, items, "browser")


def _leave_out(config: pytest.Config, items: list[pytest.Item], mark: str) -> int:
    left_out = [item for item in items if item.get_closest_marker(mark)]
    items[:] = [item for item in items if not item.get_closest_marker(mark)]
    config.hook.pytest_deselected(items=left_out)
    return len(left_out)


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


def _turn(item: pytest.Item) -> tuple[int, bool]:
    place = str(item.path).removeprefix(ROOT).replace(os.sep, "/")
    turns = (turn for turn, folder in enumerate(LONG_FIRST) if place.startswith(folder))
    return next(turns, len(LONG_FIRST)), item.get_closest_marker("full") is None


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    count = config.stash.get(LEFT_OUT, 0)
    if count:
        terminalreporter.section("no Chromium on this machine")
        terminalreporter.write_line(f"{count} tests of the browser were left out", yellow=True)
        terminalreporter.write_line("`make setup-browser` installs it (Debian, as root)")
