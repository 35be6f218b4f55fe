"""A client that answers from a script, and the shape files. Fakes of this area live here."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from pipelines.platform.call_trace import HttpResponse, current_trace
from pipelines.platform.http.client import GuestClient, HttpLimits, HttpRequest
from pipelines.platform.http.host_policy import DEFAULT_PAUSE_S, HostPolicy, HostRateLimiter
from pipelines.platform.profiles import PlatformProfile, load_profile
from tests.platform.lenient_hosts import NoCircuits
from tests.platform.sandbox_platform import (
    client,
    clock,
    control_store,
    faults,
    scripted_profile,
    scripted_server,
    start,
    stores,
    switches,
    track,
    unused_port,
)
from tests.platform.shape_answers import Shape, read_index
from warehouse.records.errors import SametrackError

__all__ = [
    "client",
    "clock",
    "control_store",
    "faults",
    "scripted_profile",
    "scripted_server",
    "start",
    "stores",
    "switches",
    "track",
    "unused_port",
]


class PausedHosts(HostRateLimiter):
    """Takes note of the pauses that a client begins."""

    def __init__(self) -> None:
        self.paused: list[str] = []

    async def pause(self, host: str, retry_after: str | None) -> float:
        self.paused.append(host)
        return DEFAULT_PAUSE_S if retry_after is None else float(retry_after)


class ScriptedClient(GuestClient):
    """Answers in the order of its script; an error in it is raised."""

    def __init__(
        self, profile: PlatformProfile, script: Sequence[HttpResponse | SametrackError]
    ) -> None:
        self.profile = profile
        self.limits = HttpLimits(wait_initial_s=0, wait_jitter_s=0)
        self._faults = Counter()
        self.asked: list[HttpRequest] = []
        self.is_closed = False
        self.pauses = PausedHosts()
        self.policy = HostPolicy(limiter=self.pauses, circuits=NoCircuits())
        self._script = list(script)

    async def fetch(self, ask: HttpRequest) -> HttpResponse:
        current_trace().request_count += 1
        self.asked.append(ask)
        step = self._script.pop(0)
        if isinstance(step, SametrackError):
            raise step
        answer = replace(step, surface=ask.surface)
        current_trace().last = answer
        return answer

    async def aclose(self) -> None:
        self.is_closed = True


@pytest.fixture(scope="session")
def profile() -> PlatformProfile:
    """Nothing can change it, so all tests share one."""
    return load_profile("sandbox", sandbox_port=8790)


@pytest.fixture(scope="session")
def shape_named() -> Callable[[str], Shape]:
    known = {shape.file: shape for shape in read_index()}
    return known.__getitem__


@pytest.fixture
def scripted(
    profile: PlatformProfile,
) -> Callable[[Sequence[HttpResponse | SametrackError]], ScriptedClient]:
    return lambda script: ScriptedClient(profile, script)


@pytest.fixture
def shapes() -> list[Shape]:
    return read_index()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "shape" in metafunc.fixturenames:
        index = [shape for shape in read_index() if shape.level == "body"]
        metafunc.parametrize("shape", index, ids=[shape.file for shape in index])
