"""Every schedule can be tried with one click, and what it launches runs without being told more."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from dagster import (
    DagsterInstance,
    DefaultScheduleStatus,
    RepositoryDefinition,
    build_schedule_context,
)

from pipelines.open_stores import open_chosen_home
from pipelines.orchestration.definitions import build_definitions
from pipelines.orchestration.runs.open_instance import open_instance
from pipelines.orchestration.schedules import SCHEDULES, build_schedules
from pipelines.settings import Settings
from warehouse.home import open_home
from warehouse.lake.store import open_lake

pytestmark = pytest.mark.full

NAMES = [rhythm.name for rhythm in SCHEDULES]
ALL = (*NAMES, "chart")
NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def repository() -> RepositoryDefinition:
    return build_definitions().get_repository_def()


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DagsterInstance]:
    """One on disk: the context of a schedule opens it once more."""
    with open_instance(open_home(tmp_path_factory.mktemp("home"), "sandbox")) as opened:
        yield opened


def test_repository_has_exactly_the_listed_schedules(repository: RepositoryDefinition) -> None:
    assert {one.name for one in repository.schedule_defs} == {f"{name}_schedule" for name in ALL}


@pytest.mark.parametrize("name", ALL)
def test_a_schedule_rests_by_itself_and_launches_when_it_is_tried(
    name: str, repository: RepositoryDefinition, instance: DagsterInstance
) -> None:
    schedule = repository.get_schedule_def(f"{name}_schedule")
    assert schedule.default_status == DefaultScheduleStatus.STOPPED
    with build_schedule_context(
        instance=instance, repository_def=repository, scheduled_execution_time=NOW
    ) as context:
        requests = schedule.evaluate_tick(context).run_requests
    assert requests
    assert not any(request.run_config for request in requests)


@pytest.mark.parametrize("name", NAMES)
def test_the_setting_of_a_schedule_names_its_hours(name: str) -> None:
    assert f"{name}_every_h" in Settings.model_fields
    for hours, cron in ((4, "*/4 * * *"), (48, "*/2 * *"), (168, "* * 1")):
        (schedule,) = [one for one in build_schedules({name: hours}) if one.name.startswith(name)]
        assert schedule.default_status == DefaultScheduleStatus.RUNNING
        assert str(schedule.cron_schedule).endswith(cron)


def test_no_two_schedules_begin_in_the_same_minute(repository: RepositoryDefinition) -> None:
    minutes = [str(one.cron_schedule).split()[0] for one in repository.schedule_defs]
    assert len(set(minutes)) == len(minutes)


@pytest.mark.parametrize("job", ["maintain", "doctor"])
def test_jobs_of_upkeep_run_as_they_are_and_tell_what_they_did(
    job: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROFILE", "sandbox")
    monkeypatch.setenv("DATA_HOME", str(tmp_path))
    home = open_chosen_home(Settings())
    open_lake(home.lake_url, world="sandbox")
    with open_instance(home) as instance:
        ended = build_definitions().resolve_job_def(job).execute_in_process(instance=instance)
        assert ended.success
        assert (
            "output" in json.dumps([event.event_type_value for event in ended.all_events]).lower()
        )


def test_a_machine_that_is_not_fit_fails_the_run_of_the_doctor() -> None:
    class Unfit:
        def examine(self) -> dict[str, Any]:
            line = {"name": "disk", "state": "fail", "says": "full", "advice": None}
            verdict = "checks failed on this machine: disk"
            return {"exit_code": 3, "verdict": verdict, "machine": [line]}

    job = build_definitions(maintenance=Unfit()).resolve_job_def("doctor")
    with DagsterInstance.ephemeral() as instance:
        ended = job.execute_in_process(instance=instance, raise_on_error=False)
    assert not ended.success
    assert "failed on this machine: disk" in str(ended.failure_data_for_node("examine_machine"))
