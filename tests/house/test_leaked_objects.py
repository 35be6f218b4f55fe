"""A run of the tests ends without reports of objects that outlive the interpreter."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WITH_HYPOTHESIS_AND_DUCKDB = (
    "tests/scan/test_sql_models.py::test_coverage_summed_in_sql_is_the_merged_report"
)


@pytest.mark.soak
def test_test_run_ends_without_leaked_duckdb_objects() -> None:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--numprocesses=1",  # one process that starts it, one that runs it
        "-p",
        "no:cacheprovider",
        WITH_HYPOTHESIS_AND_DUCKDB,
    ]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout
    assert "leaked" not in ended.stdout + ended.stderr
