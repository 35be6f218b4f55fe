"""The platform as a process: it starts, stops and dies without leaving anything behind."""

import signal
import subprocess
import sys
from pathlib import Path

import httpx2 as httpx
import psutil
import pytest

from pipelines.sandbox.server.addresses import SandboxUrls
from pipelines.sandbox.server.media_tickets import media_address
from pipelines.sandbox.server.platform import SandboxPlatform
from tests.children import platform as running_platform
from tests.children import wait_until_gone
from tests.stage import PATIENCE_S, wait_for

from .conftest import SEED, SIZE, Sandbox


def rendering(process: "subprocess.Popen[str]") -> list[int]:
    """Everything below the platform, once the rendering process that it starts is there."""

    def look() -> list[int]:
        children = psutil.Process(process.pid).children(recursive=True)
        renders = any(map(_is_renderer, children))
        return [child.pid for child in children] if renders else []

    return wait_for(look)


def _is_renderer(process: psutil.Process) -> bool:
    return "spawn_main" in " ".join(process.cmdline())


def test_a_request_that_hangs_does_not_keep_it_from_ending_cleanly(tmp_path: Path) -> None:
    with running_platform(tmp_path, seed=SEED, size=SIZE) as (process, port):
        children = rendering(process)
        base = f"http://127.0.0.1:{port}"
        fault = {"surface": "*", "kind": "timeout", "seconds": PATIENCE_S}
        httpx.post(f"{base}/_world/faults", json=fault, timeout=PATIENCE_S, verify=False)
        with pytest.raises(httpx.TimeoutException):
            httpx.get(f"{base}/web/api/v2/music/info/", timeout=0.3, verify=False)
        process.terminate()
        output, _ = process.communicate(timeout=PATIENCE_S)
        assert (process.returncode, output) == (0, "")
        wait_until_gone(children)


def test_with_latency_a_client_gives_up_and_ctrl_c_ends_it_cleanly(tmp_path: Path) -> None:
    with running_platform(tmp_path, "--latency-ms", "3000", seed=SEED, size=SIZE) as (
        process,
        port,
    ):
        children = rendering(process)
        with pytest.raises(httpx.ReadTimeout):
            httpx.get(f"http://127.0.0.1:{port}/web/api/v2/music/info/", timeout=0.3, verify=False)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=PATIENCE_S)
        assert (process.returncode, output) == (0, "")
        wait_until_gone(children)


def test_killed_it_leaves_no_rendering_process(tmp_path: Path) -> None:
    with running_platform(tmp_path, seed=SEED, size=SIZE) as (process, port):
        children = rendering(process)
        process.kill()
        process.wait()
        wait_until_gone(children)
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"http://127.0.0.1:{port}/_world/cpu", verify=False)


def test_a_killed_rendering_process_is_replaced(sandbox: Sandbox, tmp_path: Path) -> None:
    renderer = next(filter(_is_renderer, map(psutil.Process, rendering(sandbox.process))))
    renderer.kill()
    twin = SandboxPlatform(sandbox.world, cache_dir=tmp_path, addresses=SandboxUrls(sandbox.port))
    address = media_address(twin, sandbox.world.tracks[-1], codec="mp3")  # nobody else asks for it
    twin.close()
    path = httpx.URL(address).raw_path.decode()
    answer = sandbox.client.get(path, timeout=PATIENCE_S)
    assert answer.status_code == 200
    assert answer.content


def test_a_taken_port_is_said_at_once(sandbox: Sandbox, tmp_path: Path) -> None:
    second = subprocess.run(
        [
            sys.executable, "-m", "pipelines.sandbox", "--seed", str(SEED), "--size", str(SIZE),
            "--port", str(sandbox.port), "--cache", str(tmp_path),
        ],
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert second.returncode != 0
    assert second.stdout == ""
    assert str(sandbox.port) in second.stderr
