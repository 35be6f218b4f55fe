"""`sametrack doctor`: exit status, words, JSON, and how long a dead platform takes.

As a process where all is well and where nobody answers, else by its entry point.
"""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import pytest

import api.cli.commands.system.doctor as doctor_command
from api.cli.main import main
from pipelines.doctor import health_check as examination
from pipelines.doctor.probes import probe_round as asking
from pipelines.doctor.probes.table import PROBES
from tests.children import bare_environment
from tests.deployment import LOCAL

pytestmark = pytest.mark.full

PROMISED_S = 30
ROOT = Path(__file__).parents[2]


def doctor(home: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    given = {"PROFILE": "sandbox", "DATA_HOME": str(home), "PYTHONPATH": str(ROOT), **env}
    return subprocess.run(
        [sys.executable, "-m", "api.cli.main", "doctor", "--time-limit", "600", *arguments],
        env={**bare_environment(), **given}, cwd=home,
        capture_output=True, text=True, check=False, timeout=900,
    )  # fmt: skip


@dataclass(frozen=True)
class Ended:
    """What a command in this process has said, and its exit status."""

    code: int
    stdout: str
    stderr: str


type CommandHere = Callable[..., Ended]


@pytest.fixture
def command_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> CommandHere:
    """The command by its entry point; this process is older than a command and does not end."""

    def leave(code: int) -> NoReturn:
        raise SystemExit(code)

    def run(*arguments: str, **env: str) -> Ended:
        for name, value in {"PROFILE": "sandbox", "DATA_HOME": str(tmp_path), **env}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(os, "_exit", leave)
        monkeypatch.setattr(doctor_command, "_age_s", lambda: 0.0)
        monkeypatch.setattr(sys, "argv", ["sametrack", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return Ended(int(ended.value.code or 0), said.out, said.err)

    return run


@pytest.fixture
def doctor_here(command_here: CommandHere) -> CommandHere:
    return partial(command_here, "doctor", "--time-limit", "600")


@pytest.fixture
def unused_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
    return port


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=200) as server:
        yield int(server.getsockname()[1])


@pytest.fixture(scope="module")
def recorded(
    platform: int, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A home where all is well, what the doctor says of it, and its recording in `kept`."""
    home = tmp_path_factory.mktemp("recorded")
    return home, doctor(home, "--json", "--record", "kept", SANDBOX_PORT=str(platform))


def test_all_well_is_status_0_and_one_json_document(recorded: Any) -> None:
    _, ended = recorded
    assert ended.returncode == 0, ended.stdout + ended.stderr
    report = json.loads(ended.stdout)
    assert (report["exit_code"], report["verdict"]) == (0, "all checks passed")
    assert report["is_demo_data"] is True
    assert [entry["surface"] for entry in report["surfaces"]] == [p.surface for p in PROBES]
    states = {entry["name"]: entry["state"] for entry in report["machine"]}
    assert {states[name] for name in ("python", "disk", "control store", "warehouse")} == {"ok"}
    assert states["worker"] == "warn"


def test_a_recording_has_a_body_of_each_surface_and_names_nobody(
    recorded: Any, platform: int
) -> None:
    home, ended = recorded
    assert "written to kept" in ended.stderr
    index = json.loads((home / "kept/index.json").read_text("utf-8"))
    kept = {entry["surface"] for entry in index["responses"] if entry["body"]}
    without = {entry["surface"] for entry in index["surfaces_without_body"]}
    assert kept | without == {probe.surface for probe in PROBES}
    # the first bytes of a sound, a redirect, and a page in no known form
    assert without <= {"media", "short_link", "chart_html"}
    assert all(entry["body"] or entry["left_out"] for entry in index["responses"])

    world = f"http://127.0.0.1:{platform}/_world"
    accounts = LOCAL.get(f"{world}/accounts?limit=10000").json()["accounts"]
    named = [one[key] for one in accounts for key in ("sec_uid", "uid", "unique_id", "nickname")]
    written = bytes_in(home / "kept")
    assert [text for text in named if text.encode() in written] == []


def bytes_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_a_page_of_a_recording_is_parsed(
    recorded: Any, platform: int, command_here: CommandHere
) -> None:
    home, _ = recorded
    index = json.loads((home / "kept/index.json").read_text("utf-8"))
    page = next(one for one in index["responses"] if one["surface"] == "music_list")
    read = command_here(
        "parse", f"{home}/kept/{page['body']}", "--surface", "music_list",
        "--entity", page["entity_id"], "--json", SANDBOX_PORT=str(platform),
    )  # fmt: skip
    assert json.loads(read.stdout)["outcome"] == "records"


def test_a_recording_is_not_written_over(
    recorded: Any, platform: int, doctor_here: CommandHere
) -> None:
    kept = recorded[0] / "kept"
    written = bytes_in(kept)
    again = doctor_here("--record", str(kept), SANDBOX_PORT=str(platform))
    assert again.code == 2
    assert "has files" in again.stderr
    assert written == bytes_in(kept)


def test_the_times_of_the_parts_add_up_to_less_than_what_is_promised() -> None:
    assert asking.TOTAL_S <= examination.TOTAL_TIMEOUT_S - examination.STORING_S
    assert (
        examination.TOTAL_TIMEOUT_S + doctor_command.CLOSING_S
        <= doctor_command.DEADLINE_S
        < PROMISED_S
    )
    assert asking.LIMITS.attempts == 1


def test_a_dead_platform_is_told_with_what_to_do(
    unused_port: int, doctor_here: CommandHere
) -> None:
    ended = doctor_here(SANDBOX_PORT=str(unused_port))
    assert ended.code == 3
    assert "unreachable" in ended.stdout
    assert "sametrack sandbox" in ended.stdout
    assert "the platform cannot be reached" in ended.stdout


@pytest.mark.soak  # in process: test_examination.py
def test_a_platform_that_never_answers_is_told(silent_port: int, tmp_path: Path) -> None:
    given = {"SANDBOX_PORT": str(silent_port), "CANARY_MUSIC_ID": "7300000000000000001"}
    ended = doctor(tmp_path, "--json", "--surface", "music_info", **given)
    assert ended.returncode == 3
    (reported,) = json.loads(ended.stdout)["surfaces"]
    assert (reported["outcome"], reported["error_type"]) == ("unreachable", "upstream_unreachable")


def test_without_a_profile_it_looks_at_the_machine_and_says_how_to_choose(
    tmp_path: Path, doctor_here: CommandHere
) -> None:
    ended = doctor_here(PROFILE="")
    assert ended.code == 2
    assert "sametrack init" in ended.stdout
    assert "python" in ended.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_surface_that_is_not_probed_is_refused_with_those_that_are(
    doctor_here: CommandHere,
) -> None:
    ended = doctor_here("--surface", "music_inf")
    assert ended.code == 2
    assert "music_info" in ended.stderr
