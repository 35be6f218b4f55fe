"""Answers of queries in the terminal: a table for people, the formats of files for programs."""

import sys
from collections.abc import Iterable
from pathlib import Path

from rich import box
from rich.table import Table as Shown

from api.cli.commands.analysis.analysis_workspace import QueryFormat, Workspace
from api.cli.terminal import exit_with_input_error, out, print_message, safe
from pipelines.documents import messages
from warehouse.exports.atomic_files import write_atomically
from warehouse.exports.export_table import ExportTable
from warehouse.exports.table_files import (
    TEXT_FORMATS,
    ExportMethod,
    TableFormat,
    csv_parts,
    to_file,
)
from warehouse.records.times import to_utc_text

SHOWN_ROWS = 100
CELL_LIMIT = 80
_RIGHT = frozenset({"whole", "real"})


def check_format(form: QueryFormat, out_file: Path | None) -> None:
    """Refuse a format that the terminal cannot take."""
    if out_file is None and form not in {"table", *TEXT_FORMATS}:
        exit_with_input_error(
            "this format needs a file", hint="--out answer.parquet, answer.csv, …"
        )


def write_answer(
    table: ExportTable,
    form: QueryFormat,
    workspace: Workspace,
    *,
    out_file: Path | None,
    rows: int,
) -> None:
    """Show the answer, or write it to stdout or to a file; a table in a file is CSV."""
    if form == "table" and out_file is None:
        show_answer(table, rows)
        return
    _write(
        _encode(table, "csv" if form == "table" else form, workspace),
        out_file,
        row_count=len(table.rows),
    )


def show_answer(table: ExportTable, rows: int = SHOWN_ROWS) -> None:
    """Show the first rows as a table."""
    shown = Shown(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in table.columns:
        shown.add_column(safe(column.name), justify="right" if column.kind in _RIGHT else "left")
    for row in table.rows[:rows]:
        shown.add_row(*(_cell(value) for value in row))
    out.print(shown)
    more = len(table.rows) - rows
    total = messages.counted(len(table.rows), "row")
    print_message(f"[dim]{total}{f', {rows:,} shown' if more > 0 else ''}[/]")


def _encode(table: ExportTable, form: TableFormat, workspace: Workspace) -> Iterable[bytes]:
    """Return the result as bytes, without a byte order mark, so that programs can read it."""
    if form == "csv":  # in parts, for answers that are too large for memory
        return csv_parts(table.columns, table.rows, for_spreadsheets=False)
    facts = {
        "as_of": None if workspace.as_of is None else to_utc_text(workspace.as_of),
        "is_demo_data": "true" if workspace.is_demo else "false",
        "row_count": str(len(table.rows)),
    }
    if workspace.is_history_rewritten:
        facts["history_rewritten"] = "true"
    method = ExportMethod(
        tuple((name, value) for name, value in facts.items() if value is not None)
    )
    return (to_file(table, method, form), b"\n" if form in TEXT_FORMATS else b"")


def _write(parts: Iterable[bytes], out_file: Path | None, *, row_count: int) -> None:
    if out_file is None:
        for part in parts:
            sys.stdout.buffer.write(part)
        return
    write_atomically(out_file, parts)
    print_message(f"[green]written[/] {safe(out_file)} ({messages.counted(row_count, 'row')})")


def _cell(value: object) -> str:
    """Format a cell; unknown is a dash, never 0."""
    return "—" if value is None else safe(value, limit=CELL_LIMIT)
