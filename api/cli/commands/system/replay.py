"""`sametrack replay`: parse stored bodies with the current parsers and show the differences."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
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
from pipelines.platform.reading import PARSER_VERSION
from pipelines.platform.reparse import SURFACES
from pipelines.settings import Settings
from warehouse.home.folder import open_home

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
    asked = tuple(surface or ())
    unknown = sorted(set(asked) - SURFACES)
    if unknown:
        exit_with_input_error(
            f"unknown surface: {', '.join(unknown)}", hint=f"known: {', '.join(sorted(SURFACES))}"
        )
    start = None if since is None else _day(since)
    with _open_replay(is_written=write) as opened, _bar() as bar:
        task = bar.add_task("parsing", total=None)
        found = opened.run(
            since=start,
            surfaces=asked,
            is_written=write,
            on_step=lambda done, total: bar.update(task, completed=done, total=total),
        )
    documents = [one.to_document() for one in found]
    if as_json:
        head = {"parser_version": PARSER_VERSION, "written": write}
        typer.echo(json.dumps({**head, "surfaces": documents}, ensure_ascii=False, indent=2))
        return
    _show(found, is_written=write)


def _day(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        exit_with_input_error(f"{text!r} is not a date", hint="for example --since 2026-11-01")
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


@contextmanager
def _open_replay(*, is_written: bool) -> Iterator[Replay]:
    """Open the archive of the chosen profile."""
    settings = Settings() if is_written else stored_settings()
    profile = choose_profile(settings)
    home = open_home(settings.data_home, profile.name)
    with open_engine_of(settings, home) as engine:
        yield Replay(lake=engine.lake, engine=engine, profile=profile)


def _bar() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, console=err, transient=True)


def _show(found: list[SurfaceReplay], *, is_written: bool) -> None:
    if not found:
        print_message("the archive is empty")
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("surface")
    for _, heading in _COLUMNS:
        table.add_column(heading, justify="right")
    for one in found:
        document = one.to_document()
        table.add_row(safe(one.surface), *(f"{document[name]:,}" for name, _ in _COLUMNS))
    out.print(table)
    for one in found:
        _show_changes(one)
    kept = sum(one.kinds["changed"] + one.kinds["now_parsed"] for one in found)
    if kept:
        was = "was" if kept == 1 else "were"
        did = f"{was} appended" if is_written else "would be appended with --write"
        print_message(f"{counted(kept, 'capture')} {did}; old rows are kept")


def _show_changes(one: SurfaceReplay) -> None:
    if one.fields:
        shown = ", ".join(f"{name} {n:,}" for name, n in one.fields.most_common(FIELDS_SHOWN))
        out.print(f"[bold]{safe(one.surface)}[/] records that differ: {safe(shown)}")
    for example in one.examples:
        what = safe(example.what, limit=EXAMPLE_LIMIT)
        entity = safe(example.entity_id, limit=40)
        kind = example.kind.replace("_", " ")
        out.print(f"  • [dim]{kind}[/] {entity} [dim]{example.capture_id}[/]: {what}")
