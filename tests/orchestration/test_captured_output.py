"""What steps print: kept with their run, read in Dagster's tabs, deleted with age."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from dagster import DagsterEventType, DagsterInstance, asset, materialize

from pipelines.orchestration.runs.open_instance import open_instance
from pipelines.orchestration.worker.maintenance import delete_output
from warehouse.home import open_home


@pytest.fixture
def instance(tmp_path: Path) -> DagsterInstance:
    return open_instance(open_home(tmp_path, "sandbox"))


SILENT = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


@asset
def printing() -> None:
    os.write(1, b"to stdout\n")
    os.write(2, b"to stderr\n")


def test_captured_step_output_is_readable_and_deleted_with_age(
    instance: DagsterInstance, capfd: pytest.CaptureFixture[str]
) -> None:
    # pytest puts streams without a file descriptor of their own there
    with capfd.disabled(), instance:
        ended = materialize([printing], instance=instance, run_config=SILENT)
        records = instance.all_logs(ended.run_id, of_type=DagsterEventType.LOGS_CAPTURED)
        captured = records[0].get_dagster_event().logs_captured_data
        key = [ended.run_id, "compute_logs", captured.file_key]
        printed = instance.compute_log_manager.get_log_data(key)
        assert b"to stdout" in (printed.stdout or b"")
        assert b"to stderr" in (printed.stderr or b"")
        folder = Path(instance.storage_directory()) / ended.run_id
        delete_output(instance, datetime.now(UTC) - timedelta(days=30))
        assert folder.exists()
        delete_output(instance, datetime.now(UTC) + timedelta(days=1))
        assert not folder.exists()
