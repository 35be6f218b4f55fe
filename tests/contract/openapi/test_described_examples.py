"""Examples of the API description: each fits its own schema, and each request runs as it stands,
read from the command that the pages show.
"""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from jsonschema_rs import Draft202012Validator

from api.generate.files import read_description
from api.generate.reference_tables import to_curl
from api.openapi.description import in_chinese
from api.openapi.reference import INTERFACE, build_reference
from api.process import build_app_from_settings
from api.responses.languages import is_chinese
from api.services.job_feed import JobBroadcaster
from api.settings import ApiSettings
from tests.house.page_examples import read_curl

pytestmark = pytest.mark.full

NOT_THERE = {
    # ids of results that a fresh home cannot have
    "music_collection_job", "cancel_music_collection_job", "sametrack_job_events",
    "sametrack_comparison", "sametrack_comparison_svg", "sametrack_comparison_png",
    "sametrack_comparison_excerpt", "sametrack_annotate",
    "sametrack_annotations",
    "sametrack_job_comparisons", "sametrack_job_ranking", "sametrack_job_reads",
    "sametrack_job_plots", "sametrack_job_preview", "sametrack_job_report", "sametrack_picture",
    "sametrack_watchlist_run_of", "sametrack_shared_create", "sametrack_shared_revoke",
}  # fmt: skip
REFUSED = {"fetch_music_search", "fetch_video_search_v1"}
NEEDS_A_WORKER = {"discover_music_related_videos", "readyz"}


@pytest.fixture(scope="module")
def description() -> Any:
    return read_description()


@pytest.fixture(scope="module")
def operations(description: Any) -> list[Any]:
    return list(build_reference(description)["operations"])


def shown(document: Any) -> Iterator[tuple[str, Any, Any]]:
    """Where an example stands, its schema, and the example."""
    for path, methods in document["paths"].items():
        for method, described in methods.items():
            where = f"{method} {path}"
            for given in described.get("parameters", []):
                if "example" in given:
                    yield f"{where} {given['name']}", given["schema"], given["example"]
            bodies = [described.get("requestBody", {}), *described["responses"].values()]
            for body in bodies:
                for content in body.get("content", {}).values():
                    if "example" in content:
                        yield where, content["schema"], content["example"]


def test_every_example_fits_its_own_schema(description: Any) -> None:
    found = list(shown(description))
    assert len(found) > 200
    # one schema for all: the components are read once, not once for each example
    every = {
        "prefixItems": [schema for _, schema, _ in found],
        "components": description["components"],
    }
    wrong = [
        (error.message, found[int(error.instance_path[0])][0], str(error.instance_path))
        for error in Draft202012Validator(every).iter_errors([example for *_, example in found])
    ]
    assert wrong == []


def test_every_operation_has_an_example_request_and_every_failure_an_answer(
    description: Any, operations: list[Any]
) -> None:
    assert [one["id"] for one in operations if one["example"] is None] == []
    for methods in description["paths"].values():
        for described in methods.values():
            for status, response in described["responses"].items():
                if "`" in response["description"] and int(status) >= 400:
                    example = response["content"]["application/json"]["example"]
                    assert example["code"] == int(status)
                    assert f"`{example['data']['error']['type']}`" in response["description"]


def _taking_last(one: Any) -> tuple[bool, int]:
    takes = one["method"] == "DELETE"
    return takes, -len(one["path"]) if takes else 0


def test_each_command_sends_what_its_example_says(operations: list[Any]) -> None:
    for one in operations:
        request = read_curl(to_curl(one["method"], one["example"]))
        assert (request.method, request.target) == (one["method"], one["example"]["url"])
        assert request.body == one["example"]["body"], one["id"]


def test_a_command_is_safe_with_any_text_and_keeps_what_is_no_text(
    operations: list[Any],
) -> None:
    example = {"url": "/a", "body": {"note": "it's; $(id)"}, "file": "it's.png"}
    command = to_curl("PATCH", example)
    assert command.startswith("curl -X PATCH ")
    assert read_curl(command).body == example["body"]
    assert shlex.split(command)[-2:] == ["-o", "it's.png"]
    files = {one["id"]: one["example"]["file"] for one in operations if one["example"]["file"]}
    assert files == {
        "sametrack_comparison_png": "picture.png",
        "sametrack_comparison_excerpt": "candidate.mp3",
        "sametrack_video_excerpt": "excerpt.mp3",
    }


async def test_the_requests_run_as_they_stand_in_the_demo_world(
    tmp_path: Path, operations: list[Any]
) -> None:
    settings = ApiSettings(
        _env_file=None, data_home=tmp_path, data_provider="mock", sync_job_timeout=0.1
    )
    wrong = []
    with build_app_from_settings(settings, feed=JobBroadcaster(limit=1)) as app:
        transport: Any = httpx2.ASGITransport(app, raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            # what takes something away comes last, and the larger thing after its parts
            for one in sorted(operations, key=_taking_last):
                request = read_curl(to_curl(one["method"], one["example"]))
                given = {} if request.body is None else {"json": request.body}
                answer = await client.request(request.method, request.target, **given)
                if answer.status_code not in expected(one["id"]):
                    wrong.append((one["id"], answer.status_code, answer.text[:300]))
    assert wrong == []


def expected(name: str) -> set[int]:
    if name in NOT_THERE:
        return {404}
    if name in REFUSED:
        return {501}
    return {503, 502} if name in NEEDS_A_WORKER else {200, 202}


def test_the_chinese_description_is_chinese(description: Any) -> None:
    paths = in_chinese(description)["paths"]
    for one in INTERFACE:
        described = paths[one.path][one.method.lower()]
        texts = [described["summary"], described["description"]]
        texts += [given["description"] for given in described.get("parameters", [])]
        texts += [response["description"] for response in described["responses"].values()]
        assert [text for text in texts if not is_chinese(text)] == [], one.id
