"""Scans that the orchestrator launches itself: code server, web server, daemon and worker.

They share one orchestrator, whose storages and whose control store are in PostgreSQL. The full tier
launches an asset in `sametrack up` (../cli/test_up.py), and tries every move of a remote run in
process (test_worker.py).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
from dagster import DagsterRunStatus
from dagster_postgres import PostgresRunStorage

from pipelines.orchestration.runs.reconciliation import run_id
from tests.deployment import Deployment, open_deployment
from tests.orchestration.runs.orchestrator import Orchestrator, start_orchestrator
from tests.postgres import new_database

pytestmark = pytest.mark.soak
REQUESTS = "/_world/access-log/requests?limit=10000"
SMALL: dict[str, Any] = {"candidate_limit": 10, "search_enabled": False}
UNHEARD: dict[str, Any] = {**SMALL, "verify_audio": False}
"""A run that is launched for the same track has the parameters of the job before."""


@pytest.fixture(scope="module")
def orchestrator(
    tmp_path_factory: pytest.TempPathFactory, sound_cache: Path, postgres_server: str
) -> Iterator[Orchestrator]:
    """A world whose control store and whose Dagster storages are in PostgreSQL."""
    folder = tmp_path_factory.mktemp("remote")
    urls = {name: new_database(postgres_server) for name in ("CONTROL_URL", "DAGSTER_STORAGE_URL")}
    with (
        pytest.MonkeyPatch.context() as patch,
        open_deployment(folder, sound_cache, settings=urls) as deployment,
    ):
        patch.setenv("DAGSTER_STORAGE_URL", urls["DAGSTER_STORAGE_URL"])
        deployment.start_platform(seed=5, size=0.1)
        orchestrator = start_orchestrator(deployment, folder)
        deployment.start_worker(RUNS="remote", WORKER_RUNS="2")
        yield orchestrator


@dataclass(frozen=True)
class Scanned:
    """A track, and two jobs that asked for it in other words, the first of which was scanned."""

    track: dict[str, Any]
    job_id: str
    twin_id: str


@pytest.fixture(scope="module")
def scanned(orchestrator: Orchestrator) -> Scanned:
    deployment = orchestrator.deployment
    track = deployment.world("/_world/tracks")["tracks"][0]
    both = [deployment.ask(track[link], **UNHEARD) for link in ("prose", "share_link")]
    for job in map(deployment.ended, both):
        assert job.status == "completed", job.error
    with deployment.instance() as instance:
        both.sort(key=lambda job_id: instance.get_run_by_id(job_id) is None)
    job_id, twin_id = both
    return Scanned(track, job_id, twin_id)


def test_a_job_is_one_run_of_the_orchestrator_under_its_own_id(
    orchestrator: Orchestrator, scanned: Scanned
) -> None:
    deployment = orchestrator.deployment
    job_id, twin_id = scanned.job_id, scanned.twin_id
    rows = deployment.rows(
        "select confirmed_count from marts.job_results where job_id in ($one, $other)",
        one=job_id,
        other=twin_id,
    )
    assert len(rows) == 2
    assert rows[0] == rows[1]
    with deployment.instance() as instance:
        deployment.wait(lambda: _ended(instance, job_id, twin_id))
        (run,) = [run for run in instance.get_runs() if run.run_id in {job_id, twin_id}]
        assert isinstance(instance.run_storage, PostgresRunStorage)
        assert run.status == DagsterRunStatus.SUCCESS
        assert run.job_name == "scan"
        assert run.tags["dagster/partition"] == f"music:{scanned.track['music_id']}"
    assert not list(deployment.home.dagster_dir.rglob("*.db"))


def _ended(instance: Any, *job_ids: str) -> bool:
    runs = [instance.get_run_by_id(job_id) for job_id in job_ids]
    return all(run.is_finished for run in runs if run is not None)


def test_one_asset_is_made_again_from_the_launchpad_without_a_request(
    orchestrator: Orchestrator, scanned: Scanned
) -> None:
    deployment = orchestrator.deployment
    asked = len(deployment.world(REQUESTS)["requests"])
    again = orchestrator.launch(
        f"music:{scanned.track['music_id']}", "marts/rankings", "marts/account_summaries"
    )
    assert orchestrator.ended(again) == "SUCCESS", orchestrator.errors(again)
    text = """
        select * exclude (job_id, committed_at) from marts.rankings
        where job_id = $id order by rank
    """
    ranked = deployment.rows(text, id=again)
    assert ranked
    assert ranked == deployment.rows(text, id=scanned.job_id)
    assert len(deployment.world(REQUESTS)["requests"]) == asked
    assert deployment.job(again).status == "cancelled"  # without a result there is no other end


def test_a_track_is_scanned_from_the_launchpad(
    orchestrator: Orchestrator, scanned: Scanned
) -> None:
    deployment = orchestrator.deployment
    track = orchestrator.add_track(scanned.track["music_id"])
    whole = orchestrator.launch(track, job="scan")
    assert orchestrator.ended(whole) == "SUCCESS", orchestrator.errors(whole)
    job = deployment.job(whole)
    assert (job.status, job.origin, f"music:{job.music_id}") == ("completed", "launchpad", track)
    assert len(deployment.rows("select 1 from marts.job_results where job_id = $id", id=whole)) == 1


def test_a_remote_run_that_is_killed_goes_on_from_its_checkpoint(
    deployment: Deployment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DAGSTER_STORAGE_URL", "")  # `orchestrator` may have set it
    deployment.start_platform(seed=5, size=0.1)
    start_orchestrator(deployment, tmp_path)
    deployment.start_worker(RUNS="remote")
    assert_it_goes_on(deployment)


def test_a_remote_run_that_is_killed_goes_on_with_all_stores_in_postgresql(
    orchestrator: Orchestrator,
) -> None:
    assert_it_goes_on(orchestrator.deployment)


def assert_it_goes_on(deployment: Deployment) -> None:
    """Kill the process of a remote run while it reads details: the job goes on in another run."""
    music_id = deployment.world("/_world/tracks")["tracks"][1]["music_id"]
    is_held = deployment.hold("slides_info", after=8)
    # with `refresh`, since scans of other tracks have read some of its candidates
    job_id = deployment.ask(music_id, music_id=music_id, refresh=True, **SMALL)
    deployment.wait(is_held)
    deployment.wait(lambda: "candidates" in checkpoints(deployment, job_id))
    kill_run(deployment)
    deployment.settle()
    deployment.pronounce_worker_dead()
    job = deployment.ended(job_id)
    assert (job.status, job.attempt, job.run_number, job.error) == ("completed", 2, 2, None)
    assert job.progress.continued_from == "candidates"
    with deployment.instance() as instance:
        deployment.wait(lambda: _ended(instance, job_id, run_id(job_id, 2)))
        runs = [instance.get_run_by_id(run_id(job_id, number)) for number in (1, 2)]
    statuses = [run.status for run in runs if run is not None]
    assert statuses == [DagsterRunStatus.FAILURE, DagsterRunStatus.SUCCESS]


def checkpoints(deployment: Deployment, job_id: str) -> set[str]:
    text = "select stage from raw.scan_checkpoints where job_id = $id"
    return {row["stage"] for row in deployment.rows(text, id=job_id)}


def kill_run(deployment: Deployment) -> None:
    """Kill the only run that the code server executes, and the children that listen for it."""
    (server,) = [one for one in deployment.process_group._children if one.name == "code-server"]
    below = psutil.Process(server.process.pid).children(recursive=True)
    runs = [one for one in below if "spawn_main" in " ".join(one.cmdline())]
    for one in runs:
        one.kill()
    deployment.wait(lambda: not any(one.is_running() for one in runs))
