"""Assets that somebody materialises in Dagster itself: from a failure, several partitions, alone.

One asset made again, and a scan from the launchpad, are in `test_remote_runs.py`.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pipelines.orchestration.definitions import GRAPHS
from tests.orchestration.runs.orchestrator import Orchestrator, start_orchestrator
from tests.stage import Stage, open_stage
from warehouse.records.jobs import SCAN

pytestmark = pytest.mark.soak


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory, sound_cache: Path) -> Iterator[Orchestrator]:
    """A world with its orchestrator and without a worker. Each test has tracks of its own."""
    folder = tmp_path_factory.mktemp("launched")
    with open_stage(folder, sound_cache) as stage:
        stage.start_platform(seed=5, size=0.1)
        yield start_orchestrator(stage, folder)


def partition(town: Orchestrator, number: int) -> str:
    track = town.stage.world("/_world/tracks")["tracks"][number]
    return town.add_track(track["music_id"])


def test_a_run_that_was_terminated_goes_on_from_its_failure_without_asking_again(
    town: Orchestrator,
) -> None:
    stage, track = town.stage, partition(town, 1)
    is_held = stage.hold("slides_info", after=8)
    first = town.launch(track, job="scan")
    stage.wait(is_held)
    stage.wait(lambda: stage.job(first).progress.stage == "video_details")
    town.terminate(first)
    assert town.ended(first) in {"CANCELED", "FAILURE"}
    assert stage.job(first).status == "cancelled"
    stage.settle()
    read = stage.asked("music_info")
    second = town.retry(first)
    assert town.ended(second) == "SUCCESS", town.errors(second)
    assert stage.job(second).status == "completed"
    assert stage.asked("music_info") == read
    result = "select count(*) as n from marts.candidates where job_id = $id"
    assert stage.rows(result, id=second)[0]["n"] > 0


def test_a_back_fill_reads_three_tracks(town: Orchestrator) -> None:
    tracks = [partition(town, number) for number in (2, 3, 4)]
    runs = town.fill("raw/tracks", tracks)
    assert list(runs.values()) == ["SUCCESS"] * 3
    found = {f"music:{town.stage.job(run_id).music_id}" for run_id in runs}
    assert found == set(tracks)


def test_each_step_of_a_scan_is_made_alone_with_the_rows_of_the_whole_scan(
    town: Orchestrator,
) -> None:
    track = partition(town, 5)
    for _ in range(2):  # the second one compares sounds that are known, as the steps do
        whole = town.launch(track, job="scan")
        assert town.ended(whole) == "SUCCESS", town.errors(whole)
    graph = GRAPHS[SCAN]
    for step in graph.needs:
        assets = [key.to_user_string() for key, of in graph.assets.items() if of == step]
        alone = town.launch(track, *assets)
        assert town.ended(alone) == "SUCCESS", (step, town.errors(alone))
        assert row_counts(town.stage, assets, alone) == row_counts(town.stage, assets, whole), step
    twice = "select comparison_id from marts.audio_comparisons group by 1 having count(*) > 1"
    assert town.stage.rows(twice) == []


def row_counts(stage: Stage, assets: list[str], job_id: str) -> dict[str, int]:
    """The rows of a job in the marts of these assets."""
    marts = [asset.replace("/", ".") for asset in assets if asset.startswith("marts/")]
    text = "select count(*) as n from {} where job_id = $id"
    return {mart: stage.rows(text.format(mart), id=job_id)[0]["n"] for mart in marts}
