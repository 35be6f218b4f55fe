"""`sametrack openapi`: print the API description. Needs no store and no settings."""

import json
from pathlib import Path
from typing import Annotated

import typer

from api.cli.terminal import out, print_written
from api.generate.files import read_description
from warehouse.exports.atomic_files import write_atomically

_Out = Annotated[Path | None, typer.Option("--out", help="File to write. Default: stdout.")]


def openapi(*, out_file: _Out = None) -> None:
    """Print the OpenAPI 3.1.0 description of the HTTP API."""
    text = json.dumps(read_description(), ensure_ascii=False, indent=2)
    if out_file is None:
        out.out(text)
        return
    write_atomically(out_file, [f"{text}\n".encode()])
    print_written(out_file)
