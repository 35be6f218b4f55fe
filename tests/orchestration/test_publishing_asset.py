"""The orchestrator publishes the database that the command writes, and says what is in it."""

from typing import Any

import pytest
from dagster import DagsterInstance, DefaultScheduleStatus

from pipelines.orchestration.definitions import build_definitions
from warehouse.exports.published_database import database_path

pytestmark = pytest.mark.full


def test_the_job_publishes_and_tells_rows(small_store: Any) -> None:
    small_store.add_ranking(works=4)
    job = build_definitions().resolve_job_def("publish_database")
    with DagsterInstance.ephemeral() as instance:
        ended = job.execute_in_process(instance=instance)
    assert ended.success
    reported = ended.asset_materializations_for_node("published__database")[0].metadata
    track, music_id, own_id, days = 1, 1, 1, 0  # views of the star, on the ranking alone
    assert reported["dagster/row_count"].value == 4 + track + music_id + own_id + days
    assert database_path(small_store.home).stat().st_size == reported["size_bytes"].value


def test_the_schedule_runs_only_where_a_setting_says_how_often() -> None:
    for every_h, status, cron in (
        (0, DefaultScheduleStatus.STOPPED, "37 5 */1 * *"),
        (6, DefaultScheduleStatus.RUNNING, "37 */6 * * *"),
    ):
        defs = build_definitions(hours={"database": every_h})
        schedule = defs.resolve_schedule_def("database_schedule")
        assert (schedule.default_status, schedule.cron_schedule) == (status, cron)
