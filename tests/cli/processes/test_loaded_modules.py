"""What a command, a service or a code server does not load: memory and time of every start."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

pytestmark = pytest.mark.full

UNWANTED: Mapping[str, set[str]] = {
    "api.cli.main": {"pydantic", "sqlalchemy", "httpx2"},
    "api.cli.commands.jobs, api.cli.local_job_client": {
        "httpx2", "duckdb", "deltalake", "pyarrow", "api.schemas.responses"
    },
    "api.process": {
        "dagster", "librosa", "numba", "scipy", "av", "pebble", "playwright", "sandbox",
        "pipelines.audio.decode", "pipelines.audio.matching.kernels", "pipelines.orchestration",
        "pipelines.scan.collect", "pipelines.scan.conclude", "pipelines.scan.confirm",
        "pipelines.scan.discover", "pipelines.scan.scan_run", "pipelines.scan.verify_audio",
    },
    "pipelines.definitions": {"numba", "scipy", "av"},
}  # fmt: skip
"""By what is imported, one after the other in one process: each loads more than the one before."""


@pytest.mark.soak
def test_commands_load_optional_modules_only_when_needed(tmp_path: Path) -> None:
    settings = {"PROFILE": "sandbox", "DATA_HOME": str(tmp_path)}
    looks = [f"import {modules}, sys; print(*sys.modules)" for modules in UNWANTED]
    said = subprocess.run(
        [sys.executable, "-c", "\n".join(looks)],
        env={**os.environ, **settings}, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    for (modules, unwanted), loaded in zip(UNWANTED.items(), said.splitlines(), strict=True):
        assert unwanted.isdisjoint(loaded.split()), modules
