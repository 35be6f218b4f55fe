"""`sametrack export`: export tables of the warehouse as files."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from api.cli.commands.analysis.query import format_of, open_workspace
from api.cli.options import AsOf
from api.cli.terminal import exit_with_input_error, out, print_json, print_written, safe
from pipelines.documents.messages import counted
from warehouse.exports.data_package import write_package
from warehouse.exports.extracts import (
    ExportScope,
    choose_extracts,
    find_scope,
    read_batches,
)
from warehouse.exports.method_sheet import describe_method
from warehouse.exports.pseudonyms import open_pseudonyms
from warehouse.exports.table_files import TableFormat, write_table

ExportFileFormat = Literal[TableFormat, "package"]
"""File formats of an export."""


def export(
    what: Annotated[str, typer.Argument(help="A table of docs/data-dictionary.md, or `all`.")],
    *,
    form: Annotated[
        ExportFileFormat | None,
        typer.Option("--format", help="Default: by the ending of FILE, else csv."),
    ] = None,
    job: Annotated[
        str | None, typer.Option(metavar="ID", help="Only rows of this job; a beginning will do.")
    ] = None,
    track: Annotated[
        str | None, typer.Option(metavar="ID", help="Only rows of this music id.")
    ] = None,
    as_of: AsOf = None,
    out_file: Annotated[Path | None, typer.Option("--out", metavar="FILE")] = None,
    bom: Annotated[
        bool,
        typer.Option(
            "--bom", help="CSV for spreadsheets: with a byte order mark, formulas escaped."
        ),
    ] = False,
    creator: Annotated[
        str | None,
        typer.Option(help="Who collected the data, for the citation in a data package."),
    ] = None,
    pseudonymise: Annotated[
        bool,
        typer.Option(
            "--pseudonymise",
            help="Replace ids of accounts and videos by keyed hashes; omit names, texts, links.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print a summary as JSON.")] = False,
) -> None:
    """Export a table as CSV, Parquet, XLSX, or as a data package with its documentation.

    Ids stay text. `all` needs a data package. Without --as-of, all rows are as of the start.
    """
    is_zip = out_file is not None and out_file.suffix.lower() == ".zip"
    chosen_form = form or format_of(out_file) or ("package" if is_zip else "csv")
    if job is not None and track is not None:
        exit_with_input_error("give --job or --track, not both")
    scope = ExportScope(job_id=job, track=track)
    if len(choose_extracts(what, scope)) > 1 and chosen_form != "package":
        exit_with_input_error(f"{what} has more than one table", hint="--format package")
    # Fixed in time, so that all tables of a package show the same moment.
    with open_workspace(as_of, is_fixed=True) as workspace:
        demo, noun = "demo-" if workspace.is_demo else "", what.rpartition(".")[2]
        ending = "zip" if chosen_form == "package" else chosen_form
        path = out_file or Path(f"sametrack-{demo}{noun}.{ending}")
        # Complete the beginning of a job id, and limit the tables to its rows.
        scope = find_scope(workspace.engine, scope)
        extracts = choose_extracts(what, scope)
        method = describe_method(
            workspace.engine, extracts, scope, is_pseudonymised=pseudonymise, creator=creator
        )
        pseudonyms = open_pseudonyms(workspace.home) if pseudonymise else None
        if chosen_form == "package":
            row_counts = write_package(
                path, workspace.engine, extracts, method, scope=scope, pseudonyms=pseudonyms
            )
        else:
            extract = extracts[0]
            batches = read_batches(workspace.engine, extract, pseudonyms=pseudonyms)
            count = write_table(
                path, chosen_form, extract.table.noun, batches, method, for_spreadsheets=bom
            )
            row_counts = {extract.table.name: count}
    if as_json:
        summary = {"path": str(path), "row_counts": row_counts, "method": dict(method.facts)}
        print_json(summary, indent=None)
        return
    # What a reader must know before using the file: left-out columns, and pseudonyms
    for name, value in method.facts:
        if name.startswith(("left_out", "pseudonyms")):
            out.print(f"[dim]{safe(name.replace('_', ' '))}: {safe(value)}[/]", soft_wrap=True)
    print_written(path, f"({counted(sum(row_counts.values()), 'row')})")
