"""The orchestrator's storage of a new home: made once, and found by Dagster's own commands."""

import os
import subprocess
import sys
from pathlib import Path

from api.cli.processes.child_processes import sametrack_command
from tests.integration.warehouse.together import run_together

PROGRAM = Path(__file__).parent / "programs" / "open_storage.py"


def test_a_new_home_is_opened_by_two_at_once(tmp_path: Path) -> None:
    homes = [(str(tmp_path / "data"),)] * 2
    assert run_together("dagster", PROGRAM, *homes) == ["0 0"] * 2


def test_dagsters_own_commands_find_the_home_that_the_command_prints(tmp_path: Path) -> None:
    world = {**os.environ, "PROFILE": "sandbox", "DATA_HOME": str(tmp_path)}
    made = subprocess.run(
        sametrack_command("dagster-home"), env=world, capture_output=True, text=True, check=True
    )
    folder = tmp_path / "sandbox" / "dagster"
    assert made.stdout == f"{folder}\n"
    assert {path.name for path in folder.iterdir()} >= {"dagster.yaml", "runs.db", "event_log.db"}
    info = subprocess.run(
        [sys.executable, "-m", "dagster", "instance", "info"],
        env={**world, "DAGSTER_HOME": str(folder)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert f"base_dir: {folder}\n" in info.stdout
    assert "JobRunLauncher" in info.stdout
