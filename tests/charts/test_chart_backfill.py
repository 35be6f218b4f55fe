"""Back-fills of the chart: once, in pieces, killed, two at once, refused, ended by people."""

import asyncio
import os
import signal
import subprocess
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from threading import Barrier
from typing import Any

import httpx2
import pytest

from pipelines.captures.chart import ChartCaptures
from pipelines.charts import backfill
from pipelines.charts.backfill import CONCURRENT_READS, MAX_CONSECUTIVE_REFUSALS, Backfill
from pipelines.charts.rules.backfill_plan import BackfillProgress, BackfillResult
from pipelines.charts.rules.history import read_span
from pipelines.charts.service import ChartService, open_chart_service
from pipelines.settings import Settings
from tests.children import child
from tests.deployment import PATIENCE_S, Deployment, open_deployment
from tests.fake_clock import FakeClock
from tests.scripted_reads import ReadService, open_reads
from warehouse.control import captures as capture_claims
from warehouse.queries.charts import read_known_issues
from warehouse.records.charts import ChartPage
from warehouse.records.errors import (
    BudgetSpentError,
    ChartUnavailableError,
    ForbiddenError,
    RunCancelledError,
)

pytestmark = pytest.mark.full

BATCH = 10
"""Issues of a batch; more in life, which takes longer to read and shows nothing else."""
MONTH = ("2022-01-01", "2022-01-31")
KILLED = f"""
import sys
import pipelines.captures.recording as recording
import pipelines.charts.backfill as backfill
from pipelines.charts.service import open_chart_service
from pipelines.charts.rules.history import read_span
from pipelines.settings import Settings
recording.CAPTURE_LEASE_S = 1.0  # what a dead process holds up others for; twelve in life
backfill.BATCH = {BATCH}
with open_chart_service(Settings(_env_file=None)) as service:
    service.fill(
        read_span(*sys.argv[1:]), on_progress=lambda p: print(p.done_count, flush=True), hold_s=1.0
    )
"""


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backfill, "BATCH", BATCH)


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """A platform of its own process; each test has stores of its own."""
    root = tmp_path_factory.mktemp("stage")
    with open_deployment(root, root / "sounds", is_measured=True) as deployment:
        deployment.start_platform(seed=31, size=0.1, tracks=3)
        yield deployment


class Platform:
    """What the platform was asked for, as it says itself."""

    def __init__(self, deployment: Deployment) -> None:
        self._stage = deployment
        self._url = f"http://127.0.0.1:{deployment.port}/_world/access-log/summary"
        httpx2.delete(self._url, verify=False).raise_for_status()

    def asked(self, surface: str = "chart_songs") -> int:
        found = httpx2.get(self._url, verify=False).raise_for_status().json()["surfaces"]
        return int(found.get(surface, 0))


@pytest.fixture
def platform(deployment: Deployment) -> Platform:
    return Platform(deployment)


@pytest.fixture
def settings(deployment: Deployment, tmp_path: Path) -> Settings:
    return Settings(
        _env_file=None, profile="sandbox", data_home=tmp_path, sandbox_port=deployment.port
    )


def fill(settings: Settings, days: tuple[str, str], **options: Any) -> BackfillResult:
    with open_chart_service(settings) as chart_service:
        return chart_service.fill(read_span(*days), **options)


def check_whole(chart_service: ChartService, filled: BackfillResult) -> None:
    """Every issue is there, with its songs, and none was kept twice."""
    chart_service.engine.refresh()
    rows = chart_service.engine.rows(
        "select volid, count(distinct capture_id) as captures, count(*) as songs, "
        "count(distinct rank) as ranks from raw.chart_songs group by volid"
    )
    assert len(rows) == filled.issue_count == filled.known_count + filled.new_count
    assert Counter(row["captures"] for row in rows) == {1: len(rows)}
    assert all(row["songs"] == row["ranks"] for row in rows)


