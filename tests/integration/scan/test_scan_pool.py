"""The pool of warm scan processes, when a killed process has broken it as a whole."""

import os
from contextlib import closing
from pathlib import Path

import psutil
from pebble.pool.base_pool import PoolStatus

from pipelines.orchestration.runs.local_runs import LocalScanRunner
from pipelines.orchestration.worker.job_run import ScanEnd
from pipelines.orchestration.worker.low_priority import NICENESS
from pipelines.settings import Settings
from tests.stage import wait_for


def test_a_broken_pool_ends_its_scans_and_is_made_anew(tmp_path: Path) -> None:
    settings = Settings(
        _env_file=None, profile="sandbox", data_home=tmp_path, worker_runs=1, worker_gives_way=True
    )
    with closing(LocalScanRunner(settings)) as runs:
        before = runs.launch_scan("nobody", run_number=1)
        runs._pool._context.status = PoolStatus.ERROR
        assert before.done()
        after = runs.launch_scan("nobody", run_number=1)
        wait_for(after.done)
        assert after.result() == ScanEnd("failed")
        assert os.nice(0) + NICENESS in {child.nice() for child in psutil.Process().children()}
