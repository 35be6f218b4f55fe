"""Ten jobs at once: none starves, people come before schedules, two at a time."""

from typing import Any

from pipelines.domain.jobs import PRIORITY_PEOPLE, PRIORITY_SCHEDULES, Job
from pipelines.domain.parameters import scan_parameters
from tests.stage import Stage
from warehouse.control import NewJob


def ask(stage: Stage, music_id: str, *, priority: int) -> str:
    values = scan_parameters({"candidate_limit": 15, "search_enabled": False})
    new = NewJob(
        kind="scan", input=music_id, target=music_id, music_id=music_id,
        parameters=values.to_document(), fingerprint=music_id, scan_key=None,
        origin="api" if priority == PRIORITY_PEOPLE else "schedule", priority=priority,
    )  # fmt: skip
    return stage.control.create_or_join(new)[0].job_id


def in_order_of_start(jobs: list[Job]) -> list[Job]:
    return sorted(jobs, key=lambda job: job.started_at or job.created_at)


def test_ten_jobs_all_end_people_first_and_oldest_first(stage: Stage) -> None:
    stage.start_platform(seed=5, size=0.1)
    tracks: list[Any] = stage.world("/_world/tracks")["tracks"][:10]
    schedules = [ask(stage, one["music_id"], priority=PRIORITY_SCHEDULES) for one in tracks[:5]]
    people = [ask(stage, one["music_id"], priority=PRIORITY_PEOPLE) for one in tracks[5:]]
    stage.start_worker(WORKER_RUNS="2", LISTENING_WORKERS="1")
    ended = {job_id: stage.ended(job_id) for job_id in (*schedules, *people)}
    assert len(ended) == 10
    assert {job.status for job in ended.values()} == {"completed"}
    started = [job.job_id for job in in_order_of_start(list(ended.values()))]
    assert started == [*people, *schedules]
    assert all(job.progress.detail_checked_count > 0 for job in ended.values())
    for job in ended.values():
        others = [one for one in ended.values() if one.started_at and one.finished_at]
        assert job.started_at is not None
        at_work = [one for one in others if _overlaps(one, job)]
        assert len(at_work) <= 2


def _overlaps(one: Job, job: Job) -> bool:
    assert one.started_at is not None
    assert one.finished_at is not None
    assert job.started_at is not None
    return one.started_at <= job.started_at < one.finished_at
