"""The time that libraries read themselves, moved by a test."""

import time
from types import SimpleNamespace

import pytest


class MovedTime:
    """What `time.time()` returns in some modules, until the test is over."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *modules: str) -> None:
        self.now = 1_800_000_000.0
        moved = SimpleNamespace(time=lambda: self.now, perf_counter=time.perf_counter)
        for module in modules:
            monkeypatch.setattr(f"{module}.time", moved)


@pytest.fixture
def request_time(monkeypatch: pytest.MonkeyPatch) -> MovedTime:
    """The time of the rate limit."""
    return MovedTime(monkeypatch, "limits.storage.memory", "api.server.middleware")
