"""The two commands that start everything, stopped early or without a profile.

The whole demo runs in `test_wheel.py`, in `make soak`, which also stops and kills one;
`up` runs in `test_up.py`, and a killed command in `test_child_processes.py`.
"""

import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.deployment import PATIENCE_S

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[3]
type Start = Callable[..., subprocess.Popen[str]]
CLI = ("-m", "api.cli.main")


def _demo(folder: Path, sound_cache: Path) -> tuple[str, ...]:
    world = ("--seed", "11", "--size", "0.1")
    return (*CLI, "demo", *world, "--out", str(folder / "out"), "--cache", str(sound_cache))


@pytest.mark.soak
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_or_killed_demo_leaves_nothing(
    start: Start, processes: Any, tmp_path: Path, sound_cache: Path, number: signal.Signals
) -> None:
    log = tmp_path / "log"
    demo = start(*_demo(tmp_path, sound_cache), cwd=tmp_path, log=log, TMPDIR=str(tmp_path))
    assert processes.wait_until(lambda: "job " in log.read_text()), log.read_text()
    everybody = processes.family(demo.pid)
    assert len(everybody) > 4
    demo.send_signal(number)
    demo.wait(PATIENCE_S)
    assert processes.wait_until(lambda: processes.are_gone(everybody))
    assert processes.wait_until(lambda: [path.name for path in tmp_path.iterdir()] == ["log"])


def test_without_a_profile_up_says_how_and_offers_the_sandbox(start: Start, tmp_path: Path) -> None:
    log = tmp_path / "log"
    up = start(*CLI, "up", cwd=tmp_path, log=log, PROFILE="")
    assert up.wait(PATIENCE_S) == 2
    assert re.search(r"sametrack init.*sametrack up --sandbox", log.read_text(), re.DOTALL)
