"""The three processes of a demo: what each is started with, and what is said if one is gone."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, cast

import pytest

from api.cli.processes import child_processes
from api.cli.processes import demo_environment as environment
from api.cli.processes.child_processes import ChildProcessGroup, Program
from api.cli.processes.demo_environment import DemoEnvironment, DemoProcessError

NOTHING_FOUND: dict[str, Any] = {
    "job_id": "0a1b2c3d-1111-4222-8333-444455556666",
    "scan_job_id": "0a1b2c3d-1111-4222-8333-444455556666",
    "result": {"aweme_list": [], "variants": {"aweme_list": []}},
}


class Started:
    """A program that was started, with the log that it is said to have written."""

    def __init__(self, program: Program) -> None:
        self.program, self.name = program, program.name

    def exit_code(self) -> int:
        return 7

    def log_tail(self) -> str:
        return f"the last line of [{self.name}]\x1b[2J"


class Group:
    """Keeps what was started; `gone` names what has exited since."""

    def __init__(self) -> None:
        self.started: list[Started] = []
        self.gone: set[str] = set()

    def start(self, program: Program) -> Started:
        self.started.append(Started(program))
        return self.started[-1]

    def exited_children(self) -> list[Started]:
        return [child for child in self.started if child.name in self.gone]

    def held(self) -> AbstractContextManager[None]:
        return nullcontext()


class Clock:
    """A time that passes only while the demo waits."""

    def __init__(self) -> None:
        self.now = 0.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def group() -> Group:
    return Group()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(environment, "monotonic", lambda: found.now)
    monkeypatch.setattr(environment, "sleep", found.sleep)
    return found


@pytest.fixture
def demo(group: Group, tmp_path: Path) -> DemoEnvironment:
    return DemoEnvironment(
        process_group=cast("ChildProcessGroup", group), home=tmp_path / "home",
        cache=tmp_path / "sounds", seed=3, size=0.5,
    )  # fmt: skip


def opening(monkeypatch: pytest.MonkeyPatch, is_open: Callable[[], bool]) -> None:
    monkeypatch.setattr(child_processes, "is_listening", lambda _port: is_open())


def test_sandbox_worker_and_service_share_one_data_home_and_token(
    demo: DemoEnvironment, group: Group, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    opening(monkeypatch, lambda: clock.now > 1)
    demo.set_up()
    assert clock.now > 1
    sandbox, worker, service = (child.program for child in group.started)
    assert [one.name for one in (sandbox, worker, service)] == ["sandbox", "worker", "service"]
    assert list(sandbox.command)[4:8] == ["--seed", "3", "--size", "0.5"]
    assert demo.api_url == f"http://127.0.0.1:{service.command[-1]}"
    assert sandbox.env == worker.env == service.env
    given = dict(sandbox.env or {})
    assert (given["PROFILE"], given["OWN_API_TOKEN"]) == ("sandbox", demo.token)
    assert given["SANDBOX_PORT"] in sandbox.command
    assert worker.log == Path(given["DATA_HOME"]) / "worker.log"


def test_ports_that_stay_closed_end_the_demo_in_time(
    demo: DemoEnvironment, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    opening(monkeypatch, lambda: False)
    monkeypatch.setattr(environment, "START_TIMEOUT_S", 2.0)
    with pytest.raises(DemoProcessError, match="did not open its port in time"):
        demo.set_up()
    assert 2.0 < clock.now < 3.0


def test_a_process_that_exits_is_named_with_the_end_of_its_own_log(
    demo: DemoEnvironment, group: Group, clock: Clock, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    opening(monkeypatch, lambda: False)
    group.gone = {"worker"}
    with pytest.raises(DemoProcessError) as fault:
        demo.set_up()
    assert clock.now == 0
    assert fault.value.detail == "The worker of the demo exited (exit code 7)"
    text = capsys.readouterr().err
    assert "── worker" in text
    assert "the last line of [worker]\N{REPLACEMENT CHARACTER}" in text
    assert "sandbox" not in text


def test_results_are_read_from_the_demo_whatever_the_user_has_chosen(
    demo: DemoEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("PROFILE=public\nMIN_FREE_DISK_MB=x\n")
    monkeypatch.setenv("DATA_HOME", str(tmp_path / "mine"))
    assert demo.gather_pairs(NOTHING_FOUND).rejected_count == 0
    assert (tmp_path / "home" / "sandbox" / "lake").is_dir()
    assert not (tmp_path / "mine").exists()
