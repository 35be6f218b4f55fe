"""Writes the types of the client's options from the models of the requests.

Needs no description of the service, because the service loads the client, which has these types.
"""

from collections.abc import Mapping

from pydantic import BaseModel

from api.params.catalogs import CatalogImportBody
from api.params.discovery import DiscoveryQuery
from api.params.scan import ScanBody
from api.params.watchlists import EntryBody, ThresholdsBody, WatchlistBody, WatchlistChange
from warehouse.records.values import Document

# The model of each type, and its fields that are arguments of a method instead.
ARGUMENTS: Mapping[str, tuple[type[BaseModel], tuple[str, ...]]] = {
    "RelatedOptions": (DiscoveryQuery, ("music_id", "url")),
    "ScanOptions": (ScanBody, ("search_keywords",)),
    "WatchEntryGiven": (EntryBody, ()),
    "WatchThresholdsGiven": (ThresholdsBody, ()),
    "WatchlistOptions": (WatchlistBody, ("name", "every", "entries")),
    "WatchlistChanges": (WatchlistChange, ()),
    "CatalogOptions": (CatalogImportBody, ("inputs", "rows", "first_line", "dry_run")),
}
_NAMES = {model.__name__: name for name, (model, _) in ARGUMENTS.items()}
_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}


def render_arguments() -> str:
    """Render a type per model; fields may be omitted unless all are required."""
    declarations = []
    for name, (model, others) in ARGUMENTS.items():
        schema = model.model_json_schema()
        fields = {key: field for key, field in schema["properties"].items() if key not in others}
        lines = [f'{name} = TypedDict("{name}", {{']
        for key, field in fields.items():
            # None stands for "omitted" where it is the default; elsewhere it is a value.
            parts = [
                part
                for part in field.get("anyOf", [field])
                if part.get("type") != "null" or field.get("default") is not None
            ]
            kind = to_type({"anyOf": parts}, _NAMES).replace("list[", "Sequence[")
            lines.append(f'    "{key}": {kind!r},')
        is_total = set(fields) <= set(schema.get("required", ()))
        lines.append("})" if is_total else "}, total=False)")
        declarations.append("\n".join(lines))
    return "".join(f"\n{declaration}\n" for declaration in declarations)


def to_type(schema: Document, names: Mapping[str, str] | None = None) -> str:
    """Return a schema as a type, for example `list[VideoDocument]` or `int | None`.

    Args:
        schema: A JSON Schema.
        names: Names of types by the names of schemas, where they differ.
    """
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return (names or {}).get(name, name)
    if "anyOf" in schema:
        kinds = dict.fromkeys(to_type(part, names) for part in schema["anyOf"])
        return " | ".join(kinds) or "dict[str, object]"
    if "enum" in schema or "const" in schema:
        return f"Literal{schema.get('enum', [schema.get('const')])}"
    if schema.get("type") == "array":
        return f"list[{to_type(schema.get('items', {}), names)}]"
    if schema.get("type") == "object":
        more = schema.get("additionalProperties")
        return f"dict[str, {to_type(more if isinstance(more, dict) else {}, names)}]"
    return _TYPES.get(str(schema.get("type")), "object")
