"""Whatever ends a command ends its children and theirs."""

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from api.cli.processes.child_processes import (
    BACK_OFF_S,
    ChildProcessGroup,
    Program,
    ProgramFailedError,
    Supervisor,
)
from tests.deployment import PATIENCE_S

pytestmark = pytest.mark.full

OWNER = str(Path(__file__).with_name("programs") / "owner.py")
type Start = Callable[..., subprocess.Popen[str]]


def _owner(start: Start, processes: Any, tmp_path: Path, kind: str) -> tuple[Any, set[int]]:
    log, folder = tmp_path / "owner.log", tmp_path / "folder"
    folder.mkdir()
    owner = start(OWNER, kind, str(tmp_path / "child.log"), str(folder), cwd=tmp_path, log=log)
    assert processes.wait_until(lambda: len(log.read_text().split()) == 2), log.read_text()
    return owner, {*map(int, log.read_text().split()), *processes.family(owner.pid)}


@pytest.mark.parametrize(
    ("number", "kind"),
    [(signal.SIGINT, "tame"), (signal.SIGTERM, "deaf"), (signal.SIGHUP, "tame")],
)
def test_a_stop_signal_ends_children_and_grandchildren(
    start: Start, processes: Any, tmp_path: Path, kind: str, number: signal.Signals
) -> None:
    owner, everybody = _owner(start, processes, tmp_path, kind)
    owner.send_signal(number)
    owner.wait(PATIENCE_S)
    assert processes.are_gone(everybody)


@pytest.mark.parametrize(
    "kind",
    # the watchdog is patient for half a minute; less so in tests/cli/test_parent_watchdog.py
    ["tame", pytest.param("deaf", marks=pytest.mark.soak)],
)
def test_a_killed_command_leaves_no_process_and_no_folder(
    start: Start, processes: Any, tmp_path: Path, kind: str
) -> None:
    owner, everybody = _owner(start, processes, tmp_path, kind)
    owner.kill()
    owner.wait()
    assert processes.wait_until(lambda: processes.are_gone(everybody))
    assert processes.wait_until(lambda: not (tmp_path / "folder").exists())


def test_stopping_one_child_leaves_the_others(tmp_path: Path) -> None:
    sleeper = [sys.executable, "-c", "import time; time.sleep(300)"]
    with ChildProcessGroup() as process_group:
        first = process_group.start(Program(name="first", command=sleeper))
        second = process_group.start(Program(name="second", command=sleeper))
        process_group.stop(first)
        assert first.exit_code() == -signal.SIGTERM
        assert second.exit_code() is None
    assert second.exit_code() == -signal.SIGTERM


def test_a_fallen_program_is_started_again_later_and_later_then_given_up(tmp_path: Path) -> None:
    now = 0.0
    program = Program(
        name="faller", command=[sys.executable, "-c", "print('why'); raise SystemExit(3)"],
        log=tmp_path / "faller.log",
    )  # fmt: skip

    def fall(supervisor: Supervisor) -> None:
        supervisor.step()
        child = supervisor._supervised[0].child
        assert child is not None
        child.process.wait()
        supervisor.step()

    with ChildProcessGroup() as process_group:
        supervisor = Supervisor(process_group, [program], clock=lambda: now)
        for wait_s in BACK_OFF_S:
            fall(supervisor)
            supervisor.step()
            assert supervisor._supervised[0].child is None
            now += wait_s
        with pytest.raises(ProgramFailedError, match=r"faller exited .* \(exit code 3\)"):
            fall(supervisor)


def test_readiness_is_told_once_when_all_are_ready() -> None:
    reported: list[str] = []
    ready = False
    sleeper = [sys.executable, "-c", "import time; time.sleep(300)"]
    programs = [
        Program(name="a", command=sleeper),
        Program(name="b", command=sleeper, is_ready=lambda: ready),
    ]
    with ChildProcessGroup() as process_group:
        supervisor = Supervisor(process_group, programs, on_ready=lambda: reported.append("ready"))
        for _ in range(3):
            supervisor.step()
        assert reported == []
        ready = True
        for _ in range(3):
            supervisor.step()
    assert reported == ["ready"]


def test_a_program_is_started_when_what_it_needs_is_there() -> None:
    has_code = False
    sleeper = [sys.executable, "-c", "import time; time.sleep(300)"]
    program = Program(name="daemon", command=sleeper, can_start=lambda: has_code)
    with ChildProcessGroup() as process_group:
        supervisor = Supervisor(process_group, [program])
        supervisor.step()
        assert process_group.children == []
        has_code = True
        supervisor.step()
        assert [child.name for child in process_group.children] == ["daemon"]