def test_a_range_is_asked_for_once_and_never_again(settings: Settings, platform: Platform) -> None:
    reported: list[BackfillProgress] = []
    first = fill(settings, MONTH, on_progress=reported.append)
    assert (first.ending, first.left_count, first.is_cut) == ("completed", 0, False)
    assert first.new_count == first.issue_count == platform.asked() > 20
    assert platform.asked("chart_issues") == 1
    assert first.requests_used == first.issue_count + 1
    assert first.issue_count + sum(gap.day_count for gap in first.gaps) == 31
    assert [one.done_count for one in reported] == list(range(1, first.issue_count + 1))
    assert {one.missing_count for one in reported} == {first.issue_count}

    again = fill(settings, MONTH)
    assert (again.new_count, again.requests_used, again.was_listed) == (0, 0, False)
    assert again.gaps == first.gaps
    wider = fill(settings, ("2021-12-20", "2022-02-05"))
    assert wider.known_count == first.issue_count
    assert wider.new_count == wider.requests_used == platform.asked() - first.issue_count
    with open_chart_service(settings) as chart_service:
        check_whole(chart_service, wider)


def around(day: str) -> tuple[str, str]:
    """The days from a week before a day to a week after it."""
    week = timedelta(days=7)
    return str(date.fromisoformat(day) - week), str(date.fromisoformat(day) + week)


def test_issues_that_are_listed_without_a_date_are_dated_by_their_songs(
    deployment: Deployment, settings: Settings
) -> None:
    url = f"http://127.0.0.1:{deployment.port}/_world/chart/issues"
    listed = httpx2.get(url, verify=False).raise_for_status().json()["issues"]
    days = around(
        next(one["date"] for one in listed if not one["is_dated"] and one["date"] > "2022-02-01")
    )
    issues = [issue for issue in listed if days[0] <= issue["date"] <= days[1]]
    undated = {issue["volid"]: issue["date"] for issue in issues if not issue["is_dated"]}
    assert undated
    first = fill(settings, days)
    assert first.issue_count == first.known_count + first.new_count == len(issues)
    with open_chart_service(settings) as chart_service:
        known = read_known_issues(chart_service.engine, first=first.first, last=first.last)
        assert known is not None
        dates = {issue.volid: str(issue.chart_date) for issue in known.issues}
    assert {volid: dates[volid] for volid in undated} == undated
    again = fill(settings, days)
    assert (again.new_count, again.requests_used) == (0, 0)
    assert again.undated_count == first.undated_count


def test_a_range_beyond_the_latest_issue_is_cut_and_lists_once_in_a_while(
    settings: Settings, platform: Platform
) -> None:
    first = fill(settings, ("2022-01-01", "2022-01-03"))
    after = str(first.latest.replace(year=first.latest.year + 3))
    beyond = fill(settings, (str(first.latest), after))
    assert (beyond.is_cut, beyond.last, str(beyond.requested_last)) == (True, first.latest, after)
    assert beyond.was_listed is False  # it was read a moment ago
    assert platform.asked("chart_issues") == 1


@pytest.mark.soak
def test_backfill_after_a_kill_requests_only_the_missing_issues(
    settings: Settings, platform: Platform
) -> None:
    environment = {
        **os.environ, "PROFILE": "sandbox", "DATA_HOME": str(settings.data_home),
        "SANDBOX_PORT": str(settings.sandbox_port),
    }  # fmt: skip
    with child("-c", KILLED, *MONTH, env=environment, stdout=subprocess.PIPE) as killed:
        assert killed.stdout is not None
        next(line for line in killed.stdout if int(line) > BATCH + BATCH // 2)
        killed.kill()
        killed.wait()
    with open_chart_service(settings) as chart_service:
        filled = chart_service.fill(read_span(*MONTH))
        check_whole(chart_service, filled)
    assert filled.known_count >= BATCH
    assert filled.requests_used == filled.new_count
    assert platform.asked() <= filled.issue_count + BATCH


def test_two_at_once_share_the_work(settings: Settings, platform: Platform) -> None:
    are_open = Barrier(2)

    def fill_beside() -> BackfillResult:
        with open_chart_service(settings) as chart_service:
            are_open.wait(PATIENCE_S)
            return chart_service.fill(read_span(*MONTH))

    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(fill_beside) for _ in range(2)]
        first, second = (one.result() for one in both)
    assert first.issue_count == second.issue_count == first.new_count + second.new_count
    assert platform.asked() == first.issue_count
    assert min(first.new_count, second.new_count) > 0
    for filled in (first, second):
        assert (filled.ending, filled.left_count) == ("completed", 0)
        with open_chart_service(settings) as chart_service:
            check_whole(chart_service, filled)


