"""The reference: every operation with its parameters and every error, as bilingual data.

It is derived from the API description and the error table. README, `docs/`, console and reference
page all use it. It builds data and renders nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from mimetypes import guess_extension
from urllib.parse import quote, urlencode

from api.client.operations import OPERATIONS
from api.openapi.chinese_texts import HINTS_ZH, TAGS_ZH
from api.params.scan import MAX_SAFE_INTEGER
from api.responses.errors import ERROR_SPECS, OK
from api.responses.languages import split_languages
from warehouse.records.values import Document, ReadOnlyDocument

ZH = "x-description-zh"
SUMMARY_ZH = "x-summary-zh"
DEFAULT_FROM = "x-default-from"
"""Marks a parameter whose default is the value of another parameter."""
_LOCATIONS = {"query", "path", "header"}
_SUCCESS = str(OK)
_BINARY = ("audio/", "image/png")
type OpenApiDocument = Document


@dataclass(frozen=True, slots=True)
class InterfaceOperation:
    """An operation of the interface: its number there and its short name for clients."""

    number: str
    id: str
    method: str
    path: str


INTERFACE = tuple(
    InterfaceOperation(str(one.number), one.id, one.method, one.path)
    for one in sorted(OPERATIONS, key=lambda one: one.number or 0)
    if one.number is not None
)
_BY_ADDRESS = {(one.method, one.path): one for one in INTERFACE}


def build_reference(document: OpenApiDocument) -> OpenApiDocument:
    """Build the reference of all operations and errors of an API description.

    Args:
        document: The API description as built by `api.openapi.description`.

    Returns:
        `operations`: those of the interface by number, then the extensions; `errors`.
    """
    found = [
        _operation(document, path, method.upper(), described)
        for path, methods in document["paths"].items()
        for method, described in methods.items()
    ]
    return {"operations": sorted(found, key=_sort_key), "errors": build_errors()}


def build_errors() -> list[OpenApiDocument]:
    """Return every error type with status, message and hint, in both languages."""
    return [
        {
            "type": name,
            "status": answer.status,
            "message": answer.message,
            "message_zh": answer.message_zh,
            "hint": answer.hint,
            "hint_zh": HINTS_ZH[name],
        }
        for name, answer in ERROR_SPECS.items()
    ]


def operation_name(method: str, path: str, operation_id: str) -> str:
    """Return the short name of an operation.

    It comes from the interface table, otherwise from the handler's name, with which the framework's
    operation id begins.
    """
    listed = _BY_ADDRESS.get((method, path))
    if listed is not None:
        return listed.id
    tail = "".join(sign if sign.isalnum() else "_" for sign in path)
    return operation_id.removesuffix(f"{tail}_{method.lower()}")


def _sort_key(operation: OpenApiDocument) -> tuple[int, int]:
    number = operation["number"]
    return (0, int(number)) if number else (1, 0)


def _operation(
    document: OpenApiDocument, path: str, method: str, described: OpenApiDocument
) -> OpenApiDocument:
    listed = _BY_ADDRESS.get((method, path))
    parameters = [*_request_parameters(described), *_body_parameters(document, described)]
    return {
        "id": operation_name(method, path, described["operationId"]),
        "number": listed.number if listed else None,
        "operation_id": described["operationId"],
        "method": method,
        "path": path,
        "tag": described["tags"][0],
        "tag_zh": TAGS_ZH.get(described["tags"][0], described["tags"][0]),
        "summary": described["summary"],
        "summary_zh": described[SUMMARY_ZH],
        "description": described["description"],
        "description_zh": described.get(ZH, ""),
        "parameters": parameters,
        "statuses": {status: _types(one) for status, one in described["responses"].items()},
        "example": _example(path, described, parameters),
    }


def _types(response: OpenApiDocument) -> list[str]:
    return [name for name in ERROR_SPECS if f"`{name}`" in response["description"]]


def _request_parameters(described: OpenApiDocument) -> Iterator[OpenApiDocument]:
    for given in described.get("parameters", []):
        if given["in"] in _LOCATIONS:
            yield _parameter(
                given["name"], given["in"], {**given["schema"], **given}, given.get("required")
            )


def _body_parameters(
    document: OpenApiDocument, described: OpenApiDocument
) -> Iterator[OpenApiDocument]:
    body = described.get("requestBody")
    if body is None:
        return
    schema = _resolved(document, body["content"]["application/json"]["schema"])
    if schema.get("type") != "object":
        yield _parameter("body", "body", {**schema, **_descriptions(schema, body)}, needed=True)
        return
    for name, field in schema["properties"].items():
        yield _parameter(
            name, "body", _resolved(document, field), name in schema.get("required", [])
        )


def _descriptions(schema: OpenApiDocument, body: OpenApiDocument) -> OpenApiDocument:
    return {key: said[key] for said in (schema, body) for key in ("description", ZH) if key in said}


def _resolved(document: OpenApiDocument, schema: OpenApiDocument) -> OpenApiDocument:
    if "$ref" not in schema:
        return schema
    name = schema["$ref"].rpartition("/")[2]
    found: OpenApiDocument = document["components"]["schemas"][name]
    return {**found, **{key: value for key, value in schema.items() if key != "$ref"}}


def _parameter(name: str, place: str, field: OpenApiDocument, needed: object) -> OpenApiDocument:
    words = split_languages(field.get("description"))
    kinds = [kind for kind in field.get("anyOf", [field]) if kind.get("type") != "null"]
    limits = kinds[0] if len(kinds) == 1 else {}
    maximum = _number(limits, "maximum")
    return {
        "name": name,
        "in": place,
        "type": " or ".join(_kind(kind) for kind in kinds),
        "required": bool(needed),
        "default": field.get("default"),
        "default_from": field.get(DEFAULT_FROM),
        "minimum": _number(limits, "minimum"),
        # what the description has where the interface has no maximum
        "maximum": None if maximum == MAX_SAFE_INTEGER else maximum,
        "min_items": limits.get("minItems"),
        "max_items": limits.get("maxItems"),
        "pattern": limits.get("pattern") or limits.get("items", {}).get("pattern"),
        "format": limits.get("format"),
        "allowed": limits.get("enum"),
        "meaning": words.en.rstrip("."),
        "meaning_zh": (field.get(ZH) or words.zh).rstrip(".。"),
    }


def _number(limits: ReadOnlyDocument, name: str) -> int | float | None:
    """Return a limit; integer limits of body fields come as floats such as `15.0`."""
    limit: int | float | None = limits.get(name)
    return int(limit) if limit is not None and limits.get("type") == "integer" else limit


def _kind(schema: ReadOnlyDocument) -> str:
    if schema.get("type") == "array":
        return f"array of {_kind(schema.get('items', {}))}"
    return str(schema.get("type", "any"))


def _example(
    path: str, described: OpenApiDocument, parameters: list[OpenApiDocument]
) -> OpenApiDocument | None:
    """Return a complete example request: path and query filled in, and the body."""
    shown = {
        one["name"]: one["example"] for one in described.get("parameters", []) if "example" in one
    }
    body = described.get("requestBody", {}).get("content", {}).get("application/json", {})
    if "requestBody" in described and "example" not in body:
        return None
    needed = [one for one in parameters if one["required"] and one["in"] != "body"]
    if any(one["name"] not in shown for one in needed):
        return None
    places = {one["name"]: one["in"] for one in parameters}
    query = {name: value for name, value in shown.items() if places[name] == "query"}
    for name, value in shown.items():
        path = path.replace(f"{{{name}}}", quote(str(value), safe=""))
    url = f"{path}?{urlencode(query)}" if query else path
    return {"url": url, "body": body.get("example"), "file": _file(path, described)}


def _file(path: str, described: OpenApiDocument) -> str | None:
    """Return the file name to save a binary response under, None for text."""
    kind = next(iter(described["responses"].get(_SUCCESS, {}).get("content", {})), "")
    if not kind.startswith(_BINARY):
        return None
    name = path.rpartition("/")[2]
    return name if "." in name else f"{name}{guess_extension(kind)}"
