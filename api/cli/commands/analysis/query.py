"""`sametrack sql` and `sametrack query`: run a statement, or a query of the library."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich import box
from rich.table import Table

from api.cli.options import AsOf, OutFile
from api.cli.rendering.results import print_banner
from api.cli.stores import stored_settings
from api.cli.terminal import err, exit_with_input_error, out, print_json, print_message, safe
from pipelines.documents.messages import counted
from pipelines.open_stores import open_chosen_home, open_engine_of
from warehouse.analysis.query_library import find_query, named_queries
from warehouse.engine.duckdb_engine import Engine
from warehouse.engine.user_sql import run_user_sql
from warehouse.exports import table_files
from warehouse.exports.atomic_files import write_atomically
from warehouse.exports.export_table import ExportTable, to_table
from warehouse.exports.table_files import MEDIA_TYPES, TableFormat
from warehouse.home import Home, is_demo_world
from warehouse.lake.reading import parse_as_of
from warehouse.queries.erasure import is_history_rewritten
from warehouse.records.times import to_utc_text

# The read-only warehouse that the analysis commands open.


@dataclass(frozen=True, slots=True)
class Workspace:
    """The warehouse of a profile, open for reading. Without `as_of`: the current state."""

    engine: Engine
    home: Home
    as_of: datetime | None
    is_demo: bool
    is_history_rewritten: bool


@contextmanager
def open_workspace(as_of: str | None = None, *, is_fixed: bool = False) -> Iterator[Workspace]:
    """Open the warehouse of the chosen profile, or the only one; print a notice for demo data.

    `is_fixed`: without `as_of`, read as of now, so that all tables show the same moment.

    Raises:
        ProfileNotChosenError: No profile is chosen, and there is no or more than one world.
        InvalidParameterError: `as_of` is not a time in the past.
        WarehouseError: The lake cannot be opened.
    """
    # Without a moment each table is read in its newest version at the time of its query.
    now = datetime.now(UTC)
    moment = parse_as_of(as_of, now=now) if as_of is not None else now if is_fixed else None
    settings = stored_settings()
    home = open_chosen_home(settings)
    is_demo = is_demo_world(home.world)
    with open_engine_of(settings, home, as_of=moment) as engine:
        if is_demo:
            print_banner(err)
        is_rewritten = is_history_rewritten(engine)
        if is_rewritten:
            print_message(
                "[yellow]history rewritten:[/] an account was erased after that time, so the data "
                "differs from what it was then"
            )
        yield Workspace(engine, home, moment, is_demo, is_rewritten)


def format_of(out_file: Path | None) -> TableFormat | None:
    """Return the format that the ending of a file name stands for, if any."""
    ending = "" if out_file is None else out_file.suffix.removeprefix(".").lower()
    return next((form for form in MEDIA_TYPES if form == ending), None)


SHOWN_ROWS = 100
CELL_LIMIT = 80
_NUMBER_KINDS = frozenset({"whole", "real"})

QueryFormat = Literal["table", table_files.TableFormat]
"""Output formats of a query: a table for people, the formats of files for programs."""
_Format = Annotated[
    QueryFormat | None,
    typer.Option("--format", help="Default: by the ending of FILE, else table."),
]
_Rows = Annotated[int, typer.Option(min=1, help="Rows shown by `--format table`.")]
_AsJson = Annotated[bool, typer.Option("--json", help="Same as --format json.")]


def sql(
    statement: Annotated[
        str | None,
        typer.Argument(
            metavar="SQL",
            help="One SELECT statement; `-` reads it from stdin.",
        ),
    ] = None,
    *,
    as_of: AsOf = None,
    form: _Format = None,
    out_file: OutFile = None,
    rows: _Rows = SHOWN_ROWS,
    as_json: _AsJson = False,
) -> None:
    """Query the tables raw.*, marts.* and seen.* of docs/data-dictionary.md.

    Read-only: no other files, no network, no extensions. For many questions in a row,
    `sametrack database` writes a file that DuckDB's own shell and UI open.
    """
    chosen_form = _choose_format("json" if as_json else form, out_file)
    if statement is None:
        exit_with_input_error(
            "a statement is missing",
            hint="Give one SELECT, or `-` to read it from stdin. To ask interactively, write the "
            "tables to a file with `sametrack database --out FILE`, and open it in DuckDB's own "
            "shell (`duckdb FILE`) or UI (`duckdb -ui FILE`).",
        )
    text = sys.stdin.read() if statement == "-" else statement
    with open_workspace(as_of) as workspace:
        table = to_table("answer", run_user_sql(workspace.engine, text))
        _write_result(table, chosen_form, workspace, out_file=out_file, rows=rows)


def query(
    name: Annotated[str | None, typer.Argument(help="A query of the library.")] = None,
    *,
    is_list: Annotated[bool, typer.Option("--list", help="List the library.")] = False,
    is_shown: Annotated[
        bool, typer.Option("--show", help="Print the SQL instead of running it.")
    ] = False,
    parameters: Annotated[
        list[str] | None,
        typer.Option("--set", "-s", metavar="NAME=VALUE", help="A parameter; may be repeated."),
    ] = None,
    as_of: AsOf = None,
    form: _Format = None,
    out_file: OutFile = None,
    rows: _Rows = SHOWN_ROWS,
    as_json: _AsJson = False,
) -> None:
    """Run a named query of the library; `--list` shows all with their parameters.

    The statements are a start for your own: `--show` prints one.
    """
    if is_list or name is None:
        _print_library(as_json=as_json)
        return
    chosen_form = _choose_format("json" if as_json else form, out_file)
    named_query = find_query(name)
    # The query converts the texts to the types of its parameters.
    texts: dict[str, str] = {}
    for assignment in parameters or []:
        parameter, separator, value = assignment.partition("=")
        if not separator:
            exit_with_input_error(f"--set {parameter}: a value is missing", hint="--set top=5")
        texts[parameter.strip()] = value
    values = named_query.values(texts)
    if is_shown:
        typer.echo(named_query.sql)
        return
    with open_workspace(as_of) as workspace:
        table = to_table(named_query.name, run_user_sql(workspace.engine, named_query.sql, values))
        _write_result(table, chosen_form, workspace, out_file=out_file, rows=rows)


def _print_library(*, as_json: bool) -> None:
    """Print the named queries with their parameters."""
    if as_json:
        print_json(
            [
                {
                    "name": named_query.name,
                    "subject": named_query.subject,
                    "title": named_query.title,
                    "description": named_query.description,
                    "parameters": [
                        {
                            "name": parameter.name,
                            "type": parameter.type,
                            "default": parameter.default,
                            "meaning": parameter.meaning,
                        }
                        for parameter in named_query.parameters
                    ],
                }
                for named_query in named_queries()
            ]
        )
        return
    for named_query in named_queries():
        out.print(f"[bold]{safe(named_query.name)}[/]  {safe(named_query.title)}")
        out.print(f"    [dim]{safe(named_query.description)}[/]", soft_wrap=True)
        for parameter in named_query.parameters:
            default = "" if parameter.default is None else f" = {safe(parameter.default)}"
            out.print(
                f"    --set {parameter.name}{default}  [dim]{safe(parameter.meaning)}[/]",
                soft_wrap=True,
            )


def _choose_format(form: QueryFormat | None, out_file: Path | None) -> QueryFormat:
    """Return the format of a result; refuse one that a terminal cannot show."""
    chosen_form = form or format_of(out_file) or "table"
    if out_file is None and chosen_form not in {"table", *table_files.TEXT_FORMATS}:
        exit_with_input_error(
            "this format needs a file", hint="--out answer.parquet, answer.csv, …"
        )
    return chosen_form


def _write_result(
    table: ExportTable,
    form: QueryFormat,
    workspace: Workspace,
    *,
    out_file: Path | None,
    rows: int,
) -> None:
    """Show a result, or write it to stdout or to a file, where a table becomes CSV."""
    if form == "table" and out_file is None:
        _show_result(table, rows)
        return
    # Without a byte order mark, so that programs can read it.
    parts: Iterable[bytes]
    file_form: table_files.TableFormat = "csv" if form == "table" else form
    if file_form == "csv":  # in parts, for results that are too large for memory
        parts = table_files.csv_parts(table.columns, table.rows, for_spreadsheets=False)
    else:
        # Facts about the result, stored in the file where its format has a place for them
        facts = [("is_demo_data", "true" if workspace.is_demo else "false")]
        if workspace.as_of is not None:
            facts.insert(0, ("as_of", to_utc_text(workspace.as_of)))
        facts.append(("row_count", str(len(table.rows))))
        if workspace.is_history_rewritten:
            facts.append(("history_rewritten", "true"))
        content = table_files.to_file(table, table_files.ExportMethod(tuple(facts)), file_form)
        parts = (content, b"\n" if file_form in table_files.TEXT_FORMATS else b"")
    if out_file is None:
        for part in parts:
            sys.stdout.buffer.write(part)
        return
    write_atomically(out_file, parts)
    print_message(f"[green]written[/] {safe(out_file)} ({counted(len(table.rows), 'row')})")


def _show_result(table: ExportTable, rows: int) -> None:
    """Show the first rows as a table; unknown is a dash, never 0."""
    display = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in table.columns:
        is_number = column.kind in _NUMBER_KINDS
        display.add_column(safe(column.name), justify="right" if is_number else "left")
    for row in table.rows[:rows]:
        display.add_row(*("—" if value is None else safe(value, limit=CELL_LIMIT) for value in row))
    out.print(display)
    total = counted(len(table.rows), "row")
    print_message(f"[dim]{total}{f', {rows:,} shown' if len(table.rows) > rows else ''}[/]")
