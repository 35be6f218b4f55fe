"""`sametrack up` refuses a `.env` that would lead its services apart."""

from dataclasses import replace
from pathlib import Path

import pytest
import typer

from api.cli.commands.system.up import UpConfig, _check_env_file
from pipelines.orchestration.instance import INSTANCE_FOLDER

PLAN = UpConfig(
    profile="sandbox", world="sandbox", api_host="127.0.0.1", api_port=1, dagster_port=2,
    sandbox_port=3, seed=7, size=1.0, logs=Path("logs"), dagster_dir=Path("dagster"),
    socket=Path("socket"), workspace=Path("workspace"), has_token=False,
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, without settings in the environment."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DATA_HOME", raising=False)
    return tmp_path


@pytest.mark.parametrize(
    "line",
    ["DAGSTER_HOME=/elsewhere", "DAGSTER_HOME=", "SAMETRACK_DAGSTER_DIR=/elsewhere",
     "PROFILE=public", 'export PROFILE="public"'],
)  # fmt: skip
def test_another_value_in_the_file_is_refused(
    folder: Path, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / ".env").write_text(f"{line}\n")
    with pytest.raises(typer.Exit) as refused:
        _check_env_file(PLAN)
    assert refused.value.exit_code == 2
    name = line.removeprefix("export ").partition("=")[0]
    assert f"{name} in .env" in capsys.readouterr().err


def test_a_setting_that_the_environment_has_too_must_agree(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / ".env").write_text("DATA_HOME=/one\n")
    _check_env_file(PLAN)
    monkeypatch.setenv("DATA_HOME", "/one")
    _check_env_file(PLAN)
    monkeypatch.setenv("DATA_HOME", "/two")
    with pytest.raises(typer.Exit):
        _check_env_file(PLAN)


def test_an_ordinary_file_or_none_is_accepted(folder: Path) -> None:
    _check_env_file(PLAN)
    (folder / ".env").write_text(
        "# settings\nPROFILE=sandbox\nWORKER_RUNS=1\nOTHER=a\nBLANK\n"
        f"DAGSTER_HOME={INSTANCE_FOLDER}\n"
    )
    _check_env_file(PLAN)
    with pytest.raises(typer.Exit):
        _check_env_file(replace(PLAN, profile="public"))
