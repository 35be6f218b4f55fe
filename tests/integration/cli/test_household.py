"""Whatever ends a command ends its children and theirs."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from api.cli.processes.child_processes import Child, ChildProcessGroup, Program
from api.cli.processes.supervisor import BACK_OFF_S, ProgramFailedError, Service, Supervisor
from tests.stage import PATIENCE_S

TELLER = "tests.integration.cli.programs.teller"
OWNER = str(Path(__file__).with_name("programs") / "owner.py")
type Start = Callable[..., subprocess.Popen[str]]


def _owner(start: Start, watch: Any, tmp_path: Path, kind: str) -> tuple[Any, set[int]]:
    log, folder = tmp_path / "owner.log", tmp_path / "folder"
    folder.mkdir()
    owner = start(OWNER, kind, str(tmp_path / "child.log"), str(folder), cwd=tmp_path, log=log)
    assert watch.wait_until(lambda: len(log.read_text().split()) == 2), log.read_text()
    return owner, {*map(int, log.read_text().split()), *watch.family(owner.pid)}


@pytest.mark.parametrize("kind", ["tame", "deaf"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stop_signal_ends_children_and_grandchildren(
    start: Start, watch: Any, tmp_path: Path, kind: str, number: signal.Signals
) -> None:
    owner, everybody = _owner(start, watch, tmp_path, kind)
    owner.send_signal(number)
    owner.wait(PATIENCE_S)
    assert watch.are_gone(everybody)


@pytest.mark.parametrize("kind", ["tame", "deaf"])
def test_a_killed_command_leaves_no_process_and_no_folder(
    start: Start, watch: Any, tmp_path: Path, kind: str
) -> None:
    owner, everybody = _owner(start, watch, tmp_path, kind)
    owner.kill()
    owner.wait()
    assert watch.wait_until(lambda: watch.are_gone(everybody))
    assert watch.wait_until(lambda: not (tmp_path / "folder").exists())


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
        child = supervisor._places[0].child
        assert child is not None
        child.process.wait()
        supervisor.step()

    with ChildProcessGroup() as process_group:
        supervisor = Supervisor(process_group, [Service(program)], clock=lambda: now)
        for wait_s in BACK_OFF_S:
            fall(supervisor)
            supervisor.step()
            assert supervisor._places[0].child is None
            now += wait_s
        with pytest.raises(ProgramFailedError, match=r"faller exited .* \(exit code 3\)"):
            fall(supervisor)


def test_readiness_is_told_once_when_all_are_ready() -> None:
    told: list[str] = []
    ready = False
    sleeper = [sys.executable, "-c", "import time; time.sleep(300)"]
    services = [
        Service(Program(name="a", command=sleeper)),
        Service(Program(name="b", command=sleeper), lambda: ready),
    ]
    with ChildProcessGroup() as process_group:
        supervisor = Supervisor(process_group, services, on_ready=lambda: told.append("ready"))
        for _ in range(3):
            supervisor.step()
        assert told == []
        ready = True
        for _ in range(3):
            supervisor.step()
    assert told == ["ready"]


def test_a_forked_program_runs_as_one_that_was_executed(tmp_path: Path) -> None:
    def program(*arguments: str) -> Program:
        return Program(
            name="teller", command=[sys.executable, "-m", TELLER, *arguments],
            log=tmp_path / "logs" / "teller.log", env={"TOLD": "from its program"}, is_forked=True,
        )  # fmt: skip

    with ChildProcessGroup() as process_group:
        ended = process_group.start(program("3"))
        assert ended.process.wait() == 3
        assert process_group.exited_children() == [ended]
        said = json.loads(ended.log_tail())
        assert said == {
            "arguments": ["3"],
            "main": "__main__",
            "told": "from its program",
            "leads": {"session": True, "group": True},
            "command": f"{Path(sys.executable).name} -m {TELLER} 3",
            "preloaded": True,
        }
        endless = process_group.start(program("endless"))
        assert endless.exit_code() is None
    assert endless.exit_code() == -signal.SIGTERM


def test_programs_outlive_the_process_that_they_were_forked_from(tmp_path: Path) -> None:
    """Whoever started them sees their exit codes; the next one is forked from another process."""

    def fork(*arguments: str) -> Child:
        program = Program(
            name="teller", command=[sys.executable, "-m", TELLER, *arguments],
            log=tmp_path / "teller.log", env={"TOLD": ""}, is_forked=True,
        )  # fmt: skip
        return process_group.start(program)

    def template_of(child: Child) -> int:
        parent = psutil.Process(child.process.pid).parent()
        assert parent is not None
        return parent.pid

    with ChildProcessGroup() as process_group:
        endless, other = fork("endless"), fork("endless")
        template = template_of(endless)
        process_group.end_template()
        process_group.end_template()
        assert not psutil.pid_exists(template)
        assert endless.exit_code() is None
        os.kill(other.process.pid, signal.SIGKILL)
        assert other.process.wait() == -signal.SIGKILL
        assert other.exit_code() == -signal.SIGKILL
        third = fork("endless")
        assert template_of(third) not in (template, os.getpid())
    assert [one.exit_code() for one in (endless, third)] == [-signal.SIGTERM] * 2
