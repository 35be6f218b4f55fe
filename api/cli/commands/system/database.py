"""`sametrack database`: publish the marts as one DuckDB file."""

from pathlib import Path
from typing import Annotated

import typer

from api.cli.commands.analysis.query import open_workspace
from api.cli.options import AsOf, JsonOption
from api.cli.terminal import format_count, out, print_json, print_written
from warehouse.exports.published_database import database_path, publish_database


def database(
    *,
    out_file: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="File to write. Default: in the data home."),
    ] = None,
    as_of: AsOf = None,
    as_json: JsonOption = False,
) -> None:
    """Write all marts to one DuckDB file, with a comment on every table and column.

    The old file is replaced only after the new one is complete and verified.
    """
    with open_workspace(as_of) as workspace:
        file = publish_database(workspace.engine, out_file or database_path(workspace.home))
    if as_json:
        document = {
            "path": str(file.path),
            "size_bytes": file.size_bytes,
            "row_counts": dict(file.row_counts),
        }
        print_json(document, indent=None)
        return
    for name, count in file.row_counts.items():
        out.print(f"{format_count(count):>12}  {name}")
    print_written(file.path, f"({file.size_bytes:,} bytes)")
