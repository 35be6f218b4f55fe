"""The pool of warm scan processes, when a killed process has broken it as a whole."""

from contextlib import closing
from pathlib import Path

from pebble.pool.base_pool import PoolStatus

from pipelines.orchestration.runs.local_runs import LocalScanRunner
from pipelines.orchestration.worker.job_run import ScanEnd
from pipelines.settings import Settings
from tests.stage import wait_for


def test_a_process_is_always_ready_until_there_are_as_many_as_scans_at_a_time(
    tmp_path: Path,
) -> None:
    settings = Settings(_env_file=None, profile="sandbox", data_home=tmp_path, worker_runs=2)
    with closing(LocalScanRunner(settings)) as runs:
        assert len(runs._processes) == 1
        first, second = (runs.launch_scan("nobody", run_number=1) for _ in range(2))
        assert len(runs._processes) == 2
        third = runs.launch_scan("nobody", run_number=1)  # one too many: it waits
        assert len(runs._processes) == 2
        wait_for(lambda: all(one.done() for one in (first, second, third)))
        assert {one.result() for one in (first, second, third)} == {ScanEnd("failed")}


def test_a_broken_pool_ends_its_scans_and_is_made_anew(tmp_path: Path) -> None:
    settings = Settings(_env_file=None, profile="sandbox", data_home=tmp_path, worker_runs=1)
    with closing(LocalScanRunner(settings)) as runs:
        before = runs.launch_scan("nobody", run_number=1)
        (process,) = runs._processes
        process._pool._context.status = PoolStatus.ERROR
        assert before.done()
        after = runs.launch_scan("nobody", run_number=1)
        wait_for(after.done)
        # A process that had not been warmed could not even look the job up.
        assert after.result() == ScanEnd("failed")
