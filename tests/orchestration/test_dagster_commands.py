"""Dagster's own commands work in a clone as it is: no variable has to be set for them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(sys.executable).parent


@pytest.mark.soak
@pytest.mark.parametrize(
    ("command", "says"),
    [
        (("dg", "check", "defs"), "All definitions loaded successfully"),
        (("dagster", "definitions", "validate", "-w", "workspace.yaml"), "Validation successful"),
    ],
    ids=" ".join,
)
def test_the_definitions_are_found_and_loaded(
    command: tuple[str, ...], says: str, tmp_path: Path
) -> None:
    program, *words = command
    done = subprocess.run(
        [PROGRAMS / program, *words],
        cwd=ROOT,
        # the folders keep what these commands store out of the clone
        env={"PATH": os.defpath, "HOME": str(tmp_path), "DATA_HOME": str(tmp_path / "data")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert says in done.stdout + done.stderr
