"""The wheel contains everything that the product reads at run time, and nothing of its user.

Installed, it works in another folder, without the extras and without the clone. Its scan, its demo
and its `up` are in `make soak`. The `up` of the clone is in `test_up.py`.
"""

import hashlib
import json
import os
import signal
import subprocess
import sys
import urllib.request
import zipfile
from collections.abc import Callable
from email.parser import Parser
from pathlib import Path
from typing import Any

import pytest

from sandbox.world.world import SandboxWorld
from tests.cli.processes.wheels import build_wheel, install_wheel, tracked
from tests.deployment import IN_TESTS, PATIENCE_S
from tests.shared_deployment import SEED, SIZE
from warehouse import open_warehouse
from warehouse.extras import EXTRAS

pytestmark = pytest.mark.full

DEMO_MARK = "demo data, generated on this machine"
CACHES = {".cache"}
"""What libraries keep in a home folder."""

NEEDED = {
    "api/console/index.html", "api/console/app/main.js", "notebooks/reports/track.ipynb",
    "pipelines/orchestration/dagster.yaml",
    "pipelines/orchestration/workspace.yaml",
    "pipelines/platform/profiles/public.toml", "pipelines/platform/profiles/sandbox.toml",
    "warehouse/analysis/named_queries/videos/top-videos.sql",
}  # fmt: skip

type Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install_wheel(wheel, tmp_path_factory.mktemp("environment"))


@pytest.fixture
def environment(programs: Path, tmp_path: Path) -> dict[str, str]:
    """What a login shell has, and nothing that points at the clone."""
    path = f"{programs}{os.pathsep}{os.defpath}"
    return {"HOME": str(tmp_path), "PATH": path, "COLUMNS": "200", **IN_TESTS}


@pytest.fixture
def run(programs: Path, environment: dict[str, str], tmp_path: Path) -> Run:
    def command(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [programs / "sametrack", *words],
            cwd=tmp_path,
            env=environment | env,
            capture_output=True,
            text=True,
            check=False,
        )

    return command


