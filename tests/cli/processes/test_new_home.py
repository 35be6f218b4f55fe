"""The orchestrator's storage of a new home: made once, and found by Dagster's own commands."""

from pathlib import Path

import pytest
from dagster import DagsterInstance
from typer.testing import CliRunner

from api.cli.main import app
from tests.warehouse.parallel_programs import run_together

pytestmark = pytest.mark.full

PROGRAM = Path(__file__).parent / "programs" / "open_storage.py"


@pytest.mark.soak
def test_a_new_home_is_opened_by_two_at_once(tmp_path: Path) -> None:
    homes = [(str(tmp_path / "data"),)] * 2
    assert (
        run_together("pipelines.orchestration.runs.open_instance", PROGRAM, *homes) == ["0 0"] * 2
    )


def test_dagsters_own_commands_find_the_home_that_the_command_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROFILE", "sandbox")
    monkeypatch.setenv("DATA_HOME", str(tmp_path))
    made = CliRunner().invoke(app, ["dagster-home"])
    folder = tmp_path / "sandbox" / "dagster"
    assert made.stdout == f"{folder}\n"
    assert {path.name for path in folder.iterdir()} >= {"dagster.yaml", "runs.db", "event_log.db"}
    monkeypatch.setenv("DAGSTER_HOME", made.stdout.strip())
    with DagsterInstance.get() as instance:  # as Dagster's commands do
        assert instance.root_directory == str(folder)
        assert type(instance.run_launcher).__name__ == "JobRunLauncher"
