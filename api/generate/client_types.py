"""Generates the client's response types from the API description.

Only schemas reachable from the `data` of the client's operations. The output is packed because
nobody edits it.
"""

import re
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from api.openapi.reference import operation_name

type JsonSchema = dict[str, Any]

DATA_NAMES: Mapping[str, str] = {
    "get_sec_user_id": "SecUserIdData",
    "handler_user_profile": "UserProfileData",
    "fetch_user_post_videos": "UserPostsData",
    "fetch_user_metrics": "UserMetricsData",
    "fetch_music_hot_videos": "HotVideosData",
    "fetch_music_hot_videos_batch": "BatchData",
    "music_collection_jobs": "JobData",
    "discover_music_related_videos": "RelatedVideosData",
    "fetch_multi_video_web": "VideosData",
    "fetch_music_video_list": "MusicVideosData",
    "fetch_hashtag_video_list": "HashtagVideosData",
    "chart_history": "ChartHistoryData",
    "sametrack_jobs": "JobListData",
}
"""Operations and the name of their `data` type; operations with equal `data` share a name."""
EXTENSION_DATA_NAMES: Mapping[str, str] = {
    "sametrack_watchlists": "WatchlistsData",
    "sametrack_watchlist": "WatchlistData",
    "sametrack_watchlist_delete": "WatchlistDeletedData",
    "sametrack_watchlist_runs": "WatchRunsData",
    "sametrack_watchlist_run_of": "WatchRunData",
    "sametrack_watchlist_digests": "WatchDigestsData",
    "sametrack_chart_song": "ChartSongData",
    "sametrack_chart_links": "ChartLinksData",
    "sametrack_comparison": "ComparisonData",
    "sametrack_job_comparisons": "ComparisonsData",
    "sametrack_job_reads": "JobReadsData",
    "sametrack_annotations": "AnnotationsData",
    "sametrack_series": "SeriesData",
    "sametrack_storage": "StorageData",
    "sametrack_doctor": "DoctorData",
    "sametrack_reference": "ReferenceData",
}
"""The same for extension operations, whose types have their own module."""

_HEAD = '''\
"""Response types{of}, generated from the API description.

Written by `make docs`. Unknown values are None. Ids are text. A name that ends in `Data` is the
`data` of a response.
"""

# ruff: noqa: {rules} -- packed: generated file
# fmt: off
from typing import Any, Literal, TypedDict

'''
_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
_WIDTH = 100
_NON_BREAKING = "\x1f"  # a space at which lines are not wrapped
_REF = "#/components/schemas/"


def render_types(document: JsonSchema) -> str:
    """Render the types of the interface's responses, sorted by name."""
    return _render("", document, DATA_NAMES)


def render_extension_types(document: JsonSchema) -> str:
    """Render the types of extension responses; types of the interface are imported."""
    return _render(" of the extension operations", document, EXTENSION_DATA_NAMES, known=DATA_NAMES)


def _render(
    of: str, document: JsonSchema, names: Mapping[str, str], known: Mapping[str, str] | None = None
) -> str:
    schemas: JsonSchema = document["components"]["schemas"]
    elsewhere = _needed(document, known or {})
    made = [
        _typed_dict(name, schemas[name]) for name in sorted(_needed(document, names) - elsewhere)
    ]
    made += [f"type {name} = {_type(_data_of(document, one))}" for one, name in names.items()]
    used = [name for name in sorted(elsewhere) if re.search(rf"\b{name}\b", "\n".join(made))]
    imports = [f"from .answers import {', '.join(used)}\n"] if used else []
    text = "\n".join([*imports, *made]) + "\n"
    is_wide = any(
        len(line) > _WIDTH for line in text.splitlines()
    )  # a long list of literals cannot be wrapped
    return _HEAD.format(of=of, rules="UP013, E501" if is_wide else "UP013") + text


def _needed(document: JsonSchema, names: Mapping[str, str]) -> set[str]:
    found: dict[str, None] = {}
    for operation in names:
        _reach(_data_of(document, operation), document["components"]["schemas"], found)
    return set(found)


def _data_of(document: JsonSchema, name: str) -> JsonSchema:
    """Return the schema of `data` in successful responses; any value where it is not described."""
    for path, methods in document["paths"].items():
        for method, described in methods.items():
            if operation_name(method.upper(), path, described["operationId"]) == name:
                return {"anyOf": list(_successes(document, described["responses"]))}
    raise KeyError(name)


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


def _typed_dict(name: str, schema: JsonSchema) -> str:
    fields = ", ".join(
        f'"{field}":{_NON_BREAKING}{_quoted_type(_type(kind))}'
        for field, kind in schema["properties"].items()
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
        return " | ".join(kinds) or "dict[str, Any]"
    if "enum" in schema or "const" in schema:
        values = schema.get("enum", [schema.get("const")])
        return f"Literal[{', '.join(_literal(value) for value in values)}]"
    if schema.get("type") == "array":
        return f"list[{_type(schema.get('items', {}))}]"
    if schema.get("type") == "object":
        more = schema.get("additionalProperties")
        return f"dict[str, {_type(more if isinstance(more, dict) else {})}]"
    return _TYPES.get(str(schema.get("type")), "Any")


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
