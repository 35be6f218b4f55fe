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
    "unauthorized", "role_required", "cross_site_request", "host_not_allowed", "local_rate_limit",
    "internal_error",
)  # fmt: skip
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
        (one["number"], f"`{one['method']} {one['path']}`", one["summary"])
        for one in build_reference(document)["operations"]
        if one["number"]
    ]
    return _table(("#", "Operation", "Purpose"), rows)


def _render(reference: ReferenceEntry, words: ReferenceTexts) -> str:
    listed = [one for one in reference["operations"] if one["number"]]
    own = [one for one in reference["operations"] if not one["number"]]
    parts = [words.opening, words.operations]
    parts += [_operation(one, words) for one in listed]
    parts += [words.own, *(_operation(one, words) for one in own)]
    parts += [words.errors, _errors(reference["errors"], words)]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _operation(one: ReferenceEntry, words: ReferenceTexts) -> str:
    number = f"{one['number']}. " if one["number"] else ""
    said = one[f"description{words.suffix}"].strip()
    parts = [
        f"### {number}{one[f'summary{words.suffix}']}",
        f"`{one['method']} {one['path']}`",
        said,
        _parameters(one["parameters"], words),
        _failures(one["statuses"], words),
        _example(one, words),
    ]
    return "\n\n".join(part for part in parts if part)


def _parameters(parameters: Sequence[ReferenceEntry], words: ReferenceTexts) -> str:
    if not parameters:
        return words.no_parameters
    rows = [
        (
            f"`{one['name']}`",
            one["in"],
            one["type"],
            words.yes if one["required"] else "",
            _default(one, words),
            limits_of(one, words),
            one[f"meaning{words.suffix}"],
        )
        for one in parameters
    ]
    return _table(words.columns, rows)


def _default(one: ReferenceEntry, words: ReferenceTexts) -> str:
    if one["default_from"]:
        return words.default_from.format(one["default_from"])
    if one["default"] in (None, [], ""):
        return ""
    default = one["default"]
    return f"`{default if isinstance(default, str) else json.dumps(default)}`"


def limits_of(one: ReferenceEntry, words: ReferenceTexts) -> str:
    """Describe the allowed values of a parameter."""
    if one["allowed"]:
        return ", ".join(f"`{value}`" for value in one["allowed"])
    found = [_span(one["minimum"], one["maximum"], words)]
    items = _span(one["min_items"], one["max_items"], words)
    found += [words.items.format(items)] if items else []
    found += [words.digits.format(one["pattern"])] if one["pattern"] else []
    return "; ".join(part for part in found if part)


def _span(least: float | None, most: float | None, words: ReferenceTexts) -> str:
    if least is None and most is None:
        return ""
    if least == most:
        return f"{least:g}"
    return (
        words.least.format(f"{least:g}")
        if most is None
        else words.span.format(f"{least or 0:g}", f"{most:g}")
    )


def _failures(statuses: ReferenceEntry, words: ReferenceTexts) -> str:
    told = [
        f"{status} {', '.join(f'`{name}`' for name in _shortened(names))}"
        for status, names in statuses.items()
        if names and status not in _COMMON_STATUSES
    ]
    return f"{words.answers}: {'; '.join(told)}{words.full_stop}" if told else ""


def _shortened(names: Sequence[str]) -> list[str]:
    """Abbreviate a complete list of upstream errors to `upstream_*`."""
    if not set(names) >= _UPSTREAM:
        return list(names)
    return ["upstream_*", *(name for name in names if name not in _UPSTREAM)]


def _example(one: ReferenceEntry, words: ReferenceTexts) -> str:
    example = one["example"]
    if example is None:
        return ""
    return f"{words.example}:\n\n```sh\n{to_curl(one['method'], example)}\n```"


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


def _errors(errors: Sequence[ReferenceEntry], words: ReferenceTexts) -> str:
    rows = [
        (
            str(one["status"]),
            f"`{one['type']}`",
            one[f"message{words.suffix}"],
            one[f"hint{words.suffix}"],
        )
        for one in errors
    ]
    return _table(words.error_columns, rows)


def _table(columns: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    head = list(columns)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
