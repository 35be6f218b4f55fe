"""Tests of the browser need a Chromium. Where there is none they are left out, and that is said."""

import shutil

import pytest

LEFT_OUT = pytest.StashKey[int]()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if shutil.which("chromium"):
        return
    left_out = [item for item in items if item.get_closest_marker("browser")]
    items[:] = [item for item in items if not item.get_closest_marker("browser")]
    config.hook.pytest_deselected(items=left_out)
    config.stash[LEFT_OUT] = len(left_out)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    count = config.stash.get(LEFT_OUT, 0)
    if count:
        terminalreporter.section("no Chromium on this machine")
        terminalreporter.write_line(f"{count} tests of the browser were left out", yellow=True)
        terminalreporter.write_line("`make setup-browser` installs it (Debian, as root)")
