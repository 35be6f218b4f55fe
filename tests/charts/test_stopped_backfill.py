"""`sametrack chart backfill` while it reads: stop signals, what a terminal shows, how it ends."""

import io
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date

import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

from api.cli.commands import chart
from pipelines.charts.rules.backfill_plan import (
    BackfillEnding,
    BackfillProgress,
    BackfillResult,
)
from pipelines.charts.rules.history import Span
from warehouse.records.errors import RunCancelledError
from warehouse.records.values import Document

type Told = Callable[[BackfillProgress], None]
DAY = date(2025, 9, 24)


class Service:
    """A chart of 100 issues; reads as many as are wanted, and is signalled in between."""

    def __init__(self) -> None:
        self.is_demo = False
        self.reads = 100
        self.signals = 0
        self.error: Document | None = None
        self.is_listing = False
        self.seen_requests: list[bool] = []

    def fill(
        self, span: Span, *, on_progress: Told, cancelled: Callable[[], bool]
    ) -> BackfillResult:
        for _ in range(self.signals):
            signal.raise_signal(signal.SIGINT)
        for number in range(1, self.reads + 1):
            on_progress(_at(number))
        self.seen_requests = [cancelled(), cancelled()]
        if self.is_listing and cancelled():
            raise RunCancelledError("cancellation was requested")
        is_complete = self.reads == 100 and self.error is None
        ending: BackfillEnding = "completed" if is_complete else "refused"
        return BackfillResult(
            first=DAY, last=DAY, requested_last=DAY, latest=DAY, issue_count=100, known_count=0,
            new_count=self.reads, unreleased_count=0, refused=(), gaps=(), undated_count=0,
            was_listed=True, requests_used=self.reads,
            ending="cancelled" if cancelled() else ending,
            error=self.error,
        )  # fmt: skip


def _at(number: int) -> BackfillProgress:
    return BackfillProgress(
        done_count=number, missing_count=100, requests_used=number, chart_date=DAY
    )


@pytest.fixture
def service() -> Service:
    return Service()


@pytest.fixture
def run(service: Service, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Result]:
    @contextmanager
    def opened(_settings: object) -> Iterator[Service]:
        yield service

    monkeypatch.setattr("pipelines.charts.service.open_chart_service", opened)
    words = ["backfill", "--from", str(DAY), "--to", str(DAY)]
    return lambda: CliRunner().invoke(chart.app, words)


def test_a_complete_chart_of_a_real_world_is_no_demo(run: Callable[[], Result]) -> None:
    done = run()
    assert done.exit_code == 0, done.output
    assert "100 issues: 0 already stored, 100 read now, 0 left" in done.stdout
    assert done.stderr.splitlines() == [
        "50 of 100 issues · 50 requests · 2025-09-24",
        "100 of 100 issues · 100 requests · 2025-09-24",
    ]


def test_issues_that_are_left_end_the_command_with_status_one(
    run: Callable[[], Result], service: Service
) -> None:
    service.reads = 7
    left = run()
    assert left.exit_code == 1
    assert "93 left" in left.stdout


def test_a_refused_list_of_issues_ends_the_command_with_status_one(
    run: Callable[[], Result], service: Service
) -> None:
    service.error = {"type": "upstream_forbidden", "detail": "the chart forbids this"}
    refused = run()
    assert refused.exit_code == 1
    assert "0 left" in refused.stdout
    assert "stopped: the chart forbids this" in refused.stdout


def test_one_signal_asks_to_stop_and_what_was_read_is_shown(
    run: Callable[[], Result], service: Service
) -> None:
    before = signal.getsignal(signal.SIGINT)
    service.signals, service.reads = 1, 7
    stopped = run()
    assert stopped.exit_code == 130
    assert service.seen_requests == [True, True]
    assert stopped.stderr.count("stopping: everything read so far is kept") == 1
    assert "7 read now" in stopped.stdout
    assert signal.getsignal(signal.SIGINT) == before


def test_a_signal_while_the_list_of_issues_is_read_ends_the_command_alike(
    run: Callable[[], Result], service: Service
) -> None:
    service.signals, service.reads, service.is_listing = 1, 0, True
    stopped = run()
    assert stopped.exit_code == 130
    assert "stopping: everything read so far is kept" in stopped.stderr
    assert stopped.stdout == ""


def test_a_second_signal_does_not_wait(run: Callable[[], Result], service: Service) -> None:
    before = signal.getsignal(signal.SIGINT)
    service.signals = 2
    stopped = run()
    assert stopped.exit_code == 130
    assert service.seen_requests == []
    assert "read now" not in stopped.stdout
    assert signal.getsignal(signal.SIGINT) == before


def test_a_terminal_shows_how_far_it_is(
    run: Callable[[], Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = io.StringIO()
    terminal = Console(file=screen, width=120, force_terminal=True, color_system=None)
    monkeypatch.setattr("api.cli.terminal.err", terminal)
    assert run().exit_code == 0
    assert "100 of 100 issues · 100 requests · 2025-09-24" in screen.getvalue()
    assert "━" in screen.getvalue()
