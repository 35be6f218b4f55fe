"""`sametrack init` writes a first `.env`."""

import stat
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from api.cli.commands.system import init as command
from api.cli.commands.system.init import to_env
from api.cli.main import app
from api.settings import ApiSettings

runner = CliRunner()


def test_init_writes_a_file_that_only_its_owner_can_read(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    answer = runner.invoke(app, ["init", "--file", str(path), "--profile", "public"])
    assert answer.exit_code == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_settings_written_by_init_are_read_back(tmp_path: Path) -> None:
    path, home = tmp_path / ".env", str(tmp_path / "a home # with signs")
    runner.invoke(app, ["init", "--file", str(path), "--data-home", home])
    settings = ApiSettings(_env_file=path)
    assert settings.profile == "sandbox"
    assert settings.data_home == Path(home)
    assert settings.own_api_token is not None


def test_two_tokens_are_never_the_same(tmp_path: Path) -> None:
    for name in ("a", "b"):
        runner.invoke(app, ["init", "--file", str(tmp_path / name)])
    assert (tmp_path / "a").read_text() != (tmp_path / "b").read_text()


def test_init_never_overwrites_unasked(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_text("PROFILE=public\n")
    answer = runner.invoke(app, ["init", "--file", str(path)])
    assert answer.exit_code == 2
    assert path.read_text() == "PROFILE=public\n"
    assert runner.invoke(app, ["init", "--file", str(path), "--force"]).exit_code == 0
    assert "sandbox" in path.read_text()


@pytest.mark.parametrize("name", ["nowhere/.env", "folder"])
def test_a_file_that_cannot_be_written_is_said_and_leaves_nothing(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / "folder").mkdir()
    answer = runner.invoke(app, ["init", "--force", "--file", str(tmp_path / name)])
    assert answer.exit_code == 2
    assert f"{name} cannot be written" in answer.stderr
    assert [path.name for path in tmp_path.rglob("*")] == ["folder"]


@pytest.mark.parametrize("profile", ["nowhere", "a\nOWN_API_TOKEN=x", ""])
def test_an_unknown_profile_is_refused_or_asked_for(tmp_path: Path, profile: str) -> None:
    path = tmp_path / ".env"
    answer = runner.invoke(app, ["init", "--file", str(path), "--profile", profile])
    assert (answer.exit_code, path.exists()) == ((0, True) if not profile else (2, False))


def test_no_token_is_generated_where_none_is_wanted(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    assert runner.invoke(app, ["init", "--file", str(path), "--no-token"]).exit_code == 0
    assert ApiSettings(_env_file=path).own_api_token is None


@pytest.mark.parametrize("home", ["it's here", "a\nOWN_API_TOKEN=x"], ids=["quote", "two lines"])
def test_a_folder_that_would_not_be_read_back_is_refused(tmp_path: Path, home: str) -> None:
    path = tmp_path / ".env"
    answer = runner.invoke(app, ["init", "--file", str(path), "--data-home", home])
    assert (answer.exit_code, path.exists()) == (2, False)
    assert "one line without quotation marks" in answer.stderr


def test_in_a_terminal_what_was_not_given_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / ".env"
    monkeypatch.setattr(command, "sys", SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: True)))
    answer = runner.invoke(app, ["init", "--file", str(path)], input="public\n\nn\n")
    assert answer.exit_code == 0, answer.output
    assert "simulated platform on this machine" in answer.stdout
    settings = ApiSettings(_env_file=path)
    assert (settings.profile, settings.own_api_token) == ("public", None)
    assert settings.data_home == Path(command.DEFAULT_DATA_HOME)


def test_env_file_without_a_token_comments_the_line_out() -> None:
    assert "\n# OWN_API_TOKEN=" in to_env(profile="sandbox", data_home="x", token=None)
