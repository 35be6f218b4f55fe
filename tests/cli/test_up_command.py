"""`sametrack up` without its processes: what it chooses, refuses, announces and ends with."""

import socket
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

import pytest
import typer
from typer.testing import CliRunner, Result

from api.cli.commands.system import up as command
from api.cli.interrupts import Interrupted
from api.cli.processes import child_processes
from api.cli.processes.child_processes import Program, is_listening
from warehouse.records.errors import InvalidParameterError

type Run = Callable[..., Result]
PORTS = {"API_PORT": 18780, "SANDBOX_PORT": 18790}


class Group:
    """Runs one program at a time, which ends with `code`."""

    def __init__(self) -> None:
        self.code = 0
        self.started: list[str] = []
        self.stopped: list[str] = []
        self.folders: list[Path] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """There is nothing to stop."""

    def remove_on_kill(self, folder: Path) -> None:
        self.folders.append(folder)

    def start(self, program: Program) -> Any:
        self.started.append(program.name)
        return SimpleNamespace(
            name=program.name, process=SimpleNamespace(wait=lambda: self.code),
            log_tail=lambda: "the disk is full",
        )  # fmt: skip

    def stop(self, child: Any) -> None:
        self.stopped.append(child.name)


class Supervisor:
    """All programs are ready at once; then Ctrl-C is pressed."""

    ran: list[Program]

    def __init__(self, _group: Group, programs: list[Program], *, on_ready: Any) -> None:
        type(self).ran, self._on_ready = programs, on_ready

    def run(self) -> None:
        self._on_ready()
        raise Interrupted(2)


@pytest.fixture
def group(monkeypatch: pytest.MonkeyPatch) -> Group:
    found = Group()
    Supervisor.ran = []
    monkeypatch.setattr(child_processes, "ChildProcessGroup", lambda: found)
    monkeypatch.setattr(child_processes, "Supervisor", Supervisor)
    return found


@pytest.fixture
def listening(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """The ports on which some program listens already."""
    found: set[int] = set()
    monkeypatch.setattr(child_processes, "is_listening", lambda port, *_host: port in found)
    return found


@pytest.fixture
def run(group: Group, listening: set[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    for name in ("PROFILE", "DATA_PROVIDER", "OWN_API_TOKEN", "DAGSTER_URL", "CONSOLE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DATA_HOME", str(tmp_path))
    for name, port in PORTS.items():
        monkeypatch.setenv(name, str(port))
    app = typer.Typer()
    app.command()(command.up)

    def start(*words: str, typed: str = "") -> Result:
        return CliRunner().invoke(app, ["--dagster-port", "18781", *words], input=typed)

    return start


def names() -> list[str]:
    return [program.name for program in Supervisor.ran]


def test_all_services_are_announced_with_their_addresses(run: Run, group: Group) -> None:
    done = run("--sandbox", "--seed", "3")
    assert done.exit_code == 0, done.output
    assert names() == ["sandbox", "api", "worker", "code-server", "daemon", "dagster"]
    assert (group.started, group.stopped) == (["prepare"], ["prepare"])
    assert not group.folders[0].exists()
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[0] == ["ready", "(profile", "sandbox)"]
    assert ["service", "http://127.0.0.1:18780"] in [line[:2] for line in lines]
    assert "http://127.0.0.1:18790/_world/tracks" in done.stdout
    assert "require a token" not in done.stdout
    assert "stopped by SIGINT; all processes have ended" in done.stderr


def test_a_sandbox_that_runs_already_is_used_and_not_started(
    run: Run, listening: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    listening.add(PORTS["SANDBOX_PORT"])
    monkeypatch.setenv("PROFILE", "sandbox")
    monkeypatch.setenv("OWN_API_TOKEN", "sesam-42-sesam-42-sesam-42")
    done = run()
    assert done.exit_code == 0, done.output
    assert "sandbox" not in names()
    assert "_world" not in done.stdout
    assert "service and Dagster UI require a token" in done.stdout


@pytest.mark.parametrize(
    ("port", "setting"),
    [(PORTS["API_PORT"], "API_PORT"), (18781, "--dagster-port")],
    ids=["service", "dagster ui"],
)
def test_a_port_in_use_is_named_with_its_setting(
    run: Run, group: Group, listening: set[int], port: int, setting: str
) -> None:
    listening.add(port)
    refused = run("--sandbox")
    assert refused.exit_code == 2
    assert f"port {port} is in use" in refused.stderr
    assert f"or change {setting}" in " ".join(refused.stderr.split())
    assert group.started == []


def test_a_storage_that_cannot_be_created_is_told_with_the_end_of_its_log(
    run: Run, group: Group
) -> None:
    group.code = 3
    refused = run("--sandbox")
    assert refused.exit_code == 2
    assert "cannot be created (exit code 3)" in refused.stderr
    assert "the disk is full" in refused.stderr
    assert Supervisor.ran == []


def test_without_a_profile_a_script_is_told_how_to_choose_one(run: Run, group: Group) -> None:
    refused = run(typed="y\n")
    assert refused.exit_code == 2
    assert "sametrack up --sandbox" in refused.stderr
    assert "profile_not_chosen" in refused.stderr
    assert group.started == []


@pytest.mark.parametrize(("typed", "code"), [("y\n", 0), ("n\n", 2)], ids=["yes", "no"])
def test_without_a_profile_a_person_is_asked_whether_to_start_the_sandbox(
    run: Run, typed: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: True), executable="python")
    monkeypatch.setattr(command, "sys", person)
    done = run(typed=typed)
    assert done.exit_code == code
    assert "Start with the sandbox now?" in done.stdout
    assert ("sandbox" in names()) is (code == 0)


def test_a_provider_with_data_of_its_own_does_not_start_the_sandbox(
    run: Run, group: Group, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATA_PROVIDER", "mock")
    refused = run("--sandbox")
    assert refused.exit_code == 2
    assert "DATA_PROVIDER=mock does not use the sandbox" in refused.stderr
    assert group.started == []


def test_a_service_on_another_address_of_this_machine_is_ready_there(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_HOST", "::1")
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as service:
        monkeypatch.setenv("API_PORT", str(service.getsockname()[1]))
        done = run("--sandbox")
        assert done.exit_code == 0
        assert f"http://[::1]:{service.getsockname()[1]} " in done.stdout
        monkeypatch.setattr(child_processes, "is_listening", is_listening)
        (ready,) = (program.is_ready for program in Supervisor.ran if program.name == "api")
        assert ready is not None
        assert ready()
    assert not ready()


def test_a_webhook_that_is_not_listed_is_refused_before_anything_starts(
    run: Run, group: Group, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DIGEST_WEBHOOK_URL", "https://hooks.example.com/x")
    done = run("--sandbox")
    assert isinstance(done.exception, InvalidParameterError)
    assert "is not listed" in done.exception.detail
    assert group.started == []
