"""The query that a step without a table of its own shows: it finds the rows of this step alone."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipelines.orchestration.assets.descriptions import WRITES
from pipelines.orchestration.assets.metadata import STEP_ROWS, rows_of_step, step_metadata
from pipelines.scan.state.scan_state import ScanState
from warehouse import open_warehouse

STEPS = sorted(STEP_ROWS)
READ = {
    "music_first_screen": {"music_list"},
    "author_first_screens": {"user_posts"},
    "hashtag_first_screens": {"hashtag_list"},
    "video_details": {"slides_info", "video_page"},
    "account_profiles": {"user_info"},
}


@pytest.mark.parametrize("step", STEPS)
def test_the_query_finds_the_rows_of_a_step_of_a_job(step: str, first_release_home: Path) -> None:
    with open_warehouse(first_release_home) as wh:
        jobs = [row["job_id"] for row in wh.marts.job_results.select("job_id").rows()]
        found = [row for job in jobs for row in wh.sql(rows_of_step(step, job)).rows()]
    assert found
    assert {row["surface"] for row in found} == READ[step]


@pytest.mark.parametrize("step", STEPS)
def test_the_query_reads_the_table_that_the_step_is_said_to_write(step: str) -> None:
    table = WRITES[f"raw/{step}"].removeprefix("raw.")
    assert f"from seen.{table}" in STEP_ROWS[step]


def test_a_run_shows_its_query_and_its_checkpoint() -> None:
    state = ScanState()
    state.checkpoint = 7
    session: Any = SimpleNamespace(job=SimpleNamespace(job_id="job-1"), state=state)
    found = {name: value.value for name, value in step_metadata(session, "video_details").items()}
    assert found["rows"] == f"```sql\n{rows_of_step('video_details', 'job-1')}\n```"
    assert "job_id = 'job-1'" in str(found["rows"])
    assert found["checkpoint"] == "raw.scan_checkpoints: job_id job-1, number 7"
