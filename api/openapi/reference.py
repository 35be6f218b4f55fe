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
from api.params.fields import MAX_SAFE_INTEGER
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
    InterfaceOperation(str(operation.number), operation.id, operation.method, operation.path)
    for operation in sorted(OPERATIONS, key=lambda operation: operation.number or 0)
    if operation.number is not None
)
_BY_ADDRESS = {(operation.method, operation.path): operation for operation in INTERFACE}


def build_reference(document: OpenApiDocument) -> OpenApiDocument:
    """Build the reference of all operations and errors of an API description.

    Args:
        document: The API description as built by `api.openapi.description`.

    Returns:
        `operations`: those of the interface by number, then the extensions; `errors`.
    """
    operations = [
        _operation(document, path, method.upper(), described)
        for path, methods in document["paths"].items()
        for method, described in methods.items()
    ]
    # Operations without a number are extensions; they keep the order of the description.
    operations.sort(key=lambda operation: int(operation["number"] or len(INTERFACE) + 1))
    return {"operations": operations, "errors": build_errors()}


def build_errors() -> list[OpenApiDocument]:
    """Return every error type with status, message and hint, in both languages."""
    return [
        {
            "type": name,
            "status": spec.status,
            "message": spec.message,
            "message_zh": spec.message_zh,
            "hint": spec.hint,
            "hint_zh": HINTS_ZH[name],
        }
        for name, spec in ERROR_SPECS.items()
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


def _operation(
    document: OpenApiDocument, path: str, method: str, described: OpenApiDocument
) -> OpenApiDocument:
    listed = _BY_ADDRESS.get((method, path))
    parameters = list(_parameters(document, described))
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
        # The description of a response names the error types that have its status.
        "statuses": {
            status: [name for name in ERROR_SPECS if f"`{name}`" in response["description"]]
            for status, response in described["responses"].items()
        },
        "example": _example(path, described, parameters),
    }


def _parameters(document: OpenApiDocument, described: OpenApiDocument) -> Iterator[OpenApiDocument]:
    """Yield the parameters of a request, then the fields of its body."""
    for parameter in described.get("parameters", []):
        if parameter["in"] in _LOCATIONS:
            field = {**parameter["schema"], **parameter}
            yield _parameter(
                parameter["name"], parameter["in"], field, is_required=parameter.get("required")
            )
    body = described.get("requestBody")
    if body is None:
        return
    schema = _resolve(document, body["content"]["application/json"]["schema"])
    if schema.get("type") != "object":
        # A body without fields, such as an array of ids, is one parameter; its own description is
        # more precise than that of its type.
        texts = {key: body[key] for key in ("description", ZH) if key in body}
        yield _parameter("body", "body", {**schema, **texts}, is_required=True)
        return
    required = schema.get("required", [])
    for name, field in schema["properties"].items():
        yield _parameter(name, "body", _resolve(document, field), is_required=name in required)


def _resolve(document: OpenApiDocument, schema: OpenApiDocument) -> OpenApiDocument:
    """Return the schema that a reference names, with what stands beside the reference."""
    if "$ref" not in schema:
        return schema
    name = schema["$ref"].rpartition("/")[2]
    target: OpenApiDocument = document["components"]["schemas"][name]
    return {**target, **{key: value for key, value in schema.items() if key != "$ref"}}


def _parameter(
    name: str, location: str, field: OpenApiDocument, *, is_required: object
) -> OpenApiDocument:
    meaning = split_languages(field.get("description"))
    # A field that may be null lists its types; with several of them no limit holds for all.
    kinds = [kind for kind in field.get("anyOf", [field]) if kind.get("type") != "null"]
    limits = kinds[0] if len(kinds) == 1 else {}
    maximum = _number(limits, "maximum")
    return {
        "name": name,
        "in": location,
        "type": " or ".join(_kind(kind) for kind in kinds),
        "required": bool(is_required),
        "default": field.get("default"),
        "default_from": field.get(DEFAULT_FROM),
        "minimum": _number(limits, "minimum"),
        # The description has this maximum where the interface has none.
        "maximum": None if maximum == MAX_SAFE_INTEGER else maximum,
        "min_items": limits.get("minItems"),
        "max_items": limits.get("maxItems"),
        "pattern": limits.get("pattern") or limits.get("items", {}).get("pattern"),
        "format": limits.get("format"),
        "allowed": limits.get("enum"),
        "meaning": meaning.en.rstrip("."),
        "meaning_zh": (field.get(ZH) or meaning.zh).rstrip(".。"),
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
    """Return a complete example request: path and query filled in, and the body.

    None if the description lacks an example of the body or of a required parameter.
    """
    values = {
        parameter["name"]: parameter["example"]
        for parameter in described.get("parameters", [])
        if "example" in parameter
    }
    body = described.get("requestBody", {}).get("content", {}).get("application/json", {})
    if "requestBody" in described and "example" not in body:
        return None
    locations = {parameter["name"]: parameter["in"] for parameter in parameters}
    required = {parameter["name"] for parameter in parameters if parameter["required"]}
    if any(locations[name] != "body" for name in required - values.keys()):
        return None
    query = {name: value for name, value in values.items() if locations[name] == "query"}
    for name, value in values.items():
        path = path.replace(f"{{{name}}}", quote(str(value), safe=""))
    url = f"{path}?{urlencode(query)}" if query else path

    # A binary response is saved to a file: `picture.svg` names itself, an excerpt needs a suffix.
    kind = next(iter(described["responses"].get(_SUCCESS, {}).get("content", {})), "")
    file = path.rpartition("/")[2] if kind.startswith(_BINARY) else None
    if file is not None and "." not in file:
        file = f"{file}{guess_extension(kind)}"
    return {"url": url, "body": body.get("example"), "file": file}
