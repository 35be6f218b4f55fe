"""`sametrack replay`: parse stored bodies with the current parsers and show the differences."""

import json
from datetime import UTC, datetime
from typing import Annotated

import typer
from rich import box
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from api.cli.options import JsonDocumentOption
from api.cli.stores import stored_settings
from api.cli.terminal import err, exit_with_input_error, out, print_message, safe
from pipelines.captures.replay import Replay, SurfaceReplay
from pipelines.documents.messages import counted
from pipelines.open_stores import open_engine_of
from pipelines.platform.providers import choose_profile
from pipelines.platform.reparse import SURFACES
from pipelines.platform.sources.table import PARSER_VERSION
from pipelines.settings import Settings
from warehouse.home import open_home

EXAMPLE_LIMIT = 100
FIELDS_SHOWN = 6
_COLUMNS = (
    ("captures", "captures"),
    ("same", "same"),
    ("changed", "changed"),
    ("new_error", "new errors"),
    ("now_parsed", "now parsed"),
    ("still_refused", "still refused"),
    ("other_refusal", "other refusal"),
    ("not_read", "not read"),
)


def replay(
    since: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="Only captures from this day on (2026-11-01, UTC)."),
    ] = None,
    surface: Annotated[
        list[str] | None,
        typer.Option(help="Only this surface, for example music_list; repeatable."),
    ] = None,
    *,
    write: Annotated[
        bool, typer.Option("--write", help="Append differing records as new observations.")
    ] = False,
    as_json: JsonDocumentOption = False,
) -> None:
    """Parse the archive with the current parsers and show the differences. Offline.

    Without --write nothing is stored. With it, each capture that parses differently gets a new row
    with the current parser version, and the time and number of the old row. Old rows are kept.
    """
    # Check the options before the archive is opened.
    surfaces = tuple(surface or ())
    unknown = sorted(set(surfaces) - SURFACES)
    if unknown:
        exit_with_input_error(
            f"unknown surface: {', '.join(unknown)}", hint=f"known: {', '.join(sorted(SURFACES))}"
        )
    start = None
    if since is not None:
        try:
            start = datetime.fromisoformat(since)
        except ValueError:
            exit_with_input_error(f"{since!r} is not a date", hint="for example --since 2026-11-01")
        start = start if start.tzinfo else start.replace(tzinfo=UTC)
    # Without --write nothing is stored, so the only stored world needs no PROFILE.
    settings = Settings() if write else stored_settings()
    profile = choose_profile(settings)
    home = open_home(settings.data_home, profile.name)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with (
        open_engine_of(settings, home) as engine,
        Progress(*columns, console=err, transient=True) as progress,
    ):
        task = progress.add_task("parsing", total=None)
        replays = Replay(lake=engine.lake, engine=engine, profile=profile).run(
            since=start,
            surfaces=surfaces,
            is_written=write,
            on_step=lambda done, total: progress.update(task, completed=done, total=total),
        )
    if as_json:
        head = {"parser_version": PARSER_VERSION, "written": write}
        documents = [replay.to_document() for replay in replays]
        typer.echo(json.dumps({**head, "surfaces": documents}, ensure_ascii=False, indent=2))
        return
    _print_differences(replays, is_written=write)


def _print_differences(replays: list[SurfaceReplay], *, is_written: bool) -> None:
    """Print the outcomes of each surface, then fields and examples that differ."""
    if not replays:
        print_message("the archive is empty")
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("surface")
    for _, heading in _COLUMNS:
        table.add_column(heading, justify="right")
    for replay in replays:
        document = replay.to_document()
        table.add_row(safe(replay.surface), *(f"{document[name]:,}" for name, _ in _COLUMNS))
    out.print(table)
    for replay in replays:
        if replay.fields:
            fields = replay.fields.most_common(FIELDS_SHOWN)
            counts = ", ".join(f"{name} {count:,}" for name, count in fields)
            out.print(f"[bold]{safe(replay.surface)}[/] records that differ: {safe(counts)}")
        for example in replay.examples:
            what = safe(example.what, limit=EXAMPLE_LIMIT)
            entity = safe(example.entity_id, limit=40)
            kind = example.kind.replace("_", " ")
            out.print(f"  • [dim]{kind}[/] {entity} [dim]{example.capture_id}[/]: {what}")
    # What --write stores: bodies that parse differently, and those that parse now
    differing = sum(replay.kinds["changed"] + replay.kinds["now_parsed"] for replay in replays)
    if differing:
        was = "was" if differing == 1 else "were"
        outcome = f"{was} appended" if is_written else "would be appended with --write"
        print_message(f"{counted(differing, 'capture')} {outcome}; old rows are kept")
