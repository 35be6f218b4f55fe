"""`sametrack parse`: print the records that the parsers read from one body, for bug reports."""

import sys
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from api.cli.options import JsonDocumentOption
from api.cli.terminal import exit_with_input_error, out, print_document, safe
from pipelines.captures.recorded import parse_to_document
from pipelines.platform.http.client import HttpLimits
from pipelines.platform.profiles import load_profile
from pipelines.platform.reparse import SURFACES, ArchivedBody, BodyParser
from pipelines.settings import Settings
from warehouse.records.times import observed_now

STDIN = "-"
LARGEST_STATUS = 599
FIELDS_SHOWN = 200
VALUE_LIMIT = 160
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
    archived = ArchivedBody(
        surface=surface,
        entity_id=entity,
        observed_at=observed_now(),
        body=_read_body(file, limit=HttpLimits().body_bytes),
        status=status,
        content_type=None,
        path="/",
        cursor=cursor,
    )
    # Nothing is contacted, so without a chosen profile the public one is used.
    settings = Settings()
    profile = load_profile(settings.profile or "public", sandbox_port=settings.sandbox_port)
    document = parse_to_document(BodyParser(profile), archived)
    print_document(document, lambda: _print_parsed_body(document), as_json=as_json)


def _read_body(file: str, *, limit: int) -> bytes:
    """Return the bytes of a file or of stdin, if they can be a body."""
    name = "stdin" if file == STDIN else file
    # One byte more than allowed, to notice a larger body without reading all of it.
    try:
        if file == STDIN:
            body = sys.stdin.buffer.read(limit + 1)
        else:
            with Path(file).open("rb") as stream:
                body = stream.read(limit + 1)
    except OSError as error:
        exit_with_input_error(
            f"{name} cannot be read: {error.strerror or type(error).__name__}",
            hint="give the file of one body, or - for stdin",
        )
    if len(body) > limit:
        exit_with_input_error(
            f"{name} has more than {limit:,} bytes", hint="no body of the platform is that large"
        )
    # A compressed body or a picture would be reported as an unknown shape.
    packed = next((kind for start, kind in _PACKED.items() if body.startswith(start)), None)
    if packed or b"\0" in body:
        exit_with_input_error(
            f"{name} is {packed or 'binary'}, not a text such as HTML or JSON",
            hint="give the body as it was after unpacking",
        )
    return body.removeprefix(BOM_UTF8)  # an editor may have put it there


def _print_parsed_body(document: Mapping[str, Any]) -> None:
    """Print a document of `parse_to_document`: a line per known field, or the refusal."""
    title = f"{document['surface']} of {document['entity_id']}, HTTP {document['http_status']}"
    out.print(f"[bold]{safe(title)}[/]")
    kind = f" ({document['record_type']})" if document["record_type"] else ""
    color = "green" if document["outcome"] == "records" else "yellow"
    out.print(f"[{color}]{safe(document['outcome'])}[/]{safe(kind)}")
    refusal = document["refusal"]
    if refusal is not None:
        for key in ("name", "type", "detail", "reason", "sign", "hint"):
            if refusal[key]:
                out.print(f"  {key:<8} {safe(refusal[key], limit=VALUE_LIMIT)}", soft_wrap=True)
        out.print(f"  policy   {safe(', '.join(refusal['policy']))}")
    fields = list(_fields(document["record"], ""))
    for path, value in fields[:FIELDS_SHOWN]:
        out.print(f"  [dim]{safe(path)}[/] {safe(value, limit=VALUE_LIMIT)}", soft_wrap=True)
    if len(fields) > FIELDS_SHOWN:
        out.print(f"  … {len(fields) - FIELDS_SHOWN:,} more fields: --json prints all")


def _fields(value: object, path: str) -> Iterator[tuple[str, object]]:
    """Yield each known value with its path, for example `author.nickname`; skip null."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _fields(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _fields(item, f"{path}[{number}]")
    elif value is not None:
        yield path, value
