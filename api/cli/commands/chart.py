"""`sametrack chart`: back-fill the chart, and link its songs to music ids.

Works on the stores of this machine, or with `--api` on those of a service; `chart history`, which
always calls the API, is in `operations.py`.
"""

import signal
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import ValidationError
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from api.cli import terminal
from api.cli.commands import operations
from api.cli.options import JsonOption, ServiceOption
from api.cli.rendering.chart import print_backfill, print_link_decisions, print_song
from api.cli.rendering.results import print_banner
from api.cli.stores import call_service_or_stores, stored_settings
from api.client import ApiResponse, AsyncClient
from api.params.chart import ChartLinkBody
from pipelines.charts.rules.backfill_plan import BackfillProgress
from pipelines.charts.rules.history import FIRST_DAY, cut_span, read_span
from pipelines.documents.messages import counted
from pipelines.settings import Settings
from warehouse.records.charts import SongLinkChoice
from warehouse.records.errors import RunCancelledError
from warehouse.records.values import ReadOnlyDocument

if TYPE_CHECKING:
    from api.services.chart_songs import ChartSongService
    from pipelines.charts.service import ChartService

app = operations.chart
_LINE_EVERY = 50
_Song = Annotated[
    str,
    typer.Argument(metavar="SONG_KEY", help="`song_key` in the output of `chart history --json`."),
]
_Music = Annotated[str, typer.Argument(metavar="MUSIC_ID", help="Music id, 5 to 30 digits.")]
_By = Annotated[str | None, typer.Option("--by", help="Name of the user.")]
_Note = Annotated[str | None, typer.Option(help="Free text.")]


