"""Lists what the API description promises, short enough to review: `docs/operations.txt`.

One line per operation, parameter and response, and one per schema with a hash of its shape: fields,
types, limits and defaults. Texts and examples are left out; `docs/api.md` has them.
"""

import hashlib
from collections.abc import Iterator

import orjson

from api.openapi.reference import SUMMARY_ZH, ZH, OpenApiDocument

_TEXTS = {"description", "summary", "title", "example", "examples", ZH, SUMMARY_ZH}
_HEAD = """\
# The operations of the service, their parameters and responses, and a hash of each schema.
# Written by `make docs`; `sametrack openapi` prints the whole description.
"""


def render_operation_list(document: OpenApiDocument) -> str:
    """Return the list: operations by path, then schemas by name."""
    lines: list[str] = []
    for path, methods in sorted(document["paths"].items()):
        for method, operation in sorted(methods.items()):
            lines += ["", f"{method.upper()} {path}", *_describe(operation)]
    lines += ["", "# Schemas", ""]
    schemas = document["components"]["schemas"]
    lines += [f"{name} {_hash(schema)}" for name, schema in sorted(schemas.items())]
    return _HEAD + "\n".join(lines) + "\n"


def _describe(operation: OpenApiDocument) -> Iterator[str]:
    """Yield a line per parameter, body and group of equal responses."""
    for parameter in operation.get("parameters", []):
        needed = "required" if parameter.get("required") else "optional"
        schema = _schema(parameter["schema"])
        yield f"  {parameter['in']} {parameter['name']} {needed} {schema}"
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        yield f"  body {kind} {_schema(content['schema'])}"
    # Statuses with the same response share a line.
    statuses: dict[str, list[str]] = {}
    for status, response in sorted(operation["responses"].items()):
        contents = response.get("content", {}).items()
        kinds = ", ".join(
            f"{kind} {_schema(content.get('schema', {}))}" for kind, content in contents
        )
        statuses.setdefault(kinds, []).append(status)
    for kinds, equal_statuses in statuses.items():
        yield f"  {' '.join(equal_statuses)} {kinds}".rstrip()


def _schema(schema: OpenApiDocument) -> str:
    """Return the name of a schema, or its hash if it has none."""
    return str(schema["$ref"]).rpartition("/")[2] if "$ref" in schema else _hash(schema)


def _hash(schema: OpenApiDocument) -> str:
    shape = orjson.dumps(_shape(schema, are_names=False), option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(shape).hexdigest()[:12]


def _shape(node: object, *, are_names: bool) -> object:
    """Return a schema without its texts. `are_names`: the keys are names of fields, which stay."""
    if isinstance(node, list):
        return [_shape(part, are_names=False) for part in node]
    if not isinstance(node, dict):
        return node
    return {
        key: _shape(value, are_names=key == "properties" and not are_names)
        for key, value in node.items()
        if are_names or key not in _TEXTS
    }
