"""`sametrack parse`: print what the product makes of one body. For bug reports."""

import sys
from codecs import BOM_UTF8
from pathlib import Path
from typing import Annotated

import typer

from api.cli.options import JsonDocumentOption
from api.cli.rendering.parsed_body import print_parsed_body
from api.cli.terminal import exit_with_input_error, print_document
from pipelines.captures.recorded.parsed_body import parse_to_document
from pipelines.platform.http.client import HttpLimits
from pipelines.platform.profiles import PlatformProfile, load_profile
from pipelines.platform.reparse import SURFACES, ArchivedBody, BodyParser
from pipelines.settings import Settings
from warehouse.records.times import observed_now

STDIN = "-"
LARGEST_STATUS = 599
_PACKED = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x03\x04": "zip",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
}


def parse(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="The body as it was received; - for stdin.")
    ],
    surface: Annotated[
        str, typer.Option(metavar="NAME", help="Surface that sent it, for example web_detail.")
    ],
    entity: Annotated[
        str, typer.Option(metavar="ID", help="Id, handle or search term that was asked for.")
    ],
    status: Annotated[
        int, typer.Option(min=100, max=LARGEST_STATUS, help="HTTP status of the answer.")
    ] = 200,
    cursor: Annotated[
        int | None,
        typer.Option(min=0, help="Cursor that was asked for; of the chart its page, from 1."),
    ] = None,
    *,
    as_json: JsonDocumentOption = False,
) -> None:
    """Print what the parsers make of one body: its records, or the refusal that it is. Offline.

    The fields are those of the product's own records. The exit status is 0 for every body that was
    interpreted, a refusal too, and 2 if the file or an option cannot be used.
    """
    if surface not in SURFACES:
        exit_with_input_error(
            f"unknown surface: {surface}", hint=f"known: {', '.join(sorted(SURFACES))}"
        )
    if not entity.strip():
        exit_with_input_error("--entity is empty", hint="give the id that was asked for")
    body = _read_body(file, limit=HttpLimits().body_bytes)
    kept = ArchivedBody(
        surface=surface,
        entity_id=entity,
        observed_at=observed_now(),
        body=body,
        status=status,
        content_type=None,
        path="/",
        cursor=cursor,
    )
    document = parse_to_document(BodyParser(_profile()), kept)
    print_document(document, lambda: print_parsed_body(document), as_json=as_json)


def _read_body(file: str, *, limit: int) -> bytes:
    """Return the bytes of a file or of stdin, if they can be a body."""
    name = "stdin" if file == STDIN else file
    try:
        if file == STDIN:
            body = sys.stdin.buffer.read(limit + 1)
        else:
            with Path(file).open("rb") as opened:
                body = opened.read(limit + 1)
    except OSError as error:
        exit_with_input_error(
            f"{name} cannot be read: {error.strerror or type(error).__name__}",
            hint="give the file of one body, or - for stdin",
        )
    if len(body) > limit:
        exit_with_input_error(
            f"{name} has more than {limit:,} bytes", hint="no body of the platform is that large"
        )
    packed = next((kind for start, kind in _PACKED.items() if body.startswith(start)), None)
    if packed or b"\0" in body:
        exit_with_input_error(
            f"{name} is {packed or 'binary'}, not a text such as HTML or JSON",
            hint="give the body as it was after unpacking",
        )
    return body.removeprefix(BOM_UTF8)  # an editor may have put it there


def _profile() -> PlatformProfile:
    """Return the chosen profile, else the public one: nothing is contacted."""
    settings = Settings()
    return load_profile(settings.profile or "public", sandbox_port=settings.sandbox_port)
