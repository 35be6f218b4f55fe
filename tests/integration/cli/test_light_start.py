"""What a command or a code server does not load: memory and time that every start would pay."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("modules", "unwanted"),
    [
        ("api.cli.main", {"pydantic", "sqlalchemy", "httpx2"}),
        ("api.cli.commands.jobs, api.cli.local_job_client",
         {"httpx2", "duckdb", "deltalake", "pyarrow",
          "api.schemas.responses"}),
        ("pipelines.definitions", {"numba", "scipy", "av"}),
    ],
)  # fmt: skip
def test_what_only_some_runs_need_is_loaded_by_those_alone(
    modules: str, unwanted: set[str], tmp_path: Path
) -> None:
    settings = {"PROFILE": "sandbox", "DATA_HOME": str(tmp_path)}
    found = subprocess.run(
        [sys.executable, "-c", f"import {modules}, sys; print(*sys.modules)"],
        env={**os.environ, **settings}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert unwanted.isdisjoint(found.stdout.split())
