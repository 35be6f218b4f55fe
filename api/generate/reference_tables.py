"""Renders the reference as Markdown in English and Chinese: operations, parameters, errors.

Facts come from `api/openapi/reference.py`; only headings are added here.
"""

import json
import shlex
from collections.abc import Iterable, Sequence

from api.generate.texts import CHINESE, ENGLISH, ReferenceTexts
from api.openapi.reference import OpenApiDocument, build_reference
from api.responses.errors import ERROR_SPECS
from api.schemas.responses import UPSTREAM_ERRORS

type ReferenceEntry = OpenApiDocument
BASE = "localhost:8780"


_UPSTREAM = {
    name
    for name in UPSTREAM_ERRORS
    if ERROR_SPECS[name].status == ERROR_SPECS["upstream_empty"].status
}
_COMMON_ERRORS = (
    "unauthorized",
    "role_required",
    "cross_site_request",
    "host_not_allowed",
    "local_rate_limit",
    "internal_error",
)
_COMMON_STATUSES = {str(ERROR_SPECS[name].status) for name in _COMMON_ERRORS}


def render_english(document: OpenApiDocument) -> str:
    """Render `docs/api.md`."""
    return _render(build_reference(document), ENGLISH)


def render_chinese(document: OpenApiDocument) -> str:
    """Render `docs/api.zh.md`."""
    return _render(build_reference(document), CHINESE)


def render_overview(document: OpenApiDocument) -> str:
    """Render one line per operation of the interface, for the README."""
    rows = [
        (operation["number"], f"`{operation['method']} {operation['path']}`", operation["summary"])
        for operation in build_reference(document)["operations"]
        if operation["number"]
    ]
    return _table(("#", "Operation", "Purpose"), rows)


def _render(reference: ReferenceEntry, texts: ReferenceTexts) -> str:
    """Render the operations of the interface, our own ones, and the table of errors."""
    interface = [operation for operation in reference["operations"] if operation["number"]]
    own = [operation for operation in reference["operations"] if not operation["number"]]
    errors = [
        (
            str(error["status"]),
            f"`{error['type']}`",
            error[f"message{texts.suffix}"],
            error[f"hint{texts.suffix}"],
        )
        for error in reference["errors"]
    ]
    parts = [texts.opening, texts.operations]
    parts += [_operation(operation, texts) for operation in interface]
    parts += [texts.own, *(_operation(operation, texts) for operation in own)]
    parts += [texts.errors, _table(texts.error_columns, errors)]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _operation(operation: ReferenceEntry, texts: ReferenceTexts) -> str:
    """Render an operation: its parameters, its own errors and its example."""
    number = f"{operation['number']}. " if operation["number"] else ""
    parts = [
        f"### {number}{operation[f'summary{texts.suffix}']}",
        f"`{operation['method']} {operation['path']}`",
        operation[f"description{texts.suffix}"].strip(),
    ]
    rows = []
    for parameter in operation["parameters"]:
        default = parameter["default"]
        if parameter["default_from"]:
            default = texts.default_from.format(parameter["default_from"])
        elif default in (None, [], ""):
            default = ""
        else:
            default = f"`{default if isinstance(default, str) else json.dumps(default)}`"
        rows.append(
            (
                f"`{parameter['name']}`",
                parameter["in"],
                parameter["type"],
                texts.yes if parameter["required"] else "",
                default,
                limits_of(parameter, texts),
                parameter[f"meaning{texts.suffix}"],
            )
        )
    parts.append(_table(texts.columns, rows) if rows else texts.no_parameters)
    # Errors that every operation may return are in the introduction.
    failures = []
    for status, types in operation["statuses"].items():
        if not types or status in _COMMON_STATUSES:
            continue
        names = types
        if set(types) >= _UPSTREAM:  # all errors of the platform
            names = ["upstream_*", *(name for name in types if name not in _UPSTREAM)]
        failures.append(f"{status} {', '.join(f'`{name}`' for name in names)}")
    if failures:
        parts.append(f"{texts.answers}: {'; '.join(failures)}{texts.full_stop}")
    example = operation["example"]
    if example is not None:
        curl = to_curl(operation["method"], example)
        parts.append(f"{texts.example}:\n\n```sh\n{curl}\n```")
    return "\n\n".join(part for part in parts if part)


def limits_of(parameter: ReferenceEntry, texts: ReferenceTexts) -> str:
    """Describe the allowed values of a parameter, for example `1 to 20`."""
    if parameter["allowed"]:
        return ", ".join(f"`{value}`" for value in parameter["allowed"])
    limits = [_span(parameter["minimum"], parameter["maximum"], texts)]
    items = _span(parameter["min_items"], parameter["max_items"], texts)
    limits += [texts.items.format(items)] if items else []
    limits += [texts.digits.format(parameter["pattern"])] if parameter["pattern"] else []
    return "; ".join(limit for limit in limits if limit)


def _span(least: float | None, most: float | None, texts: ReferenceTexts) -> str:
    if least is None and most is None:
        return ""
    if least == most:
        return f"{least:g}"
    return (
        texts.least.format(f"{least:g}")
        if most is None
        else texts.span.format(f"{least or 0:g}", f"{most:g}")
    )


def to_curl(method: str, example: ReferenceEntry) -> str:
    """Return the request of an example as a curl command.

    Args:
        method: HTTP method, written only where curl would use another one.
        example: `url`, `body` and `file` as returned by `build_reference`.
    """
    body, output_name = example["body"], example["file"]
    usual = "GET" if body is None else "POST"
    named = "" if method == usual else f"-X {method} "
    call = [f"curl {named}'{BASE}{example['url']}'"]
    if body is not None:
        document = shlex.quote(json.dumps(body, ensure_ascii=False))
        call += ["-H 'Content-Type: application/json'", f"-d {document}"]
    call += [] if output_name is None else [f"-o {shlex.quote(output_name)}"]
    return " \\\n  ".join(call)


def _table(columns: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    """Render a Markdown table; a cell stays one line, whatever its text."""
    head = list(columns)
    lines = []
    for row in (head, ["---"] * len(head), *rows):
        cells = (text.replace("|", "\\|").replace("\n", " ") for text in row)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
