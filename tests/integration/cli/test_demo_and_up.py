"""The two commands that start everything: what they do, and that nothing outlives them."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.stage import PATIENCE_S
from warehouse import open_warehouse

ROOT = Path(__file__).parents[3]
type Start = Callable[..., subprocess.Popen[str]]
CLI = ("-m", "api.cli.main")


def _demo(folder: Path, sound_cache: Path) -> tuple[str, ...]:
    world = ("--seed", "11", "--size", "0.1")
    return (*CLI, "demo", *world, "--out", str(folder / "out"), "--cache", str(sound_cache))


def test_the_demo_reaches_its_goals_and_leaves_its_tables_report_and_json(
    start: Start, watch: Any, tmp_path: Path, sound_cache: Path
) -> None:
    log = tmp_path / "log"
    demo = start(*_demo(tmp_path, sound_cache), cwd=tmp_path, log=log, TMPDIR=str(tmp_path))
    assert watch.wait_until(lambda: "job " in log.read_text()), log.read_text()
    everybody = watch.family(demo.pid)
    assert demo.wait(2 * PATIENCE_S) == 0, log.read_text()
    assert watch.are_gone(everybody)
    document = json.loads((tmp_path / "out" / "demo-seed11-size0.1.json").read_text())
    found = {link["link_type"]: link for link in document["ground_truth"]["by_link_type"]}
    assert found["audio_fingerprint_match"]["precision"] == 1.0
    assert document["ground_truth"]["goals_met"]
    assert document["job"]["parameters"]["candidate_limit"] == 150  # the default
    page = (tmp_path / "out" / "demo-seed11-size0.1.html").read_text()
    assert "demo data, generated on this machine" in page
    assert "demo data, generated on this machine" in log.read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log", "out", "warehouse"]
    with open_warehouse(tmp_path / "warehouse" / "data") as kept:
        assert len(kept.marts.rankings) > 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_or_killed_demo_leaves_nothing(
    start: Start, watch: Any, tmp_path: Path, sound_cache: Path, number: signal.Signals
) -> None:
    log = tmp_path / "log"
    demo = start(*_demo(tmp_path, sound_cache), cwd=tmp_path, log=log, TMPDIR=str(tmp_path))
    assert watch.wait_until(lambda: "job " in log.read_text()), log.read_text()
    everybody = watch.family(demo.pid)
    assert len(everybody) > 4
    demo.send_signal(number)
    demo.wait(PATIENCE_S)
    assert watch.wait_until(lambda: watch.are_gone(everybody))
    assert watch.wait_until(lambda: [path.name for path in tmp_path.iterdir()] == ["log"])


def test_up_starts_everything_revives_a_dead_worker_and_takes_all_along(
    start: Start, watch: Any, tmp_path: Path
) -> None:
    log, api, ui = tmp_path / "log", watch.find_port(), watch.find_port()
    up = start(
        *CLI, "up", "--sandbox", "--size", "0.1", "--dagster-port", str(ui),
        cwd=tmp_path, log=log, DATA_HOME=str(tmp_path / "data"), API_PORT=str(api),
        SANDBOX_PORT=str(watch.find_port()), WORKER_RUNS="1",
    )  # fmt: skip
    assert watch.wait_until(lambda: "ready" in log.read_text()), log.read_text()
    assert len(watch.family(up.pid)) >= 8
    with urllib.request.urlopen(f"http://127.0.0.1:{ui}/") as page:
        assert page.status == 200
    with urllib.request.urlopen(f"http://127.0.0.1:{api}/readyz") as answer:
        assert json.load(answer)["ready"]  # with a worker, so nobody has to start one
    with urllib.request.urlopen(f"http://127.0.0.1:{api}/api/v1/sametrack/jobs") as answer:
        assert json.load(answer)["code"] == 200

    first = _worker(up.pid, watch)
    os.kill(first, signal.SIGKILL)
    assert watch.wait_until(lambda: _worker(up.pid, watch) not in {0, first})
    assert "worker exited" in log.read_text()

    everybody = watch.family(up.pid)
    up.send_signal(signal.SIGINT)
    up.wait(PATIENCE_S)
    assert watch.wait_until(lambda: watch.are_gone(everybody))


def test_without_a_profile_up_says_how_and_offers_the_sandbox(start: Start, tmp_path: Path) -> None:
    log = tmp_path / "log"
    up = start(*CLI, "up", cwd=tmp_path, log=log, PROFILE="")
    assert up.wait(PATIENCE_S) == 2
    assert re.search(r"sametrack init.*sametrack up --sandbox", log.read_text(), re.DOTALL)


def _worker(pid: int, watch: Any) -> int:
    """The worker that `up` has started; 0 when there is none."""
    for child in watch.family(pid):
        command = Path(f"/proc/{child}/cmdline")
        words = command.read_text().split("\0") if command.exists() else []
        if words[:4] == [sys.executable, "-m", "api.cli.main", "worker"]:
            return int(child)
    return 0
