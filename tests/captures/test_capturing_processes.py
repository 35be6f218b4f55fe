"""Two processes capture without end: together they stay as polite as one."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.deployment import wait_for

pytestmark = pytest.mark.full

PROGRAM = Path(__file__).parent / "programs" / "capture_loop.py"
PROFILE = Path(__file__).parents[2] / "pipelines/platform/profiles/sandbox.toml"
PROCESSES, READERS, RATE, BURST = 2, 4, 16, 4
RETRY_AFTER_S = 2
AFTERWARDS = 12
"""Requests after the wait that are waited for."""
HOST = "share.vidplat.localhost"


@dataclass
class Platform:
    """The stand-in platform in a process of its own."""

    port: int
    client: httpx2.Client

    def control_data(self, path: str, **query: int | str) -> Any:
        return self.client.get(f"/_world/{path}", params=query).json()

    def requests(self) -> list[dict[str, Any]]:
        """What the host was asked."""
        found: list[dict[str, Any]] = self.control_data(
            "access-log/requests", limit=10_000, host=HOST
        )["requests"]
        return found


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    cache = str(tmp_path_factory.mktemp("sounds"))
    command = [
        sys.executable, "-m", "sandbox", "--seed", "11", "--size", "0.1",
        "--port", "0", "--cache", cache,
    ]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = json.loads(process.stdout.readline())["port"]
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            yield Platform(port, client)
        process.terminate()


@dataclass(frozen=True)
class Visits:
    """What two processes did, and what the platform saw of it."""

    captures: list[int]
    requests: list[dict[str, Any]]
    begun_at: float

    @property
    def told_at(self) -> float:
        return float(next(one["ended_at"] for one in self.requests if one["status"] == 429))

    @property
    def after(self) -> list[dict[str, Any]]:
        over_at = self.told_at + RETRY_AFTER_S
        return [one for one in self.requests if one["at"] >= over_at]


@pytest.fixture(scope="module")
def visits(platform: Platform, tmp_path_factory: pytest.TempPathFactory) -> Visits:
    """Two processes capture at a low rate, and are once told to wait."""
    home = tmp_path_factory.mktemp("home")
    profile = home / "slow.toml"
    slow = rf"\g<1>{RATE}\nburst = {BURST}"
    profile.write_text(
        re.sub(r"(\[rate\]\nper_second = )[\d.]+\nburst = \d+", slow, PROFILE.read_text())
    )
    tracks = platform.control_data("tracks", counts=0)["tracks"]
    music_ids = [track["music_id"] for track in tracks]
    fault = {
        "surface": "music_list", "kind": "429", "nth": 6, "times": 1, "retry_after": RETRY_AFTER_S,
    }  # fmt: skip
    platform.client.post("/_world/faults", json=fault).raise_for_status()
    platform.client.delete("/_world/access-log/summary")
    begun_at = time.time()
    captures = _run([str(profile), str(platform.port), str(home)], music_ids, platform)
    return Visits(captures, platform.requests(), begun_at)


def _has_gone_on(platform: Platform) -> bool:
    found = platform.requests()
    was_told = any(one["status"] == 429 for one in found)
    return was_told and len(Visits([], found, 0.0).after) >= AFTERWARDS


def _run(common: list[str], music_ids: list[str], platform: Platform) -> list[int]:
    with ExitStack() as stack:
        processes = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, str(PROGRAM), *common, *music_ids[n:], *music_ids[:n]],
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                    stderr=subprocess.DEVNULL, cwd=Path.cwd(),
                )
            )
            for n in range(PROCESSES)
        ]  # fmt: skip
        for process in processes:  # all of them begin at the same moment
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        wait_for(lambda: _has_gone_on(platform))
        return [int(process.communicate()[0]) for process in processes]


@pytest.mark.soak
def test_no_host_is_asked_faster_than_its_rate(visits: Visits) -> None:
    """A busy machine delivers late, never early, so the firm bound is from the beginning on."""
    assert min(visits.captures) > 0
    times = sorted(one["unix"] - visits.begun_at for one in visits.requests)
    ahead = [at for count, at in enumerate(times, start=1) if count > BURST + RATE * at]
    assert ahead == []


@pytest.mark.soak
def test_retry_after_pauses_all_capturing_processes(visits: Visits) -> None:
    """What was sent before the others could know cannot be called back: one of each reader."""
    over_at = visits.told_at + RETRY_AFTER_S
    meanwhile = [one for one in visits.requests if visits.told_at < one["at"] < over_at]
    assert len(meanwhile) < PROCESSES * READERS
    assert len(visits.after) >= AFTERWARDS
