"""Three processes capture without end: together they stay as polite as one."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

PROGRAM = Path(__file__).parent / "programs" / "capture_loop.py"
PROFILE = Path(__file__).parents[3] / "pipelines/upstream/profiles/sandbox.toml"
PROCESSES, RATE, BURST, SECONDS = 3, 8, 4, 8
RETRY_AFTER_S = 4
ON_ITS_WAY_S = 1.5  # what was sent before the others could know cannot be called back
WINDOWS_S = (1, 3)
LATE = 4  # requests that a busy machine may deliver later than they were due, into another window
HOST = "share.vidplat.localhost"


@dataclass
class Platform:
    """The stand-in platform in a process of its own."""

    port: int
    client: httpx2.Client

    def told(self, path: str, **query: int | str) -> Any:
        return self.client.get(f"/_world/{path}", params=query).json()


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    cache = str(tmp_path_factory.mktemp("sounds"))
    command = [
        sys.executable, "-m", "pipelines.sandbox", "--seed", "11", "--size", "0.1",
        "--port", "0", "--cache", cache, "--renderers", "1",
    ]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = json.loads(process.stdout.readline())["port"]
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            yield Platform(port, client)
        process.terminate()


@dataclass(frozen=True)
class Visits:
    """What three processes did, and what the platform saw of it."""

    captures: list[int]
    rates: dict[int, dict[str, Any]]
    requests: list[dict[str, Any]]


@pytest.fixture(scope="module")
def visits(platform: Platform, tmp_path_factory: pytest.TempPathFactory) -> Visits:
    """Three processes capture at a low rate, and are once told to wait."""
    home = tmp_path_factory.mktemp("home")
    profile = home / "slow.toml"
    slow = rf"\g<1>{RATE}\nburst = {BURST}"
    profile.write_text(
        re.sub(r"(\[rate\]\nper_second = )[\d.]+\nburst = \d+", slow, PROFILE.read_text())
    )
    tracks = platform.told("tracks", counts=0)["tracks"]
    music_ids = [track["music_id"] for track in tracks]
    fault = {
        "surface": "music_list", "kind": "429", "nth": 6, "times": 1, "retry_after": RETRY_AFTER_S,
    }  # fmt: skip
    platform.client.post("/_world/faults", json=fault).raise_for_status()
    platform.client.delete("/_world/access-log/summary")
    captures = _run([str(profile), str(platform.port), str(home), str(SECONDS)], music_ids)
    rates = {
        window_s: platform.told("access-log/rates", window_ms=window_s * 1000)["hosts"]
        for window_s in WINDOWS_S
    }
    found = platform.told("access-log/requests", limit=10_000, host=HOST)["requests"]
    return Visits(captures, rates, found)


def _run(common: list[str], music_ids: list[str]) -> list[int]:
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
        return [int(process.communicate(timeout=120)[0]) for process in processes]


def test_no_host_is_asked_faster_than_its_rate(visits: Visits) -> None:
    assert min(visits.captures) > 0
    for window_s, hosts in visits.rates.items():
        allowed = BURST + RATE * window_s + LATE
        fast = {name: host["max_in_window"] for name, host in hosts.items()}
        assert {name: most for name, most in fast.items() if most > allowed} == {}
        assert fast[HOST] > RATE * window_s / 2


def test_what_one_process_is_told_to_wait_all_of_them_wait(visits: Visits) -> None:
    told_at = next(entry["ended_at"] for entry in visits.requests if entry["status"] == 429)
    over_at = told_at + RETRY_AFTER_S
    quiet_from = told_at + ON_ITS_WAY_S
    assert [entry for entry in visits.requests if quiet_from < entry["at"] < over_at] == []
    assert [entry for entry in visits.requests if entry["at"] >= over_at]
