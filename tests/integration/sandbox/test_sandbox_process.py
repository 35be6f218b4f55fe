"""The platform as a process: it starts, stops and dies without leaving anything behind."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx2 as httpx
import psutil
import pytest

from pipelines.sandbox.addresses import Addresses
from pipelines.sandbox.platform import Platform
from pipelines.sandbox.tickets import media_address
from pipelines.world.world import World

from .conftest import SEED, SIZE, start


def _gone(pids: list[int]) -> bool:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if not any(_is_running(pid) for pid in pids):
            return True
        time.sleep(0.05)
    return False


def _is_running(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _rendering(process: subprocess.Popen[str]) -> list[int]:
    """Wait for the rendering process, which the platform starts for itself."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        children = psutil.Process(process.pid).children(recursive=True)
        if any("spawn_main" in " ".join(child.cmdline()) for child in children):
            return [child.pid for child in children]
        time.sleep(0.05)
    return []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(tmp_path: Path, number: signal.Signals) -> None:
    process, _ = start(tmp_path)
    children = _rendering(process)
    process.send_signal(number)
    output, _ = process.communicate(timeout=20)
    assert process.returncode == 0
    assert output == ""
    assert children
    assert _gone(children)


def test_a_request_that_hangs_does_not_keep_it_alive(tmp_path: Path) -> None:
    process, port = start(tmp_path)
    base = f"http://127.0.0.1:{port}"
    httpx.post(f"{base}/_world/faults", json={"surface": "*", "kind": "timeout", "seconds": 60})
    with pytest.raises(httpx.TimeoutException):
        httpx.get(f"{base}/web/api/v2/music/info/", timeout=0.3)
    process.terminate()
    process.communicate(timeout=20)
    assert process.returncode == 0


def test_killed_it_leaves_no_rendering_process(tmp_path: Path) -> None:
    process, port = start(tmp_path)
    children = _rendering(process)
    process.kill()
    process.communicate(timeout=20)
    assert children
    assert _gone(children)
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://127.0.0.1:{port}/_world/cpu")


def test_a_killed_rendering_process_is_replaced(tmp_path: Path) -> None:
    process, port = start(tmp_path)
    renderer = next(
        child
        for child in map(psutil.Process, _rendering(process))
        if "spawn_main" in " ".join(child.cmdline())
    )
    renderer.kill()
    base = f"http://127.0.0.1:{port}"
    world = World(SEED, SIZE)
    twin = Platform(world, cache_dir=tmp_path / "own", addresses=Addresses(port))
    address = media_address(twin, world.tracks[0], codec="mp3")
    twin.close()
    answer = httpx.get(f"{base}{httpx.URL(address).raw_path.decode()}", timeout=30)
    process.terminate()
    process.communicate(timeout=20)
    assert answer.status_code == 200
    assert answer.content


def test_a_taken_port_is_said_at_once(tmp_path: Path) -> None:
    process, port = start(tmp_path)
    second = subprocess.run(
        [
            sys.executable, "-m", "pipelines.sandbox", "--seed", str(SEED), "--size", str(SIZE),
            "--port", str(port), "--cache", str(tmp_path),
        ],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    process.terminate()
    process.communicate(timeout=20)
    assert second.returncode != 0
    assert second.stdout == ""
    assert str(port) in second.stderr


def test_latency_makes_an_impatient_client_give_up(tmp_path: Path) -> None:
    process, port = start(tmp_path, "--latency-ms", "3000")
    with pytest.raises(httpx.ReadTimeout):
        httpx.get(f"http://127.0.0.1:{port}/web/api/v2/music/info/", timeout=0.3)
    process.terminate()
    process.communicate(timeout=20)
    assert process.returncode == 0
