"""Generates the client's response types from the API description.

Only schemas reachable from the `data` of the client's operations. The output is packed because
nobody edits it.
"""

import re
import textwrap
from collections.abc import Iterator, Mapping
from typing import get_args

from api.client.operations import OPERATIONS
from api.openapi.reference import OpenApiDocument
from api.params.annotations import ANNOTATION_VERDICTS
from pipelines.parameters.scan import SORT_ORDERS
from pipelines.reads.series import SeriesKind
from warehouse.control.notes import NOTE_KINDS
from warehouse.records.charts import SongLinkChoice
from warehouse.records.jobs import JobStatus

type JsonSchema = OpenApiDocument

ENUMERATIONS: Mapping[str, tuple[str, ...]] = {
    "AnnotationVerdict": ANNOTATION_VERDICTS,
    "ChartLinkDecision": get_args(SongLinkChoice),
    "JobStatus": get_args(JobStatus),
    "NoteKind": NOTE_KINDS,
    "SeriesKind": get_args(SeriesKind),
    "SortBy": SORT_ORDERS,
}
"""Enumerations of arguments, by the name that users of the client know them by."""
INTERFACE_TYPES, EXTENSION_TYPES = "answers", "extensions"
_HEAD = '''\
"""Response types{of}, generated from the API description.

Written by `make docs`. Unknown values are None. Ids are text. A name that ends in `Data` is the
`data` of a response.
"""

# ruff: noqa: {rules} -- packed: generated file
# fmt: off
'''
_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
_WIDTH = 100
_NON_BREAKING = "\x1f"  # a space at which lines are not wrapped
_REF = "#/components/schemas/"


def render_types(document: JsonSchema) -> str:
    """Render the types of the interface's responses, sorted by name."""
    return _render("", document, _data_types(document, INTERFACE_TYPES), known={})


def render_extension_types(document: JsonSchema) -> str:
    """Render the types of extension responses; types of the interface are imported."""
    known = _data_types(document, INTERFACE_TYPES)
    names = _data_types(document, EXTENSION_TYPES)
    return _render(" of the extension operations", document, names, known)


def render_enumerations() -> str:
    """Render the enumerations of arguments."""
    head = (
        '"""Enumerations of arguments, written by `make docs`."""\n\nfrom typing import Literal\n\n'
    )
    return head + "".join(
        f"{name} = Literal[{', '.join(_literal(value) for value in values)}]\n"
        for name, values in ENUMERATIONS.items()
    )


def _data_types(document: JsonSchema, module: str) -> dict[str, JsonSchema]:
    """Return the declared names of `data` in a module with their schemas; the first one counts."""
    found: dict[str, JsonSchema] = {}
    for one in OPERATIONS:
        if one.data_module == module:
            described = document["paths"][one.path][one.method.lower()]
            schema = {"anyOf": list(_successes(document, described["responses"]))}
            found.setdefault(one.data_name, schema)
    return found


def _render(
    of: str,
    document: JsonSchema,
    names: Mapping[str, JsonSchema],
    known: Mapping[str, JsonSchema],
) -> str:
    schemas: JsonSchema = document["components"]["schemas"]
    elsewhere = _needed(schemas, known)
    made = [
        _declaration(name, schemas[name]) for name in sorted(_needed(schemas, names) - elsewhere)
    ]
    made += [f"type {name} = {_type(schema)}" for name, schema in names.items()]
    text = "\n".join(made) + "\n"
    used = [name for name in sorted(elsewhere) if re.search(rf"\b{name}\b", text)]
    typing = [name for name in ("Literal", "NotRequired", "TypedDict") if name in text]
    imports = f"from typing import {', '.join(typing)}\n\n"
    imports += f"from .answers import {', '.join(used)}\n\n" if used else ""
    is_wide = any(
        len(line) > _WIDTH for line in text.splitlines()
    )  # a long list of literals cannot be wrapped
    head = _HEAD.format(of=of, rules="UP013, E501" if is_wide else "UP013")
    return head + imports + text


def _needed(schemas: JsonSchema, names: Mapping[str, JsonSchema]) -> set[str]:
    found: dict[str, None] = {}
    for schema in names.values():
        _reach(schema, schemas, found)
    return set(found)


def _successes(document: JsonSchema, responses: JsonSchema) -> Iterator[JsonSchema]:
    schemas = document["components"]["schemas"]
    for status, response in responses.items():
        schema = response.get("content", {}).get("application/json", {}).get("schema", {})
        if status < "300" and "$ref" in schema:
            yield schemas[_name(schema)]["properties"]["data"]


def _reach(schema: JsonSchema, schemas: JsonSchema, needed: dict[str, None]) -> None:
    if "$ref" in schema:
        name = _name(schema)
        if name not in needed:
            needed[name] = None
            _reach(schemas[name], schemas, needed)
    for part in _parts(schema):
        _reach(part, schemas, needed)


def _parts(schema: JsonSchema) -> Iterator[JsonSchema]:
    yield from schema.get("anyOf", [])
    yield from schema.get("properties", {}).values()
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield schema[key]


def _declaration(name: str, schema: JsonSchema) -> str:
    if "properties" not in schema:  # an alias that the description names, such as an enumeration
        return f"type {name} = {_type(schema)}"
    types = {
        field: _type(kind) if field in schema["required"] else f"NotRequired[{_type(kind)}]"
        for field, kind in schema["properties"].items()
    }
    fields = ", ".join(
        f'"{field}":{_NON_BREAKING}{_quoted_type(kind)}' for field, kind in types.items()
    )
    return _wrapped(f'{name} = TypedDict("{name}", {{{fields}}})')


def _quoted_type(kind: str) -> str:
    """Quote a type, because it may be defined later in the file; the text must not be wrapped."""
    kind = kind.replace(" ", _NON_BREAKING)
    return f'"{kind}"' if '"' not in kind else f"'{kind}'"


def _type(schema: JsonSchema) -> str:
    if "$ref" in schema:
        return _name(schema)
    if "anyOf" in schema:
        kinds = dict.fromkeys(_type(part) for part in schema["anyOf"])
        return " | ".join(kinds) or "dict[str, object]"
    if "enum" in schema or "const" in schema:
        values = schema.get("enum", [schema.get("const")])
        return f"Literal[{', '.join(_literal(value) for value in values)}]"
    if schema.get("type") == "array":
        return f"list[{_type(schema.get('items', {}))}]"
    if schema.get("type") == "object":
        more = schema.get("additionalProperties")
        return f"dict[str, {_type(more if isinstance(more, dict) else {})}]"
    return _TYPES.get(str(schema.get("type")), "object")


def _literal(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _name(schema: JsonSchema) -> str:
    return str(schema["$ref"]).removeprefix(_REF)


def _wrapped(text: str) -> str:
    """Wrap at the line width and indent continuation lines."""
    lines = textwrap.wrap(
        text, _WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(lines).replace(_NON_BREAKING, " ")
