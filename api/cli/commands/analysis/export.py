"""`sametrack export`: export tables of the warehouse as files."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from api.cli.commands.analysis.analysis_workspace import Workspace, format_of, open_workspace
from api.cli.options import AsOf
from api.cli.terminal import exit_with_input_error, out, print_json, print_written, safe
from pipelines.documents.messages import counted
from warehouse.exports.data_package import write_package
from warehouse.exports.extracts import (
    ExportScope,
    Extract,
    choose_extracts,
    find_scope,
    read_batches,
)
from warehouse.exports.method_sheet import describe_method
from warehouse.exports.pseudonyms import Pseudonyms, open_pseudonyms
from warehouse.exports.table_files import ExportMethod, TableFormat, write_table

ENDINGS = {"package": "zip"}


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
    wanted = _choose_format(form, out_file)
    if job is not None and track is not None:
        exit_with_input_error("give --job or --track, not both")
    scope = ExportScope(job_id=job, track=track)
    if len(choose_extracts(what, scope)) > 1 and wanted != "package":
        exit_with_input_error(f"{what} has more than one table", hint="--format package")
    with open_workspace(as_of, is_fixed=True) as workspace:
        path = out_file or _default_name(what, wanted, workspace)
        scope = find_scope(workspace.engine, scope)
        extracts = choose_extracts(what, scope)
        method = describe_method(
            workspace.engine, extracts, scope, is_pseudonymised=pseudonymise, creator=creator
        )
        rows = _write(
            path,
            wanted,
            workspace,
            extracts,
            method,
            scope,
            bom=bom,
            pseudonyms=_open_pseudonyms(workspace, pseudonymise),
        )
    _print_summary(path, rows, method, as_json=as_json)


def _choose_format(form: ExportFileFormat | None, out_file: Path | None) -> ExportFileFormat:
    is_zip = out_file is not None and out_file.suffix.lower() == ".zip"
    return form or format_of(out_file) or ("package" if is_zip else "csv")


def _default_name(what: str, form: ExportFileFormat, workspace: Workspace) -> Path:
    demo = "demo-" if workspace.is_demo else ""
    noun = what.rpartition(".")[2]
    return Path(f"sametrack-{demo}{noun}.{ENDINGS.get(form, form)}")


def _open_pseudonyms(workspace: Workspace, is_wanted: bool) -> Pseudonyms | None:
    return open_pseudonyms(workspace.home) if is_wanted else None


def _write(
    path: Path,
    form: ExportFileFormat,
    workspace: Workspace,
    extracts: list[Extract],
    method: ExportMethod,
    scope: ExportScope,
    *,
    bom: bool,
    pseudonyms: Pseudonyms | None,
) -> dict[str, int]:
    """Write the file atomically; return the row count of each table."""
    if form == "package":
        return write_package(
            path, workspace.engine, extracts, method, scope=scope, pseudonyms=pseudonyms
        )
    extract = extracts[0]
    batches = read_batches(workspace.engine, extract, pseudonyms=pseudonyms)
    count = write_table(path, form, extract.table.noun, batches, method, for_spreadsheets=bom)
    return {extract.table.name: count}


def _print_summary(
    path: Path, rows: dict[str, int], method: ExportMethod, *, as_json: bool
) -> None:
    if as_json:
        summary = {"path": str(path), "row_counts": rows, "method": dict(method.facts)}
        print_json(summary, indent=None)
        return
    for name, value in method.facts:
        if name.startswith(("left_out", "pseudonyms")):
            out.print(f"[dim]{safe(name.replace('_', ' '))}: {safe(value)}[/]", soft_wrap=True)
    print_written(path, f"({counted(sum(rows.values()), 'row')})")
