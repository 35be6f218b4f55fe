"""What a command or a code server does not load: memory and time that every start would pay."""

import json
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.unit.cli.asked_scans import ask_for_scan
from warehouse.control import open_control
from warehouse.home.folder import open_home


@pytest.mark.parametrize(
    ("modules", "unwanted"),
    [
        ("api.cli.main", {"pydantic", "sqlalchemy", "httpx2"}),
        ("api.cli.commands.jobs, api.cli.local_job_client",
         {"httpx2", "duckdb", "deltalake", "pyarrow", "sqlalchemy.dialects.postgresql",
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


@pytest.mark.parametrize("has_store", [False, True], ids=["no store yet", "a store"])
def test_jobs_are_listed_without_sqlalchemy_once_there_is_a_store(
    has_store: bool, tmp_path: Path
) -> None:
    if has_store:
        home = open_home(tmp_path, "sandbox")
        with closing(open_control(home.control_url, world=home.world)) as control:
            ask_for_scan(control, "7000000000000000001")
    listed = (
        "import sys; sys.argv = ['sametrack', 'jobs', '--json']\n"
        "from api.cli.main import app\n"
        "app(standalone_mode=False)\n"
        "print('sqlalchemy' in sys.modules, file=sys.stderr)"
    )
    found = subprocess.run(
        [sys.executable, "-c", listed],
        env={**os.environ, "PROFILE": "sandbox", "DATA_HOME": str(tmp_path)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert [job["input"] for job in json.loads(found.stdout)] == ["7000000000000000001"] * has_store
    assert found.stderr.split()[-1] == str(not has_store)