def names_in(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_every_file_of_the_product_is_in_it(wheel: Path) -> None:
    names = names_in(wheel)
    assert sorted(NEEDED - names) == []
    product = {name for name in tracked() if "/" in name}
    assert sorted(product - names) == []


def test_wheel_contains_no_collected_data(wheel: Path) -> None:
    packages = {"api", "notebooks", "pipelines", "sandbox", "warehouse"}
    others = [name for name in names_in(wheel) if name.partition("/")[0] not in packages]
    assert all(".dist-info/" in name for name in others)
    assert [name for name in names_in(wheel) if name.startswith("warehouse/data")] == []


@pytest.mark.soak
def test_wheel_build_is_reproducible(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    copy = tmp_path_factory.mktemp("a folder with another name")
    again = build_wheel(copy, tmp_path_factory.mktemp("wheel"), age_s=400 * 86_400)
    assert again.name == wheel.name
    assert (
        hashlib.sha256(again.read_bytes()).digest() == hashlib.sha256(wheel.read_bytes()).digest()
    )


def test_wheel_metadata_names_the_command_and_the_extras(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        info = next(name for name in archive.namelist() if name.endswith("/METADATA"))
        metadata = Parser().parsestr(archive.read(info).decode())
        scripts = archive.read(info.replace("METADATA", "entry_points.txt")).decode()
    assert set(metadata.get_all("Provides-Extra") or []) >= {*EXTRAS, "s3"}
    assert "sametrack = api.cli.main:main" in scripts.replace("sametrack=", "sametrack = ")


def test_reports_and_the_orchestrator_find_their_files_in_it(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    code = """
import pipelines
from pipelines.reports.catalogue import NOTEBOOKS
from pipelines.orchestration.instance import TEMPLATE
from warehouse.analysis.query_library import named_queries
print(pipelines.__path__[0])
print(len(list(NOTEBOOKS.glob("*.ipynb"))), len(named_queries()))
print(TEMPLATE.is_file())
"""
    said = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    place, counts, is_file = said.stdout.splitlines()
    assert place == str(tmp_path / "pipelines")
    assert (counts, is_file) == ("6 22", "True")


@pytest.mark.soak
def test_installed_wheel_is_imported_without_extras(
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


@pytest.mark.soak
def test_installed_wheel_scans_the_mock_world_offline(run: Run, tmp_path: Path) -> None:
    """A world that a source brings along: no profile, no platform, no request."""
    world, home = SandboxWorld(SEED, SIZE), tmp_path / "home"
    music_id = world.tracks[0].music_id
    demo = {
        "DATA_PROVIDER": "mock", "MOCK_SEED": str(SEED), "MOCK_SIZE": str(SIZE),
        "DATA_HOME": str(home), "API_PORT": "1", "SANDBOX_PORT": "1", "WORKER_RUNS": "1",
    }  # fmt: skip
    given = ("--candidate-limit", "15", "--count", "5", "--no-search-enabled", "--json")
    answer = run("scan", music_id, *given, **demo)
    assert answer.returncode == 0, answer.stderr
    job = json.loads(answer.stdout)
    result = job["result"]
    assert job["status"] == "completed"
    assert (result["is_demo_data"], result["data_provider"]) == (True, "mock")
    assert {source["requests"] for source in result["coverage"]["sources"]} == {0}
    assert result["confirmed_count"] >= 1
    assert all(world.video_of_id(work["aweme_id"]) is not None for work in result["aweme_list"])
    assert [path.name for path in home.iterdir() if path.is_dir()] == ["mock"]
    assert json.loads((home / "mock" / "world.json").read_text())["world"] == "mock"


@pytest.mark.soak
def test_the_demo_runs_to_its_end(
    run: Run, environment: dict[str, str], tmp_path: Path, sound_cache: Path
) -> None:
    done = run(
        *("demo", "--seed", "7", "--size", "0.1", "--cache", str(sound_cache)),
        *("--out", str(tmp_path / "out")),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    document = json.loads((tmp_path / "out" / "demo-seed7-size0.1.json").read_text())
    found = {link["link_type"]: link for link in document["ground_truth"]["by_link_type"]}
    assert found["audio_fingerprint_match"]["precision"] == 1.0
    assert document["ground_truth"]["goals_met"]
    assert document["job"]["parameters"]["candidate_limit"] == 150  # the default
    page = (tmp_path / "out" / "demo-seed7-size0.1.html").read_text()
    assert DEMO_MARK in page
    assert DEMO_MARK in done.stdout + done.stderr
    assert {path.name for path in tmp_path.iterdir()} - CACHES == {"out", "warehouse"}
    with open_warehouse(tmp_path / "warehouse" / "data") as kept:
        assert len(kept.marts.rankings) > 0
    steps = [line.strip() for line in done.stdout.partition("next:\n")[2].splitlines()]
    commands = [line for line in steps if line.startswith("sametrack ")]
    assert [command.split()[1] for command in commands] == ["jobs", "sql", "trace", "report"]
    export = f"sametrack export rankings --job {commands[2].split()[2]}"
    for command in (*commands, export, "sametrack query top-videos", "sametrack database"):
        step = subprocess.run(
            command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert step.returncode == 0, f"{command}: {step.stderr}"
        assert step.stdout


@pytest.mark.soak
def test_reports_are_listed_and_the_doctor_knows_what_is_missing(run: Run) -> None:
    listed = run("report", "--list")
    assert listed.returncode == 0, listed.stderr
    assert "track" in listed.stdout
    refused = run("report", "quality")
    assert refused.returncode == 2
    assert "pip install './sametrack-" in refused.stderr
    assert ".whl[analysis]'" in refused.stderr
    health = json.loads(run("doctor", "--no-upstream", "--json", "--time-limit", "600").stdout)
    lines = {line["name"]: line["says"] for line in health["machine"]}
    assert "not installed: analysis, browser" in lines["extras"]


@pytest.mark.soak
def test_up_starts_everything_revives_a_dead_worker_and_takes_all_along(
    programs: Path, environment: dict[str, str], processes: Any, tmp_path: Path
) -> None:
    log, api, ui = tmp_path / "log", processes.find_port(), processes.find_port()
    ports = {"API_PORT": str(api), "SANDBOX_PORT": str(processes.find_port()), "WORKER_RUNS": "1"}
    command = ("up", "--sandbox", "--size", "0.1", "--dagster-port", str(ui))
    with log.open("w") as stream:
        up = subprocess.Popen(
            [programs / "sametrack", *command],
            cwd=tmp_path, env={**environment, **ports}, stdout=stream, stderr=stream,
            start_new_session=True,
        )  # fmt: skip
    try:
        assert processes.wait_until(lambda: "ready (profile" in log.read_text()), log.read_text()
        assert len(processes.family(up.pid)) >= 8
        with urllib.request.urlopen(f"http://127.0.0.1:{ui}/") as page:
            assert page.status == 200
        with urllib.request.urlopen(f"http://127.0.0.1:{api}/readyz") as answer:
            assert json.load(answer)["ready"]  # with a worker, so nobody has to start one
        with urllib.request.urlopen(f"http://127.0.0.1:{api}/api/v1/sametrack/jobs") as answer:
            assert json.load(answer)["code"] == 200

        first = processes.worker_of(up.pid)
        os.kill(first, signal.SIGKILL)
        assert processes.wait_until(lambda: processes.worker_of(up.pid) not in {0, first})
        assert "worker exited" in log.read_text()

        everybody = processes.family(up.pid)
        up.send_signal(signal.SIGTERM)
        up.wait(PATIENCE_S)
        assert processes.wait_until(lambda: processes.are_gone(everybody))
    finally:
        if up.poll() is None:
            os.killpg(up.pid, signal.SIGKILL)
            up.wait()
