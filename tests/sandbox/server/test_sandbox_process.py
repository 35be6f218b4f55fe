"""The platform as a process: it starts, stops and dies without leaving anything behind."""

import signal
import subprocess
import sys
from pathlib import Path

import httpx2 as httpx
import psutil
import pytest

from sandbox.server.addresses import SandboxUrls
from sandbox.server.media_tickets import media_address
from sandbox.server.platform import SandboxPlatform
from sandbox.world.world import SandboxWorld
from tests.children import platform as running_platform
from tests.children import wait_until_gone
from tests.deployment import PATIENCE_S

from .conftest import SEED, SIZE, Sandbox

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def world() -> SandboxWorld:
    return SandboxWorld(SEED, SIZE)


def read_sound(world: SandboxWorld, port: int, folder: Path, *, place: int = -1) -> bytes:
    """Read a sound that nobody else asks for; the platform renders it in a process of its own."""
    twin = SandboxPlatform(world, cache_dir=folder, addresses=SandboxUrls(port))
    address = httpx.URL(media_address(twin, world.tracks[place], codec="mp3"))
    twin.close()
    path = address.raw_path.decode()
    answer = httpx.get(f"http://127.0.0.1:{port}{path}", timeout=PATIENCE_S, verify=False)
    assert answer.status_code == 200
    return answer.content


def rendering(
    process: "subprocess.Popen[str]", world: SandboxWorld, port: int, folder: Path
) -> list[int]:
    """Let the platform render a sound; return everything below it."""
    read_sound(world, port, folder)
    children = psutil.Process(process.pid).children(recursive=True)
    assert any(map(_is_renderer, children))
    return [child.pid for child in children]


def _is_renderer(process: psutil.Process) -> bool:
    return "spawn_main" in " ".join(process.cmdline())


@pytest.mark.soak
def test_a_request_that_hangs_does_not_keep_it_from_ending_cleanly(
    world: SandboxWorld, tmp_path: Path
) -> None:
    with running_platform(tmp_path, seed=SEED, size=SIZE) as (process, port):
        children = rendering(process, world, port, tmp_path)
        base = f"http://127.0.0.1:{port}"
        fault = {"surface": "*", "kind": "timeout", "seconds": PATIENCE_S}
        httpx.post(f"{base}/_world/faults", json=fault, timeout=PATIENCE_S, verify=False)
        with pytest.raises(httpx.TimeoutException):
            httpx.get(f"{base}/web/api/v2/music/info/", timeout=0.3, verify=False)
        process.terminate()
        output, _ = process.communicate(timeout=PATIENCE_S)
        assert (process.returncode, output) == (0, "")
        wait_until_gone(children)


@pytest.mark.soak
def test_with_latency_a_client_gives_up_and_ctrl_c_ends_it_cleanly(
    world: SandboxWorld, tmp_path: Path
) -> None:
    with running_platform(tmp_path, "--latency-ms", "3000", seed=SEED, size=SIZE) as (
        process,
        port,
    ):
        children = rendering(process, world, port, tmp_path)
        with pytest.raises(httpx.ReadTimeout):
            httpx.get(f"http://127.0.0.1:{port}/web/api/v2/music/info/", timeout=0.3, verify=False)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=PATIENCE_S)
        assert (process.returncode, output) == (0, "")
        wait_until_gone(children)


@pytest.mark.soak
def test_processes_render_when_a_sound_is_asked_for_and_a_kill_leaves_none(
    world: SandboxWorld, tmp_path: Path
) -> None:
    with running_platform(tmp_path, seed=SEED, size=SIZE) as (process, port):
        assert not any(map(_is_renderer, psutil.Process(process.pid).children(recursive=True)))
        children = rendering(process, world, port, tmp_path)
        process.kill()
        process.wait()
        wait_until_gone(children)
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"http://127.0.0.1:{port}/_world/cpu", verify=False)


def test_a_killed_rendering_process_is_replaced(sandbox: Sandbox, tmp_path: Path) -> None:
    world, port = sandbox.world, sandbox.port
    children = map(psutil.Process, rendering(sandbox.process, world, port, tmp_path))
    next(filter(_is_renderer, children)).kill()
    assert read_sound(world, port, tmp_path, place=-2)


def test_a_taken_port_is_said_at_once(sandbox: Sandbox, tmp_path: Path) -> None:
    second = subprocess.run(
        [
            sys.executable, "-m", "sandbox", "--seed", str(SEED), "--size", str(SIZE),
            "--port", str(sandbox.port), "--cache", str(tmp_path),
        ],
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert second.returncode != 0
    assert second.stdout == ""
    assert str(sandbox.port) in second.stderr
