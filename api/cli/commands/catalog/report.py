"""`sametrack catalog report`: what the scans of a catalogue found, as a page and as tables."""

from pathlib import Path
from typing import Annotated

import typer

from api.cli.commands.catalog.catalog import AsJson, Name, app
from api.cli.terminal import exit_with_input_error, out, print_json, safe

LANGUAGES = ("en", "zh")


@app.command("report")
def report(
    name: Name,
    *,
    forms: Annotated[
        list[str] | None,
        typer.Option("--format", help="html, xlsx or parquet; repeatable. Default: all."),
    ] = None,
    language: Annotated[str, typer.Option(help="Language of the page: en or zh.")] = "en",
    folder: Annotated[
        Path | None,
        typer.Option("--out", metavar="FOLDER", help="Default: in the reports folder."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write tracks, music ids and videos of a catalogue as HTML, XLSX and Parquet."""
    from api.settings import ApiSettings  # noqa: PLC0415 -- loads pydantic
    from pipelines.catalog.open_service import write_report  # noqa: PLC0415 -- loads SQLAlchemy
    from pipelines.catalog.report.files import REPORT_FORMATS  # noqa: PLC0415 -- loads pyarrow

    if language not in LANGUAGES:
        exit_with_input_error(f"--language {language} is none of {', '.join(LANGUAGES)}")
    wanted = [form for form in REPORT_FORMATS if forms is None or form in forms]
    unknown = [form for form in forms or () if form not in REPORT_FORMATS]
    if unknown:
        exit_with_input_error(f"--format {unknown[0]} is none of {', '.join(REPORT_FORMATS)}")
    paths = write_report(ApiSettings(), name, folder=folder, language=language, formats=wanted)
    if as_json:
        print_json({"name": name, "paths": [str(path) for path in paths]})
        return
    for path in paths:
        out.print(f"[green]written[/] {safe(path)}", soft_wrap=True)
