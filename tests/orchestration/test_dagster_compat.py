"""What is used of Dagster's private modules, by what would break without it."""

import ast
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path

import pytest
from dagster import AssetKey, AssetMaterialization, DagsterInstance, DagsterRunStatus
from dagster_webserver.app import create_app_from_workspace_process_context

from pipelines.orchestration import dagster_compat
from pipelines.orchestration.dagster_compat import (
    GrpcServerTarget,
    WorkspaceProcessContext,
    create_run,
    delete_check_results,
    delete_runless_materializations,
    execute_run,
)
from pipelines.orchestration.runs.open_instance import open_instance
from warehouse.home import open_home

pytestmark = pytest.mark.full

RUN_ID = "3b0b0d6e-0f6c-4a4e-9c39-0d6f3f8f6a11"
CODE = """
from dagster import (
    AssetCheckResult, Definitions, asset, asset_check, define_asset_job, in_process_executor
)

@asset
def songs() -> int:
    return 7

@asset_check(asset=songs)
def enough() -> AssetCheckResult:
    return AssetCheckResult(passed=True)

defs = Definitions(
    assets=[songs], asset_checks=[enough], jobs=[define_asset_job("sing")],
    executor=in_process_executor,
)
"""
CHECKS = "select count(*) from asset_check_executions"


def count_checks(instance: DagsterInstance) -> int:
    with instance.event_log_storage.index_connection() as connection:  # type: ignore[attr-defined]
        return int(connection.exec_driver_sql(CHECKS).scalar_one())


def test_no_more_of_it_is_used_than_eight_modules_in_one_file() -> None:
    tree = ast.parse(Path(dagster_compat.__file__).read_text())
    private = [
        node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and "._" in f".{node.module}"
    ]
    assert 0 < len(private) <= 8


def test_a_run_that_has_a_record_is_executed_under_its_own_id_and_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "some_songs.py").write_text(CODE)
    monkeypatch.syspath_prepend(tmp_path)
    job = import_module("some_songs").defs.resolve_job_def("sing")
    # pytest puts streams without a file descriptor of their own there, which Dagster would capture
    with capfd.disabled(), open_instance(open_home(tmp_path, "sandbox")) as instance:
        run = create_run(
            instance, job, run_id=RUN_ID, tags={"about": "songs"},
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
            code=("a-location", "some_songs", "defs"),
        )  # fmt: skip
        assert (run.run_id, run.status) == (RUN_ID, DagsterRunStatus.NOT_STARTED)
        assert run.remote_job_origin is not None
        assert run.remote_job_origin.location_name == "a-location"
        execute_run(instance, RUN_ID)
        ended = instance.get_run_by_id(RUN_ID)
        assert ended is not None
        assert ended.is_success
        assert count_checks(instance) == 1
        instance.delete_run(RUN_ID)
        delete_check_results(instance, [RUN_ID])
        assert count_checks(instance) == 0


def test_old_materializations_without_a_run_go_but_for_the_newest(tmp_path: Path) -> None:
    with open_instance(open_home(tmp_path, "sandbox")) as instance:
        for _ in range(3):
            instance.report_runless_asset_event(AssetMaterialization("told"))
        later = datetime.now(UTC) + timedelta(days=1)
        assert delete_runless_materializations(instance, later) == 2
        assert instance.get_latest_materialization_event(AssetKey("told")) is not None


@pytest.mark.filterwarnings("ignore")  # no code server listens
def test_the_web_application_is_made_of_a_workspace(tmp_path: Path) -> None:
    target = GrpcServerTarget(
        host="localhost", port=None, socket=str(tmp_path / "none"), location_name="sametrack"
    )
    with (
        open_instance(open_home(tmp_path, "sandbox")) as instance,
        WorkspaceProcessContext(instance, target) as workspace,
    ):
        assert create_app_from_workspace_process_context(workspace).routes
