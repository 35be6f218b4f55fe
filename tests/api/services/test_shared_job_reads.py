"""Pollers of one job who ask at the same moment share one look."""

import asyncio
import threading
from typing import Any

import pytest

from api.services.job_document import JobResponses
from tests.fake_clock import PATIENCE_S
from warehouse.records.errors import JobNotFoundError


class SlowScanService:
    """A service whose checks wait until `may_answer` is set."""

    def __init__(self) -> None:
        self.looks = 0
        self.may_answer = threading.Event()

    def job(self, job_id: str) -> Any:
        self.looks += 1
        assert self.may_answer.wait(PATIENCE_S)
        raise JobNotFoundError(f"no job {job_id}")


async def all_have_asked() -> None:
    """A task that was made before this one goes on has begun by then."""
    await asyncio.sleep(0)


async def ask_together(answers: JobResponses, scan_service: Any, ids: list[str]) -> list[object]:
    asked = [asyncio.ensure_future(answers.now(scan_service, job_id)) for job_id in ids]
    await all_have_asked()
    scan_service.may_answer.set()
    return await asyncio.gather(*asked, return_exceptions=True)


def test_simultaneous_job_polls_share_one_read() -> None:
    scan_service = SlowScanService()
    reported = asyncio.run(ask_together(JobResponses(), scan_service, ["a"] * 20))
    assert scan_service.looks == 1
    assert [type(one) for one in reported] == [JobNotFoundError] * 20


def test_other_jobs_have_looks_of_their_own() -> None:
    scan_service = SlowScanService()
    asyncio.run(ask_together(JobResponses(), scan_service, ["a", "b", "a"]))
    assert scan_service.looks == 2


def test_job_poll_after_a_change_starts_a_new_read() -> None:
    scan_service, answers = SlowScanService(), JobResponses()

    async def change_between() -> None:
        first = asyncio.ensure_future(answers.now(scan_service, "a"))  # type: ignore[arg-type]  # a fake
        await all_have_asked()
        answers.forget("a")
        second = asyncio.ensure_future(answers.now(scan_service, "a"))  # type: ignore[arg-type]  # a fake
        await all_have_asked()
        scan_service.may_answer.set()
        await asyncio.gather(first, second, return_exceptions=True)

    asyncio.run(change_between())
    assert scan_service.looks == 2


def test_cancelled_job_poll_does_not_cancel_the_shared_read() -> None:
    scan_service, answers = SlowScanService(), JobResponses()

    async def leave() -> None:
        leaving = asyncio.ensure_future(answers.now(scan_service, "a"))  # type: ignore[arg-type]  # a fake
        staying = asyncio.ensure_future(answers.now(scan_service, "a"))  # type: ignore[arg-type]  # a fake
        await all_have_asked()
        leaving.cancel()
        scan_service.may_answer.set()
        with pytest.raises(JobNotFoundError):
            await staying

    asyncio.run(leave())
    assert scan_service.looks == 1
