"""Tests of the browser need a Chromium. Where there is none they are left out, and that is said.

No test fails because a machine is slow: made-up examples have no time that they must keep.
"""

import shutil

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("sametrack", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("sametrack")

LEFT_OUT = pytest.StashKey[int]()
LONG_FIRST = ("tests/integration/scan", "tests/integration/cli", "tests/integration")
"""So the processes that share the tests end at about the same time."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items.sort(key=_turn)
    if shutil.which("chromium"):
        return
    left_out = [item for item in items if item.get_closest_marker("browser")]
    items[:] = [item for item in items if not item.get_closest_marker("browser")]
    config.hook.pytest_deselected(items=left_out)
    config.stash[LEFT_OUT] = len(left_out)


def _turn(item: pytest.Item) -> int:
    where = item.path.as_posix()
    return next((turn for turn, folder in enumerate(LONG_FIRST) if folder in where), 9)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    count = config.stash.get(LEFT_OUT, 0)
    if count:
        terminalreporter.section("no Chromium on this machine")
        terminalreporter.write_line(f"{count} tests of the browser were left out", yellow=True)
        terminalreporter.write_line("`make setup-browser` installs it (Debian, as root)")
