"""A scan whose worker is killed goes on with another one: same result, nothing read twice."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import psutil
import pytest

from pipelines.orchestration.runs.reconciliation import JOB_TAG, run_id
from tests.deployment import LOCAL, Deployment
from warehouse.control import jobs, scan_journal
from warehouse.queries.results import read_result_document
from warehouse.records.jobs import MAX_ATTEMPTS

pytestmark = pytest.mark.full

CANDIDATES = 10
LISTENING = ("play", "media")  # the address of a sound leads to its host

type Requests = list[dict[str, Any]]
type Document = dict[str, Any]


@dataclass(frozen=True)
class Undisturbed:
    """A scan that nothing disturbed: its result, and what it asked the platform for."""

    deployment: Deployment
    music_id: str
    result: Document
    requests: Requests


@pytest.fixture(scope="module")
def calm(session_deployment: Deployment) -> Undisturbed:
    deployment = session_deployment
    deployment.settle()
    forget_sounds(deployment)
    clear_log(deployment)
    music_id: str = deployment.world("/_world/tracks")["tracks"][0]["music_id"]
    job_id = ask(deployment, music_id, count=2)
    assert deployment.ended(job_id).status == "completed"
    # what a host forbids to read is remembered for the scans that follow
    requests = [one for one in answered(deployment) if one["surface"] != "robots"]
    return Undisturbed(deployment, music_id, result_of(deployment, job_id), requests)


@pytest.fixture
def deployment(calm: Undisturbed) -> Iterator[Deployment]:
    """A worker at work, and no sound of the track measured before."""
    calm.deployment.settle()
    forget_sounds(calm.deployment)
    clear_log(calm.deployment)
    yield calm.deployment
    calm.deployment.settle()


def ask(deployment: Deployment, music_id: str, *, count: int) -> str:
    """A scan that reads everything again; `count` makes it a wish of its own.

    Without profiles: they are read again after some minutes only.
    """
    return deployment.ask(
        music_id,
        music_id=music_id,
        refresh=True,
        candidate_limit=CANDIDATES,
        account_profile_limit=0,
        count=count,
    )


def forget_sounds(deployment: Deployment) -> None:
    """Let the next scan measure all sounds again."""
    ids = [job.job_id for job in jobs.newest(deployment.control, limit=100)]
    deployment.engine.lake.delete("raw.sounds", "job_id", ids)


def clear_log(deployment: Deployment) -> None:
    LOCAL.delete(f"http://127.0.0.1:{deployment.port}/_world/access-log/summary").raise_for_status()


def answer_all(deployment: Deployment) -> None:
    """Hold no request back any longer."""
    LOCAL.delete(f"http://127.0.0.1:{deployment.port}/_world/faults").raise_for_status()


def answered(deployment: Deployment) -> Requests:
    """The requests that got an answer, oldest first."""
    entries: Requests = deployment.world("/_world/access-log/requests?limit=10000")["requests"]
    return [one for one in entries if one["status"] is not None and one["fault"] is None]


def targets(requests: Requests) -> Counter[tuple[str, str]]:
    return Counter((one["surface"], one["target"]) for one in requests)


def result_of(deployment: Deployment, job_id: str) -> Document:
    deployment.engine.refresh()
    document = read_result_document(deployment.engine, job_id)
    assert document is not None
    found: Document = without_times(document)
    return found


TIMES = {"observed_at", "created_at", "first_observed_at", "use_count_observed_at"}
OF_A_JOB = {"comparison_id", "job_id", "count", "confirmed_graph_observation_history", "seed"}
OF_ALL_JOBS = {"latest_answers", "latest_refusals"}
"""What a surface answered to any job lately, which each further scan changes."""


def without_times(value: Any) -> Any:
    """A document without times, and without what belongs to one job or to all of them."""
    if isinstance(value, dict):
        kept = value.items()
        return {
            name: without_times(one)
            for name, one in kept
            if name not in TIMES | OF_A_JOB | OF_ALL_JOBS
        }
    return [without_times(one) for one in value] if isinstance(value, list) else value


def differences(found: Any, expected: Any, place: str = "") -> list[str]:
    """Where two documents differ, and how."""
    if isinstance(found, dict) and isinstance(expected, dict) and found.keys() == expected.keys():
        each = [differences(found[key], expected[key], f"{place}.{key}") for key in found]
        return [one for some in each for one in some]
    if isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        pairs = enumerate(zip(found, expected, strict=True))
        each = [differences(one, two, f"{place}[{number}]") for number, (one, two) in pairs]
        return [one for some in each for one in some]
    return [] if found == expected else [f"{place}: {found!r} is not {expected!r}"]


def captures(deployment: Deployment) -> set[str]:
    """The observations that were committed."""
    return {row["capture_id"] for row in deployment.rows("select capture_id from raw.captures")}


def kill_everything(deployment: Deployment) -> None:
    """Kill the worker and its processes at once, and let nobody wait for a word of it.

    Nothing that was committed before is lost.
    """
    assert deployment.worker is not None
    before = captures(deployment)
    worker = psutil.Process(deployment.worker.process.pid)
    family = [worker, *worker.children(recursive=True)]
    for one in family:
        one.kill()
    deployment.wait(
        lambda: deployment.worker is not None and deployment.worker.exit_code() is not None
    )
    deployment.wait(lambda: not any(one.is_running() for one in family[1:]))
    assert before <= captures(deployment)
    deployment.pronounce_worker_dead()


def checkpoints(deployment: Deployment, job_id: str) -> list[tuple[str, int | None]]:
    found = deployment.rows(
        "select stage, round from raw.scan_checkpoints where job_id = $id order by number",
        id=job_id,
    )
    return [(row["stage"], row["round"]) for row in found]


def journaled(deployment: Deployment, job_id: str, surface: str) -> int:
    """How many calls of a surface, or measured sounds, a killed run would leave to the next."""
    rows = scan_journal.read(deployment.control, job_id, since=0)
    return sum(row.key.startswith(f"{surface}\x1f") for row in rows)


def are_recorded(deployment: Deployment, job_id: str) -> bool:
    """Whether every detail that was answered is journaled.

    An answer may have arrived when its call is not yet recorded; a killed scan would read it again.
    A call whose second request is held back has no answer yet.
    """
    entries: Requests = deployment.world("/_world/access-log/requests?limit=10000")["requests"]
    details = [one for one in entries if one["surface"] == "slides_info"]
    held = {video_of(one["target"]) for one in details if one["status"] is None}
    read = {video_of(one["target"]) for one in details if one["status"] is not None}
    rows = scan_journal.read(deployment.control, job_id, since=0)
    recorded = {row.key.split("\x1f")[1] for row in rows}
    return read - held <= recorded


def video_of(target: str) -> str:
    """The id of the video in the address of a request."""
    found = re.search(r"\d{15,}", target)
    assert found is not None, target
    return found[0]


def first_after_listening(requests: Requests) -> tuple[str, int]:
    """The surface that the first expansion asks, and how many requests of it came before."""
    heard = next(number for number, one in enumerate(requests) if one["surface"] in LISTENING)
    surface = next(one["surface"] for one in requests[heard:] if one["surface"] not in LISTENING)
    return surface, sum(one["surface"] == surface for one in requests[:heard])


def test_a_scan_killed_while_it_listens_does_nothing_twice(
    calm: Undisturbed, deployment: Deployment
) -> None:
    deployment.hold("media", after=6)
    job_id = ask(deployment, calm.music_id, count=1)
    wait_for_listening(deployment, job_id)
    kill_everything(deployment)
    assert_it_goes_on(deployment, job_id, calm, attempt=2)


def wait_for_listening(deployment: Deployment, job_id: str) -> None:
    """Wait until six sounds are journaled, of which two are measured."""
    deployment.wait(lambda: journaled(deployment, job_id, "media") == 6)
    deployment.wait(lambda: journaled(deployment, job_id, "measured") >= 2)


@pytest.mark.soak
def test_a_scan_killed_while_it_reads_details_and_while_it_listens_does_nothing_twice(
    calm: Undisturbed, deployment: Deployment
) -> None:
    is_held = deployment.hold("slides_info", after=8)
    job_id = ask(deployment, calm.music_id, count=3)
    deployment.wait(is_held)
    deployment.wait(lambda: are_recorded(deployment, job_id))
    deployment.wait(lambda: ("candidates", None) in checkpoints(deployment, job_id))
    kill_everything(deployment)
    answer_all(deployment)
    deployment.hold("media", after=6)
    deployment.start_worker()
    wait_for_listening(deployment, job_id)
    assert (deployment.job(job_id).attempt, deployment.job(job_id).progress.continued_from) == (
        2,
        "candidates",
    )
    kill_everything(deployment)
    assert_it_goes_on(deployment, job_id, calm, attempt=3)


@pytest.mark.soak
def test_a_scan_killed_after_a_round_of_listening_goes_on_with_the_same_result(
    calm: Undisturbed, deployment: Deployment
) -> None:
    surface, before = first_after_listening(calm.requests)
    deployment.hold(surface, after=before)
    job_id = ask(deployment, calm.music_id, count=4)
    deployment.wait(lambda: ("confirmed_videos", 0) in checkpoints(deployment, job_id))
    kill_everything(deployment)
    assert_it_goes_on(deployment, job_id, calm, attempt=2)


def assert_it_goes_on(
    deployment: Deployment, job_id: str, calm: Undisturbed, *, attempt: int
) -> None:
    deployment.settle()
    job = deployment.ended(job_id)
    assert (job.status, job.attempt, job.error) == ("completed", attempt, None)
    assert job.progress.continued_from is not None
    assert differences(result_of(deployment, job_id), calm.result) == []
    asked, expected = targets(answered(deployment)), targets(calm.requests)
    assert expected <= asked
    # the address of a sound may have been answered when the download behind it was under way
    assert {surface for surface, _ in asked - expected} <= {"play"}
    assert checkpoints(deployment, job_id)[-1] == ("rankings", None), "kept for single steps"
    assert scan_journal.read(deployment.control, job_id, since=0) == []
    last = deployment.ended_run(run_id(job_id, attempt))
    assert (last.tags[JOB_TAG], last.is_success) == (job_id, True)


@pytest.mark.soak
def test_a_scan_that_loses_its_third_worker_fails_and_says_why(
    calm: Undisturbed, deployment: Deployment
) -> None:
    deployment.hold("slides_info", after=0)
    job_id = ask(deployment, calm.music_id, count=6)
    for attempt in range(1, MAX_ATTEMPTS + 1):
        deployment.wait(lambda: deployment.job(job_id).progress.stage == "music_first_screen")
        assert deployment.job(job_id).attempt == attempt
        deployment.wait(lambda: deployment.job(job_id).status == "running")
        kill_everything(deployment)
        deployment.start_worker()
        deployment.wait(partial(has_moved_on, deployment, job_id, attempt))
    job = deployment.job(job_id)
    assert job.error is not None
    assert (job.status, job.error["type"]) == ("failed", "worker_unavailable")
    assert "3 attempts" in str(job.error["detail"])


def has_moved_on(deployment: Deployment, job_id: str, attempt: int) -> bool:
    job = deployment.job(job_id)
    return job.status == "failed" or (job.status == "running" and job.attempt > attempt)
