"""Writes the response types of the client from the API description.

Only schemas reachable from the `data` of the client's operations.
"""

from api.client.operations import OPERATIONS
from api.generate.argument_types import to_type
from api.openapi.reference import OpenApiDocument

type JsonSchema = OpenApiDocument

_REF = "#/components/schemas/"


def render_types(document: JsonSchema) -> str:
    """Render the schemas by name, then the `data` of each operation."""
    schemas: JsonSchema = document["components"]["schemas"]
    data_types: dict[str, JsonSchema] = {}
    reached: dict[str, None] = {}
    for operation in OPERATIONS:
        module, _, name = operation.data_type.rpartition(".")
        if not module:  # a type of Python itself
            continue
        # The `data` of every successful response, that of a started job included.
        responses = document["paths"][operation.path][operation.method.lower()]["responses"]
        alternatives = []
        for status, response in responses.items():
            schema = response.get("content", {}).get("application/json", {}).get("schema", {})
            if status < "300" and "$ref" in schema:
                alternatives.append(schemas[_name(schema)]["properties"]["data"])
        data_type = {"anyOf": alternatives}
        _collect(data_type, schemas, reached)
        data_types.setdefault(name, data_type)

    # The declarations: schemas by name, then the `data` of each operation
    declarations = []
    for name in sorted(reached):
        schema = schemas[name]
        if "properties" not in schema:  # an alias that the description names: an enumeration
            declarations.append(f"type {name} = {to_type(schema)}")
            continue
        # The functional form, because a field may have the name of a keyword.
        lines = [f'{name} = TypedDict("{name}", {{']
        for field, field_schema in schema["properties"].items():
            field_type = to_type(field_schema)
            if field not in schema["required"]:
                field_type = f"NotRequired[{field_type}]"
            lines.append(f'    "{field}": {field_type!r},')
        declarations.append("\n".join([*lines, "})"]))
    declarations += [f"type {name} = {to_type(schema)}" for name, schema in data_types.items()]
    return "".join(f"\n{declaration}\n" for declaration in declarations)


def _collect(schema: JsonSchema, schemas: JsonSchema, reached: dict[str, None]) -> None:
    """Add the names of all schemas that a schema refers to, directly or through others."""
    if "$ref" in schema:
        name = _name(schema)
        if name not in reached:
            reached[name] = None
            _collect(schemas[name], schemas, reached)
    parts = [*schema.get("anyOf", []), *schema.get("properties", {}).values()]
    parts += [schema[key] for key in ("items", "additionalProperties") if key in schema]
    for part in parts:
        if isinstance(part, dict):  # `additionalProperties` may be a boolean
            _collect(part, schemas, reached)


def _name(schema: JsonSchema) -> str:
    return str(schema["$ref"]).removeprefix(_REF)
