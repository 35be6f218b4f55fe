"""`sametrack query`: run a query of the library, or list the library."""

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
from api.cli.terminal import exit_with_input_error, out, print_json, safe
from warehouse.analysis.query_library import NamedQuery, find_query, named_queries
from warehouse.engine.user_sql import run_user_sql
from warehouse.exports.export_table import to_table


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
    form: FormatOption = None,
    out_file: OutFile = None,
    rows: ShownRows = SHOWN_ROWS,
    as_json: AsJson = False,
) -> None:
    """Run a named query of the library; `--list` shows all with their parameters.

    The statements are a start for your own: `--show` prints one.
    """
    if is_list or name is None:
        _list_queries(as_json=as_json)
        return
    wanted = ("json" if as_json else form) or format_of(out_file) or "table"
    check_format(wanted, out_file)
    found = find_query(name)
    values = found.values(_parse(parameters or []))
    if is_shown:
        typer.echo(found.sql)
        return
    with open_workspace(as_of) as workspace:
        table = to_table(found.name, run_user_sql(workspace.engine, found.sql, values))
        write_answer(table, wanted, workspace, out_file=out_file, rows=rows)


def _parse(parameters: list[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in parameters]
    for name, separator, _ in pairs:
        if not separator:
            exit_with_input_error(f"--set {name}: a value is missing", hint="--set top=5")
    return {name.strip(): value for name, _, value in pairs}


def _list_queries(*, as_json: bool) -> None:
    if as_json:
        print_json([_document(found) for found in named_queries()])
        return
    for found in named_queries():
        out.print(f"[bold]{safe(found.name)}[/]  {safe(found.title)}")
        out.print(f"    [dim]{safe(found.description)}[/]", soft_wrap=True)
        for one in found.parameters:
            default = "" if one.default is None else f" = {safe(one.default)}"
            out.print(f"    --set {one.name}{default}  [dim]{safe(one.meaning)}[/]", soft_wrap=True)


def _document(found: NamedQuery) -> dict[str, object]:
    return {
        "name": found.name,
        "subject": found.subject,
        "title": found.title,
        "description": found.description,
        "parameters": [
            {"name": one.name, "type": one.type, "default": one.default, "meaning": one.meaning}
            for one in found.parameters
        ],
    }