@app.command("backfill")
def backfill(
    *,
    first: Annotated[str, typer.Option("--from", help="First day, YYYY-MM-DD.")] = str(FIRST_DAY),
    last: Annotated[str | None, typer.Option("--to", help="Last day; default: today.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Read all issues of a date range that are not stored yet. Safe to interrupt and repeat.

    Exit codes: 0 complete, 1 some issues were refused, 2 invalid range, 130 interrupted.
    """
    span = read_span(first, last or str(datetime.now(UTC).date()))
    with _open_chart_service() as service, _stop_signals() as is_stopped, _progress() as report:
        try:
            result = service.fill(span, on_progress=report, cancelled=is_stopped)
        except RunCancelledError as error:  # while the list of issues was read
            raise typer.Exit(terminal.EXIT_INTERRUPTED) from error
        is_demo = service.is_demo
    # A range that begins after the latest issue is an input error, known only now.
    cut_span(span, latest=result.latest)
    _show(result.to_document() | {"is_demo_data": is_demo}, print_backfill, as_json=as_json)
    if result.ending == "cancelled":
        raise typer.Exit(terminal.EXIT_INTERRUPTED)
    if result.left_count or result.error:
        raise typer.Exit(terminal.EXIT_FAILED)


@app.command("judge")
def judge(*, as_json: JsonOption = False) -> None:
    """Link all songs to music ids again, from stored data only."""
    with _open_chart_service() as service:
        judged = service.judge()
    relations = dict(sorted(judged.relations.items()))
    counts = ("song_count", "issue_count", "lead_count", "row_count")
    document = {name: getattr(judged, name) for name in counts} | {"relations": relations}
    pairs = ", ".join(f"{count} {relation}" for relation, count in relations.items()) or "none"
    line = (
        f"{counted(judged.song_count, 'song')} of {counted(judged.issue_count, 'issue')}; pairs: "
        f"{pairs}; {counted(judged.lead_count, 'lead')} estimated, "
        f"{counted(judged.row_count, 'row')} written"
    )
    terminal.print_document(document, line, as_json=as_json, indent=None)


@app.command("song")
def song(song_key: _Song, *, as_json: JsonOption = False, api: ServiceOption = None) -> None:
    """Show the chart positions of a song, its links with reasons, and its lead or lag."""
    document = _call(
        api,
        lambda client: client.chart_song(song_key),
        lambda songs: songs.song(song_key),
        reads=True,
    )
    _show(document, print_song, as_json=as_json)


@app.command("link")
def link(
    song_key: _Song,
    music_id: _Music,
    *,
    by: _By = None,
    note: _Note = None,
    as_json: JsonOption = False,
    api: ServiceOption = None,
) -> None:
    """Link a song to a music id. Overrides the automatic rules."""
    _decide("same", song_key, music_id, by=by, note=note, as_json=as_json, api=api)


@app.command("unlink")
def unlink(
    song_key: _Song,
    music_id: _Music,
    *,
    by: _By = None,
    note: _Note = None,
    as_json: JsonOption = False,
    api: ServiceOption = None,
) -> None:
    """Mark a music id as a different song. Overrides the automatic rules."""
    _decide("different", song_key, music_id, by=by, note=note, as_json=as_json, api=api)


@app.command("withdraw")
def withdraw(
    song_key: _Song,
    music_id: _Music,
    *,
    by: _By = None,
    note: _Note = None,
    as_json: JsonOption = False,
    api: ServiceOption = None,
) -> None:
    """Withdraw a manual link decision, so that the automatic rules apply again."""
    _decide("withdrawn", song_key, music_id, by=by, note=note, as_json=as_json, api=api)


def _decide(
    decision: SongLinkChoice,
    song_key: str,
    music_id: str,
    *,
    by: str | None,
    note: str | None,
    as_json: bool,
    api: str | None,
) -> None:
    """Store a link decision; print the updated song."""
    fields = {"song_key": song_key, "music_id": music_id, "said": decision}
    try:
        # the rules of the HTTP API
        body = ChartLinkBody.model_validate({**fields, "said_by": by, "note": note})
    except ValidationError as error:
        problem = error.errors()[0]
        terminal.exit_with_input_error(f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}")
    more = {"said_by": body.said_by, "note": body.note}
    document = _call(
        api,
        lambda client: client.link_chart_song(body.song_key, body.music_id, said=decision, **more),
        lambda songs: songs.decide_link(
            body.song_key, body.music_id, decision, origin="cli", **more
        ),
    )
    _show(document, print_song, as_json=as_json)


@app.command("links")
def links(
    song_key: Annotated[str | None, typer.Argument(metavar="[SONG_KEY]")] = None,
    *,
    as_json: JsonOption = False,
    api: ServiceOption = None,
) -> None:
    """List the manual link decisions, including withdrawn ones."""
    document = _call(
        api,
        lambda client: client.chart_links(song_key=song_key),
        lambda songs: songs.links(song_key),
        reads=True,
    )
    _show(document, print_link_decisions, as_json=as_json)


def _show(
    document: ReadOnlyDocument, view: Callable[[ReadOnlyDocument], None], *, as_json: bool
) -> None:
    if document["is_demo_data"] and not as_json:
        print_banner(terminal.err)
    terminal.print_document(document, lambda: view(document), as_json=as_json)


@contextmanager
def _open_chart_service(*, reads: bool = False) -> Iterator["ChartService"]:
    from pipelines.charts.service import open_chart_service  # noqa: PLC0415 -- loads DuckDB and Delta, 0.5 s

    with open_chart_service(stored_settings() if reads else Settings()) as service:
        yield service


def _call(
    api: str | None,
    remote: Callable[[AsyncClient], Awaitable[ApiResponse[Any]]],
    local: "Callable[[ChartSongService], ReadOnlyDocument]",
    *,
    reads: bool = False,
) -> ReadOnlyDocument:
    """Call the service at `api`, or the stores of this machine; `reads`: it changes nothing."""

    def call_here() -> ReadOnlyDocument:
        from api.services.chart_songs import ChartSongService  # noqa: PLC0415 -- loads DuckDB and Delta, 0.5 s

        with _open_chart_service(reads=reads) as service:
            return local(ChartSongService(service.engine, is_demo=service.is_demo))

    document: ReadOnlyDocument = call_service_or_stores(api, remote, call_here)
    return document


@contextmanager
def _stop_signals() -> Iterator[Callable[[], bool]]:
    """Stop at the next safe point on the first stop signal, immediately on the second."""
    is_requested, is_reported = threading.Event(), threading.Event()

    # The handler only sets a flag: it may run in the middle of a write, and streams are not
    # reentrant. The message follows when the caller asks whether to stop.
    def stop(number: int, frame: FrameType | None) -> None:
        if is_requested.is_set():
            signal.default_int_handler(number, frame)
        is_requested.set()

    def is_stopped() -> bool:
        if is_requested.is_set() and not is_reported.is_set():
            is_reported.set()
            terminal.print_message("[yellow]stopping[/]: everything read so far is kept")
        return is_requested.is_set()

    # The former handlers return, so that a later command is not affected.
    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield is_stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _progress() -> Iterator[Callable[[BackfillProgress], None]]:
    """Show a progress bar in a terminal, or occasional lines in a file or a pipe."""
    live = Live(console=terminal.err, transient=True, refresh_per_second=8)

    def report(progress: BackfillProgress) -> None:
        done, total = progress.done_count, progress.missing_count
        text = (
            f"{done:,} of {counted(total, 'issue')} · "
            f"{counted(progress.requests_used, 'request')} · {progress.chart_date}"
        )
        if terminal.err.is_terminal:
            grid = Table.grid(padding=(0, 1))
            bar = ProgressBar(total=total, completed=done, width=32)
            grid.add_row(bar, Text(text, style="dim"))
            live.update(grid)
        elif done % _LINE_EVERY == 0 or done == total:
            terminal.err.print(text, soft_wrap=True)

    with live if terminal.err.is_terminal else nullcontext():
        yield report
