"""Assets that somebody materialises in Dagster itself: from a failure, several partitions, alone.

One asset made again, and a scan from the launchpad, are in `test_remote_runs.py`.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pipelines.orchestration.definitions import GRAPHS
from tests.deployment import Deployment, open_deployment
from tests.orchestration.runs.orchestrator import Orchestrator, start_orchestrator
from warehouse.records.jobs import SCAN

pytestmark = pytest.mark.soak


@pytest.fixture(scope="module")
def orchestrator(
    tmp_path_factory: pytest.TempPathFactory, sound_cache: Path
) -> Iterator[Orchestrator]:
    """A world with its orchestrator and without a worker. Each test has tracks of its own."""
    folder = tmp_path_factory.mktemp("launched")
    with open_deployment(folder, sound_cache) as deployment:
        deployment.start_platform(seed=5, size=0.1)
        yield start_orchestrator(deployment, folder)


def partition(orchestrator: Orchestrator, number: int) -> str:
    track = orchestrator.deployment.world("/_world/tracks")["tracks"][number]
    return orchestrator.add_track(track["music_id"])


def test_a_run_that_was_terminated_goes_on_from_its_failure_without_asking_again(
    orchestrator: Orchestrator,
) -> None:
    deployment, track = orchestrator.deployment, partition(orchestrator, 1)
    is_held = deployment.hold("slides_info", after=8)
    first = orchestrator.launch(track, job="scan")
    deployment.wait(is_held)
    deployment.wait(lambda: deployment.job(first).progress.stage == "video_details")
    orchestrator.terminate(first)
    assert orchestrator.ended(first) in {"CANCELED", "FAILURE"}
    assert deployment.job(first).status == "cancelled"
    deployment.settle()
    read = deployment.asked("music_info")
    second = orchestrator.retry(first)
    assert orchestrator.ended(second) == "SUCCESS", orchestrator.errors(second)
    assert deployment.job(second).status == "completed"
    assert deployment.asked("music_info") == read
    result = "select count(*) as n from marts.candidates where job_id = $id"
    assert deployment.rows(result, id=second)[0]["n"] > 0


def test_a_back_fill_reads_three_tracks(orchestrator: Orchestrator) -> None:
    tracks = [partition(orchestrator, number) for number in (2, 3, 4)]
    runs = orchestrator.fill("raw/tracks", tracks)
    assert list(runs.values()) == ["SUCCESS"] * 3
    found = {f"music:{orchestrator.deployment.job(run_id).music_id}" for run_id in runs}
    assert found == set(tracks)


def test_each_step_of_a_scan_is_made_alone_with_the_rows_of_the_whole_scan(
    orchestrator: Orchestrator,
) -> None:
    track = partition(orchestrator, 5)
    for _ in range(2):  # the second one compares sounds that are known, as the steps do
        whole = orchestrator.launch(track, job="scan")
        assert orchestrator.ended(whole) == "SUCCESS", orchestrator.errors(whole)
    graph = GRAPHS[SCAN]
    for step in graph.needs:
        assets = [key.to_user_string() for key, of in graph.assets.items() if of == step]
        alone = orchestrator.launch(track, *assets)
        assert orchestrator.ended(alone) == "SUCCESS", (step, orchestrator.errors(alone))
        assert row_counts(orchestrator.deployment, assets, alone) == row_counts(
            orchestrator.deployment, assets, whole
        ), step
    twice = "select comparison_id from marts.audio_comparisons group by 1 having count(*) > 1"
    assert orchestrator.deployment.rows(twice) == []


def row_counts(deployment: Deployment, assets: list[str], job_id: str) -> dict[str, int]:
    """The rows of a job in the marts of these assets."""
    marts = [asset.replace("/", ".") for asset in assets if asset.startswith("marts/")]
    text = "select count(*) as n from {} where job_id = $id"
    return {mart: deployment.rows(text.format(mart), id=job_id)[0]["n"] for mart in marts}
