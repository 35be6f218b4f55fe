"""`sametrack scan` without a service, twice: nobody waits for the worker of the scan before."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.deployment import PATIENCE_S

pytestmark = pytest.mark.full


@pytest.mark.soak
def test_a_second_scan_brings_a_worker_of_its_own(
    start: Callable[..., subprocess.Popen[str]], processes: Any, tmp_path: Path
) -> None:
    port = processes.find_port()
    world = {
        "DATA_PROVIDER": "mock", "MOCK_SIZE": "0.1", "DATA_HOME": str(tmp_path / "home"),
        "API_PORT": str(port),
    }  # fmt: skip
    for name in ("first", "second"):
        log = tmp_path / name
        scan = start(
            "-m", "api.cli.main", "scan", "--search-only", name, cwd=tmp_path, log=log, **world
        )
        assert scan.wait(PATIENCE_S) == 0, log.read_text()
        assert "starting one for this scan" in log.read_text()
