"""A live check of anything but the sandbox needs consent before its first request."""

from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from api.cli.commands.system.live_check import ask_for_consent
from api.cli.main import app
from pipelines.platform.profiles import load_profile
from warehouse.records.errors import InvalidParameterError

OWN = (Path(load_profile.__code__.co_filename).parent / "sandbox.toml").read_text("utf-8")


@pytest.fixture
def own_profile(tmp_path: Path) -> Path:
    """A profile that is neither the sandbox nor the real platform: nobody answers there."""
    text = OWN.replace('name = "sandbox"', 'name = "own"').replace(".localhost", ".invalid")
    path = tmp_path / "own.toml"
    path.write_text(text[: text.index("[pins]")] + text[text.index("[rate]") :], "utf-8")
    return path


@pytest.fixture
def doctor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Run the command without a terminal, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATA_HOME", str(tmp_path / "home"))

    def run(*arguments: str, **settings: str) -> Result:
        return CliRunner().invoke(app, ["doctor", *arguments], env=settings)

    return run


def test_without_a_terminal_and_without_yes_nothing_is_requested(
    doctor: Callable[..., Result], own_profile: Path, tmp_path: Path
) -> None:
    ended = doctor("--live-check", "--out", "folder", PROFILE=str(own_profile))
    assert (ended.exit_code, (tmp_path / "folder").exists()) == (2, False)
    assert not (tmp_path / "home").exists()


def test_only_the_sandbox_is_waited_for_longer_than_a_minute(
    doctor: Callable[..., Result], own_profile: Path
) -> None:
    ended = doctor("--live-check", "--yes", "--time-limit", "61", PROFILE=str(own_profile))
    assert ended.exit_code == 2


def test_whoever_declines_starts_nothing(own_profile: Path, tmp_path: Path) -> None:
    profile = load_profile(own_profile, sandbox_port=1)
    asking = typer.Typer()

    @asking.command()
    def ask() -> None:
        ask_for_consent(profile, tmp_path / "folder", is_interactive=True)

    assert CliRunner().invoke(asking, [], input="n\n").exit_code == 1
    assert CliRunner().invoke(asking, [], input="y\n").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "settings"),
    [
        (["--yes"], {"PROFILE": "sandbox"}),
        (["--link", "https://v.vidplat.localhost/abcd/"], {"PROFILE": "sandbox"}),
        (["--live-check"], {"PROFILE": "sandbox", "DATA_PROVIDER": "mock"}),
    ],
)
def test_what_does_not_fit_is_an_input_error(
    doctor: Callable[..., Result], arguments: list[str], settings: dict[str, str]
) -> None:
    assert doctor(*arguments, **settings).exit_code == 2


def test_a_link_of_somebody_else_is_refused_before_anything_is_opened(
    doctor: Callable[..., Result], tmp_path: Path
) -> None:
    ended = doctor("--live-check", "--link", "https://example.com/", PROFILE="sandbox")
    assert "no link of the platform" in str(ended.exception)
    assert not (tmp_path / "home").exists()


def test_a_folder_with_files_is_not_written_to(
    doctor: Callable[..., Result], tmp_path: Path
) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept/notes.txt").write_text("mine")
    ended = doctor("--live-check", "--out", str(tmp_path / "kept"), PROFILE="sandbox")
    assert "has files" in str(ended.exception)


def test_without_a_known_id_a_link_is_asked_for(
    doctor: Callable[..., Result], own_profile: Path
) -> None:
    ended = doctor("--live-check", "--yes", PROFILE=str(own_profile))
    assert isinstance(ended.exception, InvalidParameterError)
    assert "--link" in (ended.exception.hint or "")
