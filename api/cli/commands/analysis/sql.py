"""`sametrack sql`: run a read-only query in the warehouse."""

import sys
from typing import Annotated

import typer

from api.cli.commands.analysis.analysis_workspace import (
    AsJson,
    FormatOption,
    ShownRows,
    format_of,
    open_workspace,
)
from api.cli.options import AsOf, OutFile
from api.cli.query_output import SHOWN_ROWS, check_format, write_answer
from api.cli.terminal import exit_with_input_error
from warehouse.engine.user_sql import run_user_sql
from warehouse.exports.export_table import to_table


def sql(
    question: Annotated[
        str | None,
        typer.Argument(
            metavar="SQL",
            help="One SELECT statement; `-` reads it from stdin.",
        ),
    ] = None,
    *,
    as_of: AsOf = None,
    form: FormatOption = None,
    out_file: OutFile = None,
    rows: ShownRows = SHOWN_ROWS,
    as_json: AsJson = False,
) -> None:
    """Query the tables raw.*, marts.* and seen.* of docs/data-dictionary.md.

    Read-only: no other files, no network, no extensions. For many questions in a row,
    `sametrack database` writes a file that DuckDB's own shell and UI open.
    """
    wanted = ("json" if as_json else form) or format_of(out_file) or "table"
    check_format(wanted, out_file)
    if question is None:
        exit_with_input_error(
            "a statement is missing",
            hint="Give one SELECT, or `-` to read it from stdin. To ask interactively, write the "
            "tables to a file with `sametrack database --out FILE`, and open it in DuckDB's own "
            "shell (`duckdb FILE`) or UI (`duckdb -ui FILE`).",
        )
    text = sys.stdin.read() if question == "-" else question
    with open_workspace(as_of) as workspace:
        table = to_table("answer", run_user_sql(workspace.engine, text))
        write_answer(table, wanted, workspace, out_file=out_file, rows=rows)
