"""The API description: complete, and changed on purpose only."""

import copy
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from starlette.testclient import TestClient

import api.schemas.examples
from api.generate.operation_list import render_operation_list
from api.responses.documents import Envelope
from api.responses.errors import ERROR_SPECS
from api.schemas.chart import ChartHistoryDocument
from api.schemas.examples import RESPONSE_EXAMPLES, read_example
from api.schemas.extensions.exports import ComparisonDocument
from api.schemas.lists import (
    CreatorMetrics,
    CursorList,
    ManyVideos,
    PostList,
    ResolvedUser,
    UserProfile,
)
from api.schemas.result import HotVideosResponse, JobDocument
from pipelines.parameters.scan import PARAMETERS, Parameter

ROOT = Path(__file__).parents[3]
HOT = "/api/v1/vidplat/app/v3/fetch_music_hot_videos"
JOBS = "/api/v1/vidplat/app/v3/music_collection_jobs"


@pytest.fixture(scope="module")
def document(shared_service: Any) -> Any:
    return shared_service.client().get("/openapi.json").json()


def test_operations_parameters_and_schemas_are_as_reviewed(document: Any) -> None:
    reviewed = (ROOT / "docs/operations.txt").read_text("utf-8")
    assert render_operation_list(document) == reviewed, (
        "run `make docs`, and review the difference of docs/operations.txt"
    )


def test_a_changed_field_changes_the_list_and_a_changed_text_does_not(document: Any) -> None:
    before = render_operation_list(document)
    changed = copy.deepcopy(document)
    schemas = changed["components"]["schemas"]
    schemas["JobBody"]["description"] = "Another text."
    assert render_operation_list(changed) == before
    schemas["JobBody"]["properties"]["description"] = {"type": "string"}
    differing = set(render_operation_list(changed).splitlines()) - set(before.splitlines())
    assert [line.partition(" ")[0] for line in differing] == ["JobBody"]


def test_openapi_document_has_title_version_and_security_schemes(document: Any) -> None:
    assert document["openapi"] == "3.1.0"
    assert (document["info"]["title"], document["info"]["version"]) == ("Sametrack", "2.0.0")
    assert {scheme["type"] for scheme in document["components"]["securitySchemes"].values()} == {
        "http",
        "apiKey",
    }


def operations(document: Any) -> list[tuple[str, str, Any]]:
    return [
        (path, method, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if path.startswith("/api/")
    ]


def test_a_path_with_a_parameter_may_lead_nowhere(document: Any) -> None:
    for path, method, operation in operations(document):
        assert "{" not in path or "404" in operation["responses"], (method, path)


def test_every_operation_is_described_and_declares_the_token(document: Any) -> None:
    for path, _, operation in operations(document):
        assert operation["summary"], path
        assert operation["description"], path
        assert operation["tags"], path
        assert {"bearer": []} in operation["security"]
        assert {"apiKey": []} in operation["security"]


def test_every_failure_of_every_operation_is_documented_by_its_type(document: Any) -> None:
    for path, _, operation in operations(document):
        assert {"401", "403", "421", "500"} <= set(operation["responses"]), path
        for status, answer in operation["responses"].items():
            named = [name for name in ERROR_SPECS if f"`{name}`" in answer["description"]]
            assert {str(ERROR_SPECS[name].status) for name in named} <= {status}
            assert named or int(status) < 400


def test_our_own_operations_are_marked(document: Any) -> None:
    for path, _, operation in operations(document):
        assert operation.get("x-extension", False) == path.startswith("/api/v1/sametrack/")


@pytest.mark.parametrize("parameter", PARAMETERS, ids=lambda parameter: parameter.name)
def test_limits_of_query_and_body_are_those_of_the_table(
    document: Any, parameter: Parameter
) -> None:
    query = {entry["name"]: entry for entry in document["paths"][HOT]["get"]["parameters"]}
    body = document["components"]["schemas"]["JobBody"]["properties"]
    for schema in (query[parameter.name]["schema"], body[parameter.name]):
        numeric = next((kind for kind in schema.get("anyOf", []) if "minimum" in kind), schema)
        assert schema.get("default") == parameter.default
        assert numeric.get("minimum") == parameter.minimum
        assert numeric.get("enum", []) == list(parameter.choices)
        assert parameter.maximum in {None, numeric.get("maximum")}


def test_a_random_audit_has_the_decided_names(document: Any) -> None:
    shown = document["components"]["schemas"]["RandomAuditDocument"]["required"]
    assert {"pool", "drawn", "found", "upper_bound_share", "confidence"} <= set(shown)


def test_the_examples_run_as_they_stand(document: Any, client: TestClient) -> None:
    body = document["paths"][JOBS]["post"]["requestBody"]["content"]["application/json"]["example"]
    assert client.post(JOBS, json=body).status_code == 202
    query = document["paths"][HOT]["get"]["parameters"]
    given = {entry["name"]: entry["example"] for entry in query if "example" in entry}
    assert client.get(HOT, params=given).status_code == 202


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("fetch_music_hot_videos", Envelope[HotVideosResponse]),
        ("music_collection_job_started", Envelope[JobDocument]),
        ("music_collection_job", Envelope[JobDocument]),
        ("sametrack_comparison", Envelope[ComparisonDocument]),
        ("fetch_multi_video", Envelope[ManyVideos]),
        ("history", Envelope[ChartHistoryDocument]),
        ("get_sec_user_id", Envelope[ResolvedUser]),
        ("handler_user_profile", Envelope[UserProfile]),
        ("fetch_user_post_videos", Envelope[PostList]),
        ("fetch_user_metrics", Envelope[CreatorMetrics]),
        ("fetch_music_video_list", Envelope[CursorList]),
        ("fetch_hashtag_video_list", Envelope[CursorList]),
    ],
)
def test_the_answers_shown_have_the_described_shape(name: str, shape: type[BaseModel]) -> None:
    found = shape.model_validate(read_example(name))
    assert found.model_dump()["data"]["is_demo_data"] is True


def test_every_answer_shown_is_a_file_in_use() -> None:
    names = {name for shown in RESPONSE_EXAMPLES.values() for name in shown.values()}
    folder = Path(api.schemas.examples.__file__).parent
    assert {path.stem for path in folder.glob("*.json")} == names
