"""Renders what `sametrack parse` makes of one body: a line per known field, or the refusal."""

from collections.abc import Iterator, Mapping
from typing import Any

from api.cli.terminal import out, safe

LINES_SHOWN = 200
VALUE_SHOWN = 160


def print_parsed_body(document: Mapping[str, Any]) -> None:
    """Print a document of `parse_to_document`."""
    asked = f"{document['surface']} of {document['entity_id']}, HTTP {document['http_status']}"
    out.print(f"[bold]{safe(asked)}[/]")
    refusal = document["refusal"]
    is_read = document["outcome"] == "records"
    kind = f" ({document['record_type']})" if document["record_type"] else ""
    color = "green" if is_read else "yellow"
    out.print(f"[{color}]{safe(document['outcome'])}[/]{safe(kind)}")
    if refusal is not None:
        for key in ("name", "type", "detail", "reason", "sign", "hint"):
            if refusal[key]:
                out.print(f"  {key:<8} {safe(refusal[key], limit=VALUE_SHOWN)}", soft_wrap=True)
        out.print(f"  policy   {safe(', '.join(refusal['policy']))}")
    lines = list(_lines(document["record"], ""))
    for path, value in lines[:LINES_SHOWN]:
        out.print(f"  [dim]{safe(path)}[/] {safe(value, limit=VALUE_SHOWN)}", soft_wrap=True)
    if len(lines) > LINES_SHOWN:
        out.print(f"  … {len(lines) - LINES_SHOWN:,} more fields: --json prints all")


def _lines(value: object, path: str) -> Iterator[tuple[str, object]]:
    """Yield each known value with its path; what is unknown (null) is left out."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _lines(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _lines(item, f"{path}[{number}]")
    elif value is not None:
        yield path, value