def test_cancelled_backfill_keeps_what_it_has_read(settings: Settings) -> None:
    asked_to_stop: list[bool] = []

    def reported(progress: BackfillProgress) -> None:
        if progress.done_count == BATCH + 5:
            asked_to_stop.append(True)

    ended = fill(settings, MONTH, on_progress=reported, cancelled=lambda: bool(asked_to_stop))
    assert ended.ending == "cancelled"
    assert BATCH + 5 <= ended.new_count < ended.issue_count
    with open_chart_service(settings) as chart_service:
        filled = chart_service.fill(read_span(*MONTH))
        check_whole(chart_service, filled)
    assert filled.known_count == ended.new_count
    assert filled.requests_used == filled.new_count


@pytest.mark.soak
def test_the_command_ends_with_130_at_a_signal(deployment: Deployment, tmp_path: Path) -> None:
    environment = {
        **os.environ, "PROFILE": "sandbox", "DATA_HOME": str(tmp_path),
        "SANDBOX_PORT": str(deployment.port),
    }  # fmt: skip
    command = ("-m", "api.cli.main", "chart", "backfill", "--to", "2023-01-01")
    pipes = {"stderr": subprocess.PIPE, "stdout": subprocess.PIPE}
    with child(*command, env=environment, **pipes) as running:
        assert running.stderr is not None
        next(line for line in running.stderr if line.startswith("50 of"))
        running.send_signal(signal.SIGTERM)
        rest, _ = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 130
    assert "cancelled" in rest


@pytest.fixture
def reads(tmp_path: Path) -> Iterator[ReadService]:
    with open_reads(tmp_path) as read_service:
        yield read_service


async def scripted(
    read_service: ReadService, days: tuple[str, str], **options: Any
) -> BackfillResult:
    work = Backfill(
        open_chart=lambda _cancelled: read_service.sources.chart(),
        engine=read_service.engine,
        store=read_service.control,
        **options,
    )
    return await work.run(read_span(*days))


class Overtaken:
    """Captures of which the second answer is kept, but overtaken by the end that the third asks."""

    def __init__(self, captures: ChartCaptures) -> None:
        self.issues, self.flush = captures.issues, captures.flush
        self._captures = captures
        self._kept = 0

    @property
    def requests_used(self) -> int:
        return self._captures.requests_used

    async def songs(self, volid: str, **options: Any) -> ChartPage:
        page = await self._captures.songs(volid, **options)
        self._kept += 1
        if self._kept == 2:
            await asyncio.Event().wait()
        if self._kept == 3:
            raise RunCancelledError("cancelling was asked for")
        return page


async def test_an_answer_that_the_end_overtook_is_kept_and_counted(reads: ReadService) -> None:
    @asynccontextmanager
    async def open_chart(_cancelled: object) -> AsyncIterator[Any]:
        async with reads.sources.chart() as captures:
            yield Overtaken(captures)

    work = Backfill(open_chart=open_chart, engine=reads.engine, store=reads.control)
    ended = await work.run(read_span(*MONTH))
    kept = reads.rows("select count(distinct volid) as kept from raw.chart_songs")[0]["kept"]
    assert ended.ending == "cancelled"
    assert ended.new_count == kept >= 3
    assert (await scripted(reads, MONTH)).known_count == kept


async def test_an_issue_that_the_chart_refuses_is_told_and_the_others_read(
    reads: ReadService,
) -> None:
    whole = await scripted(reads, ("2022-01-01", "2022-01-05"))
    asked = [one for one in reads.script.asked if one[0] == "fetch_songs"]
    assert len(asked) == whole.issue_count
    listed = reads.rows(
        "select volid, chart_date from raw.chart_issues where chart_date = date '2022-02-10'"
    )
    refused = ChartUnavailableError("no", surface="chart_songs")
    reads.script.errors = {f"fetch_songs {listed[0]['volid']}": refused}
    filled = await scripted(reads, ("2022-02-05", "2022-02-15"))
    assert [one.volid for one in filled.refused] == [listed[0]["volid"]]
    assert (filled.left_count, filled.ending) == (1, "completed")
    reads.script.errors = {}
    again = await scripted(reads, ("2022-02-05", "2022-02-15"))
    assert (again.new_count, again.left_count) == (1, 0)


