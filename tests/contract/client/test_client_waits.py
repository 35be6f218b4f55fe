"""The typed client starts scans, watches them and waits for their end, in both of its kinds."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import httpx2
import pytest

from api.client import (
    AsyncClient,
    Client,
    ConnectionFailedError,
    JobCancelledError,
    JobFailedError,
    WaitTimeoutError,
)
from tests.contract.conftest import HERE, answering, answering_twin, good, refusal
from tests.stored_results import MUSIC_ID, result
from warehouse.control import jobs


def test_a_scan_is_started_watched_and_cancelled(caller: Client) -> None:
    started = caller.create_job(MUSIC_ID, count=5, keywords=["Paper Boats"])
    assert (started.status, started.retry_after) == (202, 1.0)
    assert started.params["search_keywords"] == ["Paper Boats"]
    job_id = started.data["job_id"]
    assert caller.job(job_id).data["status"] == "queued"
    assert [job["job_id"] for job in caller.jobs(limit=5).data["jobs"]] == [job_id]
    assert caller.cancel_job(job_id).data["status"] == "cancelled"
    with pytest.raises(JobCancelledError):
        caller.wait(job_id)


def test_a_stored_result_is_waited_for_no_longer(caller: Client, service: Any) -> None:
    job = service.stored()
    seen: list[str] = []
    found = caller.wait(job.job_id, on_change=lambda job: seen.append(job["status"]))
    assert (found["status"], seen) == ("completed", ["completed"])
    assert found["result"] is not None
    answer = caller.hot_videos(MUSIC_ID, count=3)
    assert (answer.status, len(answer.data["aweme_list"])) == (200, 3)  # type: ignore[typeddict-item]  # 200: the ranking


async def test_the_awaiting_twin_does_the_same(awaiting: AsyncClient, service: Any) -> None:
    job = service.stored()
    assert (await awaiting.wait(job.job_id))["status"] == "completed"
    started = await awaiting.create_search_job("Paper Boats")
    cancelled = await awaiting.cancel_job(started.data["job_id"])
    assert cancelled.data["status"] == "cancelled"
    with pytest.raises(JobCancelledError):
        await awaiting.wait(started.data["job_id"])


def test_a_job_that_failed_is_raised_with_its_reason(caller: Client, service: Any) -> None:
    job_id = caller.create_job(MUSIC_ID).data["job_id"]
    jobs.claim(service.control, "worker")
    error = {"type": "upstream_forbidden", "detail": "no", "hint": None, "retry_after": None}
    jobs.finish(service.control, job_id, "failed", error={**error, "upstream": None})
    with pytest.raises(JobFailedError, match="upstream_forbidden: no"):
        caller.wait(job_id)


def test_polling_goes_on_where_no_stream_is_to_be_had() -> None:
    queued = {"job_id": "j", "status": "queued"}
    client, asked, pauses = answering(
        refusal(503, "capacity_exhausted"), good(queued), good({**queued, "status": "completed"})
    )
    with closing(client):
        assert client.wait("j")["status"] == "completed"
    assert asked[0].endswith("/j/events")
    assert len(asked) == 3
    assert pauses == [1.0]


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85"])
async def test_a_caption_with_a_line_separator_does_not_end_the_wait(
    separator: str, caller: Client, awaiting: AsyncClient, service: Any
) -> None:
    document, caption = result(3), f"one{separator}two"
    document["ranked"][0]["desc"] = caption
    job_id = service.stored(document).job_id
    for found in (caller.wait(job_id), await awaiting.wait(job_id)):
        assert found["result"] is not None
        assert caption in [video["desc"] for video in found["result"]["aweme_list"]]


async def test_polling_goes_on_where_an_event_cannot_be_read() -> None:
    def torn() -> httpx2.Response:
        return httpx2.Response(200, content=b'data: {"job_id": "j", "sta\n\n')

    completed = {"job_id": "j", "status": "completed"}
    client, asked, _ = answering(torn(), good(completed))
    with closing(client):
        assert client.wait("j")["status"] == "completed"
    twin, asked_by_twin, _ = answering_twin(torn(), good(completed))
    async with twin:
        assert (await twin.wait("j"))["status"] == "completed"
    assert len(asked) == len(asked_by_twin) == 2


async def test_a_wait_goes_on_while_the_service_restarts() -> None:
    def answers() -> list[httpx2.Response | Exception]:
        lost = httpx2.ConnectError("no", request=httpx2.Request("GET", HERE))
        states = [good({"job_id": "j", "status": status}) for status in ("queued", "completed")]
        return [refusal(503, "capacity_exhausted"), states[0], *[lost] * 9, states[1]]

    client, _, _ = answering(*answers())
    with closing(client):
        assert client.wait("j")["status"] == "completed"
    twin, _, _ = answering_twin(*answers())
    async with twin:
        assert (await twin.wait("j"))["status"] == "completed"


async def test_polls_report_a_job_that_has_changed() -> None:
    states = ("queued", "queued", "running", "running", "completed")

    def answers() -> list[httpx2.Response]:
        polls = [good({"job_id": "j", "status": status}) for status in states]
        return [refusal(503, "capacity_exhausted"), *polls]

    client, _, _ = answering(*answers())
    with closing(client):
        assert [job["status"] for job in client.watch("j")] == ["queued", "running", "completed"]
    twin, _, _ = answering_twin(*answers())
    async with twin:
        assert [job["status"] async for job in twin.watch("j")] == [
            "queued", "running", "completed",
        ]  # fmt: skip


def test_a_stream_that_may_be_silent_beyond_the_end_of_a_wait_is_left() -> None:
    def lines() -> Iterator[bytes]:
        yield b": a sign of life\n\n"
        pytest.fail("the next one comes in ten seconds")

    client, asked, _ = answering(
        httpx2.Response(200, content=lines()), good({"job_id": "j", "status": "completed"})
    )
    with closing(client):
        assert client.wait("j", timeout_s=5)["status"] == "completed"
    assert len(asked) == 2


@pytest.mark.parametrize("polls_before", [0, 1])
def test_a_wait_ends_where_the_service_is_not_there_or_stays_away(polls_before: int) -> None:
    lost = httpx2.ConnectError("no", request=httpx2.Request("GET", HERE))
    seen = [good({"job_id": "j", "status": "queued"})] * polls_before
    client, _, pauses = answering(lost, *seen, *[lost] * 1_000)
    with closing(client), pytest.raises(ConnectionFailedError):
        client.wait("j")
    assert (sum(pauses) > 60) == bool(polls_before)


def test_a_wait_has_an_end_when_one_is_given() -> None:
    client, _, _ = answering(refusal(503, "capacity_exhausted"), good({"status": "queued"}))
    with (
        closing(client),
        pytest.raises(WaitTimeoutError, match="did not end within") as met,
    ):
        client.wait("j", timeout_s=0.5)
    assert met.value.job is not None
    assert met.value.job["status"] == "queued"


async def test_the_awaiting_twin_polls_where_no_stream_is_to_be_had() -> None:
    queued = {"job_id": "j", "status": "queued"}
    lost = httpx2.ReadError("lost", request=httpx2.Request("GET", HERE))
    client, asked, pauses = answering_twin(
        lost, good(queued), good({**queued, "status": "completed"})
    )
    async with client:
        assert (await client.wait("j"))["status"] == "completed"
    assert asked[0].endswith("/j/events")
    assert (len(asked), pauses) == (3, [1.0])


async def test_the_awaiting_twin_gives_up_waiting_when_it_was_told_to() -> None:
    queued = good({"job_id": "j", "status": "queued"})
    client, _, _ = answering_twin(refusal(503, "capacity_exhausted"), queued)
    async with client:
        with pytest.raises(WaitTimeoutError, match="did not end within"):
            await client.wait("j", timeout_s=0.5)
