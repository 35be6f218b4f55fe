"""Writes the response types of the client from the API description.

Only schemas reachable from the `data` of the client's operations.
"""

from collections.abc import Iterator

from api.client.operations import OPERATIONS
from api.openapi.reference import OpenApiDocument

type JsonSchema = OpenApiDocument

_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
_REF = "#/components/schemas/"


def render_types(document: JsonSchema) -> str:
    """Render the schemas by name, then the `data` of each operation."""
    schemas: JsonSchema = document["components"]["schemas"]
    data_types: dict[str, JsonSchema] = {}
    reached: dict[str, None] = {}
    for one in OPERATIONS:
        module, _, name = one.data_type.rpartition(".")
        if not module:  # a type of Python itself
            continue
        described = document["paths"][one.path][one.method.lower()]
        schema = {"anyOf": list(_successes(document, described["responses"]))}
        _reach(schema, schemas, reached)
        data_types.setdefault(name, schema)
    parts = [_declaration(name, schemas[name]) for name in sorted(reached)]
    parts += [f"type {name} = {_type(schema)}" for name, schema in data_types.items()]
    return "".join(f"\n{part}\n" for part in parts)


def _successes(document: JsonSchema, responses: JsonSchema) -> Iterator[JsonSchema]:
    schemas = document["components"]["schemas"]
    for status, response in responses.items():
        schema = response.get("content", {}).get("application/json", {}).get("schema", {})
        if status < "300" and "$ref" in schema:
            yield schemas[_name(schema)]["properties"]["data"]


def _reach(schema: JsonSchema, schemas: JsonSchema, reached: dict[str, None]) -> None:
    if "$ref" in schema:
        name = _name(schema)
        if name not in reached:
            reached[name] = None
            _reach(schemas[name], schemas, reached)
    for part in _parts(schema):
        _reach(part, schemas, reached)


def _parts(schema: JsonSchema) -> Iterator[JsonSchema]:
    yield from schema.get("anyOf", [])
    yield from schema.get("properties", {}).values()
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield schema[key]


def _declaration(name: str, schema: JsonSchema) -> str:
    if "properties" not in schema:  # an alias that the description names, such as an enumeration
        return f"type {name} = {_type(schema)}"
    lines = [f'{name} = TypedDict("{name}", {{']  # a field may have the name of a key word
    for field, kind in schema["properties"].items():
        given = _type(kind) if field in schema["required"] else f"NotRequired[{_type(kind)}]"
        lines.append(f'    "{field}": {given!r},')
    return "\n".join([*lines, "})"])


def _type(schema: JsonSchema) -> str:
    if "$ref" in schema:
        return _name(schema)
    if "anyOf" in schema:
        kinds = dict.fromkeys(_type(part) for part in schema["anyOf"])
        return " | ".join(kinds) or "dict[str, object]"
    if "enum" in schema or "const" in schema:
        return f"Literal{schema.get('enum', [schema.get('const')])}"
    if schema.get("type") == "array":
        return f"list[{_type(schema.get('items', {}))}]"
    if schema.get("type") == "object":
        more = schema.get("additionalProperties")
        return f"dict[str, {_type(more if isinstance(more, dict) else {})}]"
    return _TYPES.get(str(schema.get("type")), "object")


def _name(schema: JsonSchema) -> str:
    return str(schema["$ref"]).removeprefix(_REF)
