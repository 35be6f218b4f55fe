"""The installed wheel works in another folder, without the extras and without the clone."""

import json
import os
import signal
import subprocess
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.stage import IN_TESTS, PATIENCE_S
from tests.wheels import build_wheel, install_wheel

type Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    wheel = build_wheel(tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("wheel"))
    return install_wheel(wheel, tmp_path_factory.mktemp("environment"))


@pytest.fixture
def environment(programs: Path, tmp_path: Path) -> dict[str, str]:
    """What a login shell has, and nothing that points at the clone."""
    path = f"{programs}{os.pathsep}{os.defpath}"
    return {"HOME": str(tmp_path), "PATH": path, "COLUMNS": "200", **IN_TESTS}


@pytest.fixture
def run(programs: Path, environment: dict[str, str], tmp_path: Path) -> Run:
    def command(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [programs / "sametrack", *words],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    return command


def test_it_is_loaded_from_its_environment_without_the_extras(
    programs: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    code = (
        "import api, warehouse.extras as e; "
        "print(api.__file__, *map(e.missing_libraries, e.EXTRAS))"
    )
    done = subprocess.run(
        [programs / "python", "-c", code],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.startswith(str(programs.parent))
    for library in ("pandas", "playwright", "psycopg", "dagster_celery", "adbutils"):
        assert f"'{library}'" in done.stdout


def test_the_demo_runs_to_its_end(run: Run, tmp_path: Path, sound_cache: Path) -> None:
    done = run(
        *("demo", "--seed", "7", "--size", "0.1", "--cache", str(sound_cache)),
        *("--out", str(tmp_path / "out")),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    document = json.loads((tmp_path / "out" / "demo-seed7-size0.1.json").read_text())
    assert document["ground_truth"]["goals_met"]


def test_reports_are_listed_and_the_doctor_knows_what_is_missing(run: Run) -> None:
    listed = run("report", "--list")
    assert listed.returncode == 0, listed.stderr
    assert "track" in listed.stdout
    refused = run("report", "quality")
    assert refused.returncode == 2
    assert "sametrack[analysis]" in refused.stderr
    health = json.loads(run("doctor", "--no-upstream", "--json").stdout)
    lines = {line["name"]: line["says"] for line in health["machine"]}
    assert "not installed: analysis, browser" in lines["extras"]


def test_up_becomes_ready_and_ends_on_sigterm(
    programs: Path, environment: dict[str, str], watch: Any, tmp_path: Path
) -> None:
    log, api = tmp_path / "log", watch.find_port()
    ports = {"API_PORT": str(api), "SANDBOX_PORT": str(watch.find_port()), "WORKER_RUNS": "1"}
    command = ("up", "--sandbox", "--size", "0.1", "--dagster-port", str(watch.find_port()))
    with log.open("w") as stream:
        up = subprocess.Popen(
            [programs / "sametrack", *command],
            cwd=tmp_path, env={**environment, **ports}, stdout=stream, stderr=stream,
            start_new_session=True,
        )  # fmt: skip
    try:
        assert watch.wait_until(lambda: "ready (profile" in log.read_text()), log.read_text()
        everybody = watch.family(up.pid)
        with urllib.request.urlopen(f"http://127.0.0.1:{api}/readyz") as answer:
            assert json.load(answer)["ready"]
        up.send_signal(signal.SIGTERM)
        up.wait(PATIENCE_S)
        assert watch.wait_until(lambda: watch.are_gone(everybody))
    finally:
        if up.poll() is None:
            os.killpg(up.pid, signal.SIGKILL)
            up.wait()