async def test_an_issue_that_is_listed_before_its_release_is_read_after_it(
    reads: ReadService,
) -> None:
    await scripted(reads, ("2022-01-01", "2022-01-02"))
    (listed,) = reads.rows("select * from raw.chart_issues where chart_date = date '2022-02-10'")
    again = {name: value for name, value in listed.items() if name != "committed_at"}
    release = datetime.now(UTC) + timedelta(hours=1)
    row = {**again, "observed_at": datetime.now(UTC), "scheduled_at": release}
    reads.engine.lake.append("raw.chart_issues", [row])
    reads.engine.refresh()
    day = ("2022-02-10", "2022-02-10")
    early = await scripted(reads, day)
    assert (early.new_count, early.unreleased_count, early.left_count) == (0, 1, 0)
    late = await scripted(reads, day, clock=FakeClock(release, is_held=True))
    assert (late.new_count, late.unreleased_count, late.left_count) == (1, 0, 0)


@pytest.mark.parametrize(
    ("error", "most"),
    [
        (
            ChartUnavailableError("no", surface="chart_songs"),
            MAX_CONSECUTIVE_REFUSALS + CONCURRENT_READS,
        ),
        (ForbiddenError("no", surface="chart_songs", status=403), CONCURRENT_READS),
        (BudgetSpentError("spent", surface="chart_songs"), CONCURRENT_READS),
    ],
    ids=["one after the other", "forbidden", "budget"],
)
async def test_a_chart_that_says_no_to_all_ends_it(
    reads: ReadService, error: Any, most: int
) -> None:
    await scripted(reads, ("2022-01-01", "2022-01-02"))
    reads.script.asked.clear()
    reads.script.errors = {"fetch_songs": error}
    filled = await scripted(reads, ("2022-03-01", "2022-04-30"))
    assert filled.ending == "refused"
    assert filled.error is not None
    assert filled.error["type"] == error.type
    assert 0 < len(reads.script.asked) <= most
    assert filled.left_count == filled.issue_count


async def test_backfill_uses_a_stored_issue_list_if_a_new_one_is_refused(
    reads: ReadService,
) -> None:
    reads.script.errors = {"fetch_issues": ForbiddenError("no", surface="chart_issues")}
    with pytest.raises(ForbiddenError):
        await scripted(reads, ("2022-01-01", "2022-01-02"))
    reads.script.errors = {}
    known = await scripted(reads, ("2022-01-01", "2022-01-02"))
    reads.script.errors = {"fetch_issues": ForbiddenError("no", surface="chart_issues")}
    later = (str(known.latest), str(known.latest.replace(year=known.latest.year + 1)))
    assert (await scripted(reads, later)).new_count == 1


async def test_an_issue_that_somebody_reads_is_waited_for_and_not_read_again(
    reads: ReadService,
) -> None:
    whole = await scripted(reads, ("2022-01-01", "2022-01-02"))
    listed = reads.rows("select volid from raw.chart_issues where chart_date = date '2022-02-10'")
    name = f"chart issue {listed[0]['volid']}"
    assert capture_claims.claim(reads.control, name, "somebody", ttl_s=60).is_ours
    reads.script.asked.clear()
    others_read = asyncio.Event()

    def reported(progress: BackfillProgress) -> None:
        if progress.done_count == 2:
            others_read.set()

    running = asyncio.create_task(
        scripted(reads, ("2022-02-09", "2022-02-11"), on_progress=reported)
    )
    await others_read.wait()
    async with reads.sources.chart() as captures:
        await captures.songs(listed[0]["volid"], limit=20)
    capture_claims.publish(reads.control, name, "somebody", None)
    filled = await running
    assert (filled.new_count, filled.known_count, filled.left_count) == (2, 1, 0)
    assert sum(one[:2] == ("fetch_songs", listed[0]["volid"]) for one in reads.script.asked) == 1
    assert whole.left_count == 0
