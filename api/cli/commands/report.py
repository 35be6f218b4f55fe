"""`sametrack report`: write the report of a notebook, of a completed job or of a track.

Notebooks are in `pipelines/reports`, the reports of a job and of a track in `api/services/report`.
"""

import re
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.table import Table

from api.cli.local_job_client import open_local_job_client, reports_dir
from api.cli.options import LANGUAGES
from api.cli.rendering.results import print_banner
from api.cli.stores import read_stored_track, stored_settings
from api.cli.terminal import err, exit_with_input_error, out, print_written, safe
from api.services.report.render import render_report
from api.services.report.track_report import render_track_report
from pipelines.documents.messages import counted
from pipelines.platform.browser.installation import find_chromium
from pipelines.reports.catalogue import find_report, parse_parameters, read_catalogue
from warehouse.exports.atomic_files import write_atomically
from warehouse.extras import need_extra
from warehouse.records.values import PLATFORM_ID

_JOB_ID = re.compile(r"[0-9a-f]{4,8}(-[0-9a-f-]*)?")
_MUSIC_ID = re.compile(PLATFORM_ID)
_HINT = "sametrack report --list"

_What = Annotated[
    str | None,
    typer.Argument(metavar="NAME", help="Name of a report, id of a completed job, or music id."),
]
_Parameters = Annotated[
    list[str] | None,
    typer.Option("-p", "--parameter", metavar="KEY=VALUE", help="Parameter of the report."),
]
_AsOf = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        metavar="DATE",
        help="Only data committed until then; the same time gives the same tables.",
    ),
]
_Language = Annotated[
    str, typer.Option("--language", metavar="LANGUAGE", help="Language of the page: en or zh.")
]
_Output = Annotated[
    Path | None,
    typer.Option("--output", "--out", metavar="FILE", help="Default: in the reports folder."),
]


def report(
    what: _What = None,
    *,
    parameters: _Parameters = None,
    as_of: _AsOf = None,
    language: _Language = "en",
    pdf: Annotated[bool, typer.Option("--pdf", help="Also write a PDF; needs Chromium.")] = False,
    output: _Output = None,
    is_list: Annotated[
        bool, typer.Option("--list", help="List reports and their parameters.")
    ] = False,
) -> None:
    """Write the report of a notebook, a job or a track as one self-contained HTML file.

    The tables of a notebook are written as CSV to a folder next to the page.
    """
    if language not in LANGUAGES:
        exit_with_input_error(
            f"{language!r} is not a language of reports", hint=f"use {' or '.join(LANGUAGES)}"
        )
    if output is not None and output.suffix.lower() == ".pdf":
        page = output.with_suffix(".html")
        exit_with_input_error(
            f"--output names the page, which is HTML; --pdf writes {output.name} next to it",
            hint=f"--pdf --output {page}",
        )
    # The id of a job begins like a hexadecimal number, the name of a notebook does not.
    if is_list:
        _print_catalogue()
    elif what is None:
        exit_with_input_error("no report was named", hint=_HINT)
    elif _JOB_ID.fullmatch(what) or _MUSIC_ID.fullmatch(what):
        if parameters or as_of:
            exit_with_input_error(
                "the report of a job or a track takes no parameters and no --as-of", hint=_HINT
            )
        write = _report_job if _JOB_ID.fullmatch(what) else _report_track
        write(what, output, with_pdf=pdf, language=language)
    else:
        _report_notebook(
            what,
            parameters or [],
            as_of=as_of or "",
            output=output,
            with_pdf=pdf,
            language=language,
        )


def _report_job(job_id: str, output: Path | None, *, with_pdf: bool, language: str) -> None:
    """Write the report of a completed job, with the evidence of its pairs."""
    settings = stored_settings()
    if with_pdf:
        find_chromium(settings.chromium_path)  # fail before anything is written
    # Read the job and its evidence, then write the page without the stores.
    with open_local_job_client(settings) as job_client:
        job = job_client.job(job_client.expand_job_id(job_id))
        if job["result"] is None:
            exit_with_input_error(
                f"job {job['job_id']} is {job['status']} and has no result to report"
            )
        pairs = job_client.gather_pairs(job)
    page = render_report(job, pairs=pairs, language=language)
    _write(page, output or reports_dir(settings) / f"{job['job_id']}.html", with_pdf=with_pdf)


def _report_track(music_id: str, output: Path | None, *, with_pdf: bool, language: str) -> None:
    """Write the page of a track as it is stored."""
    settings = stored_settings()
    if with_pdf:
        find_chromium(settings.chromium_path)  # fail before anything is written
    page = render_track_report(read_stored_track(music_id), language=language)
    _write(page, output or reports_dir(settings) / f"{music_id}.html", with_pdf=with_pdf)


def _write(page: str, path: Path, *, with_pdf: bool) -> None:
    """Write a page, and its PDF next to it."""
    write_atomically(path, [page.encode()])
    print_written(path)
    if with_pdf:
        from pipelines.reports.pdf import open_printer  # noqa: PLC0415 -- the extra `browser`

        with err.status("printing"), open_printer(stored_settings().chromium_path) as printer:
            printed = printer.write(page, path)
        print_written(printed)


def _report_notebook(
    name: str,
    assignments: list[str],
    *,
    as_of: str,
    output: Path | None,
    with_pdf: bool,
    language: str,
) -> None:
    """Run the notebook of a report with the parameters `KEY=VALUE`, and write its page."""
    notebook = find_report(name)
    values: dict[str, str] = {}
    for assignment in assignments:
        key, sign, value = assignment.partition("=")
        if not sign or not key.strip():
            exit_with_input_error(f"-p {assignment!r} is not KEY=VALUE", hint=_HINT)
        values[key.strip()] = value
    parameters = parse_parameters(notebook, values)
    need_extra("analysis", f"the report {name!r}")

    from pipelines.reports.build import ReportRequest, build_report  # noqa: PLC0415 -- loads papermill, 2.5 s

    request = ReportRequest(
        report=notebook,
        parameters=parameters,
        as_of=as_of,
        output=output,
        with_pdf=with_pdf,
        language=language,
    )
    with err.status(notebook.title) as status:
        files = build_report(
            stored_settings(), request, progress=lambda step: status.update(safe(step))
        )
    if files.is_demo:
        print_banner(err)
    print_written(files.page)
    if files.pdf is not None:
        print_written(files.pdf)
    if files.tables:
        print_written(files.tables[0].parent, f"({counted(len(files.tables), 'table')})")


def _print_catalogue() -> None:
    """Print the reports of notebooks with their parameters and defaults."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("report", "about", "parameters (-p key=value)"):
        table.add_column(heading, overflow="fold")
    for notebook in read_catalogue():
        parameters = "\n".join(
            f"[bold]{safe(parameter.name)}[/] = {safe(repr(parameter.default))}\n"
            f"  [dim]{safe(parameter.meaning)}[/]"
            for parameter in notebook.parameters
        )
        table.add_row(safe(notebook.name), safe(notebook.purpose), parameters or "none")
    table.add_row("JOB_ID", "The result of one completed job, with its evidence.", "none")
    table.add_row("MUSIC_ID", "The page of one track: usage count, scans, creators.", "none")
    out.print(table)
