"""Every parameter of the interface: name, place, type, default, limits, as the description has it.

The table is written from the interface, not from the code: a wrong default fails here.
"""

from dataclasses import dataclass
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.contract.operations import OPERATIONS, Operation, operation
from tests.scan.rules.test_scan_parameters import INTERFACE

NOT_GIVEN = object()


@dataclass(frozen=True)
class Parameter:
    """One line of the interface. `default` NOT_GIVEN: it is required."""

    name: str
    type: str
    default: Any = None
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()


TYPES = {int: "integer", float: "number", str: "string", bool: "boolean"}
SCAN = tuple(
    Parameter(name, TYPES[kind], default, low, high, choices)
    for name, kind, default, low, high, choices, _ in INTERFACE
)
USER = Parameter("sec_user_id", "string", NOT_GIVEN)
TRACK = (Parameter("music_id", "string"), Parameter("url", "string"))
WORDS = Parameter("search_keywords", "string")
BODY_WORDS = Parameter("search_keywords", "string", [])
SEARCH = (
    Parameter("keyword", "string", NOT_GIVEN),
    Parameter("cursor", "integer", 0),
    Parameter("search_id", "string", ""),
)
JOB = (Parameter("job_id", "string", NOT_GIVEN),)
TABLE: dict[str, tuple[Parameter, ...]] = {
    "1 GET": (Parameter("url", "string", NOT_GIVEN),),
    "2 GET": (USER,),
    "3 GET": (
        USER,
        Parameter("max_cursor", "integer", 0),
        Parameter("count", "integer", 20, 1, 20),
        Parameter("sort_type", "integer", 0, 0, 1),
    ),
    "4 GET": (
        USER,
        Parameter("days", "integer", 10, 1, 365),
        Parameter("count", "integer", 20, 1, 20),
    ),
    "5 GET": (*TRACK, *SCAN, WORDS),
    "6 POST": (Parameter("inputs", "array", NOT_GIVEN, 1, 10), *SCAN, BODY_WORDS),
    "7 POST": (
        Parameter("input", "string"),
        *TRACK,
        Parameter("keyword", "string"),
        Parameter("search_only", "boolean", default=False),
        *SCAN,
        BODY_WORDS,
    ),
    "8 GET": JOB,
    "8 DELETE": JOB,
    "9 GET": (
        *TRACK,
        Parameter("author_limit", "integer", 5, 1, 10),
        Parameter("candidate_limit", "integer", 20, 1, 30),
        Parameter("match_threshold", "number", 0.65, 0, 1),
        Parameter("verify_audio", "boolean", default=True),
        Parameter("viral_threshold", "integer", 10000, 0),
    ),
    "10 POST": (Parameter("", "array", NOT_GIVEN, 1, 50),),
    "11 POST": (Parameter("", "array", NOT_GIVEN, 1, 10),),
    "12 GET": (
        Parameter("music_id", "string", NOT_GIVEN),
        Parameter("cursor", "integer", 0, 0),
        Parameter("count", "integer", 10, 1, 20),
        Parameter("refresh", "boolean", default=False),
    ),
    "13 GET": (
        Parameter("ch_id", "string", NOT_GIVEN),
        Parameter("cursor", "integer", 0, 0),
        Parameter("sort_type", "integer", 0, 0, 2),
        Parameter("count", "integer", 10, 1, 15),
        Parameter("refresh", "boolean", default=False),
    ),
    "14 POST": SEARCH,
    "15 POST": (
        *SEARCH,
        Parameter("backtrace", "string", ""),
        *(
            Parameter(name, "string", "0")
            for name in ("sort_type", "publish_time", "filter_duration", "content_type")
        ),
    ),
    "16 GET": (
        Parameter("start_date", "string", NOT_GIVEN),
        Parameter("end_date", "string", NOT_GIVEN),
        Parameter("interval_days", "integer", 10, 10, 10),
        Parameter("limit", "integer", 20, 20, 20),
    ),
}
UNBOUNDED = 2**53 - 1
"""The limit of whole numbers that the interface leaves open: what every reader keeps exact."""


@pytest.fixture(scope="module")
def description(shared_service: Any) -> Any:
    client: TestClient = shared_service.client()
    return client.get("/openapi.json").json()


def described(description: Any, one: Operation) -> dict[str, tuple[Any, bool]]:
    """Schema and whether it is required, by name; the body that is a list has no name."""
    document = description["paths"][one.path][one.method.lower()]
    found = {entry["name"]: (entry["schema"], entry["required"]) for entry in parameters(document)}
    body = (
        document.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    )
    if body is None:
        return found
    if "$ref" in body:
        body = description["components"]["schemas"][body["$ref"].rsplit("/", 1)[1]]
    if body["type"] == "array":
        return {**found, "": (body, document["requestBody"]["required"])}
    required = body.get("required", [])
    return found | {name: (schema, name in required) for name, schema in body["properties"].items()}


def parameters(document: Any) -> list[Any]:
    """Those of query and path; conditional reading by If-None-Match is no parameter of theirs."""
    return [entry for entry in document.get("parameters", []) if entry["in"] in {"query", "path"}]


def plain(schema: Any) -> Any:
    """A schema without the null that stands for "not given"."""
    kinds = [kind for kind in schema.get("anyOf", []) if kind.get("type") != "null"]
    return {**schema, **kinds[0]} if kinds else schema


ROWS = [
    (operation(name.split()[0], name.split()[1]), row)
    for name, rows in TABLE.items()
    for row in rows
]


def test_every_parameter_is_as_the_interface_has_it(
    description: Any, subtests: pytest.Subtests
) -> None:
    for one, row in ROWS:
        with subtests.test(f"{one} {row.name}"):
            check_parameter(*described(description, one)[row.name], row)


def check_parameter(schema: Any, is_required: bool, row: Parameter) -> None:
    kind = plain(schema)
    assert is_required is (row.default is NOT_GIVEN)
    assert kind["type"] == row.type
    assert schema.get("default") == (None if row.default is NOT_GIVEN else row.default)
    low, high = ("minItems", "maxItems") if row.type == "array" else ("minimum", "maximum")
    if row.low is not None:
        assert kind[low] == row.low
    assert kind.get(high, row.high) in {row.high, UNBOUNDED if row.high is None else row.high}
    assert kind.get("enum", []) == list(row.choices)


def test_operations_have_no_undocumented_parameters(description: Any) -> None:
    found = {f"{one.number} {one.method}": set(described(description, one)) for one in OPERATIONS}
    assert found == {name: {row.name for row in rows} for name, rows in TABLE.items()}


def test_keywords_of_a_body_are_text_or_a_list_of_eight(description: Any) -> None:
    for number in ("6", "7"):
        schema, _ = described(description, operation(number))["search_keywords"]
        assert [kind["type"] for kind in schema["anyOf"]] == ["string", "array"]
        assert schema["anyOf"][1]["maxItems"] == 8


def test_ids_have_five_to_thirty_digits(description: Any) -> None:
    for number, name in (("12", "music_id"), ("13", "ch_id")):
        schema, _ = described(description, operation(number))[name]
        assert "{5,30}" in schema["pattern"]
    for number in ("10", "11"):
        schema, _ = described(description, operation(number))[""]
        assert "{5,30}" in schema["items"]["pattern"]
