"""Nothing secret is in any log or answer: a tour of requests, good, bad and unlucky, through the
real service and platform, and then a search through every byte that they left.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import orjson
import pytest

from tests.stage import Stage, open_stage

TOKEN = "tok3n-of-the-tour-4711"
COOKIE = "sessionid=c00kie-of-the-tour-0815"
V3 = "/api/v1/vidplat/app/v3"
ROOT = Path(__file__).parents[3]
FAULTS = ("captcha", "structure")


@dataclass
class Tour:
    """Asks, and remembers every answer as it came."""

    client: httpx2.Client
    answers: list[bytes] = field(default_factory=list)
    statuses: set[int] = field(default_factory=set)

    def ask(self, method: str, path: str, **request: Any) -> httpx2.Response:
        headers = {"x-api-key": TOKEN, **request.pop("headers", {})}
        answer = self.client.request(method, path, headers=headers, **request)
        self.statuses.add(answer.status_code)
        self.answers.append(repr(answer.headers).encode() + answer.content)
        return answer


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    root = tmp_path_factory.mktemp("tour")
    with open_stage(root, root / "sounds") as built:
        built.settings = {
            "OWN_API_TOKEN": TOKEN,
            "VIDPLAT_COOKIE": COOKIE,
            "DATA_PROVIDER": "vidplat-web",
            "RATE_LIMIT_PER_S": "0",
        }
        built.start_platform(seed=5, size=0.1)
        yield built


@pytest.fixture(scope="module")
def tour(stage: Stage) -> Tour:
    tour = Tour(stage.start_api())
    description = tour.ask("GET", "/openapi.json").json()
    _ask_wrongly(tour, description)
    _ask_rightly(tour, stage)
    return tour


def _ask_wrongly(tour: Tour, description: dict[str, Any]) -> None:
    """Every operation without its parameters, with foreign ones and with what is none."""
    for path, operations in description["paths"].items():
        here = path.replace("{", "").replace("}", "")
        for method, operation in operations.items():
            names = [p["name"] for p in operation.get("parameters", []) if p["in"] == "query"]
            tour.ask(method.upper(), here, params={"no_such_parameter": "x"})
            tour.ask(method.upper(), here, params=dict.fromkeys(names, "\x00../../etc/passwd"))
            if "requestBody" in operation:
                tour.ask(method.upper(), here, content=b'{"a": ')
                tour.ask(method.upper(), here, json={"no_such_field": [1]})
    for path in ("/nowhere", "/api/v1/nowhere", "/docs/../../etc/passwd", "/docs/%2e%2e/x"):
        tour.ask("GET", path)
    tour.ask("DELETE", "/healthz")
    tour.ask("GET", "/readyz", headers={"host": "evil.example"})
    tour.ask("POST", f"{V3}/music_collection_jobs", headers={"origin": "http://evil.example"})
    tour.ask("GET", f"{V3}/music_collection_jobs/x", headers={"x-api-key": f"{TOKEN}x"})
    tour.ask("GET", f"{V3}/music_collection_jobs/x", headers={"cookie": COOKIE})


def _ask_rightly(tour: Tour, stage: Stage) -> None:
    track = stage.world("/_world/tracks")["tracks"][0]
    account = {"sec_user_id": "MS4wLjABAAAA-nobody"}
    tour.ask("POST", f"{V3}/music_collection_jobs", json={"input": track["music_id"]})
    for fault in ("", *FAULTS):
        if fault:
            stage.fault(surface="*", kind=fault, times=2)
        tour.ask("GET", f"{V3}/handler_user_profile", params=account)
        tour.ask("POST", f"{V3}/fetch_multi_video", json=["7000000000000000001"])
    for path in ("/healthz", "/readyz", "/metrics", "/api/v1/sametrack/jobs"):
        tour.ask("GET", path)


def secrets() -> list[bytes]:
    return [TOKEN.encode(), b"c00kie-of-the-tour"]


def paths(stage: Stage) -> list[bytes]:
    found = {str(stage.root), str(ROOT), str(Path.home()), "site-packages"}
    return [path.encode() for path in found if len(path) > 1]


def test_the_tour_met_success_and_every_kind_of_refusal(tour: Tour) -> None:
    assert {200, 202, 400, 401, 403, 404, 405, 415, 421} <= tour.statuses
    assert 500 not in tour.statuses


def test_no_answer_holds_a_secret_or_a_local_path(tour: Tour, stage: Stage) -> None:
    for hidden in (*secrets(), *paths(stage)):
        assert [answer[:300] for answer in tour.answers if hidden in answer] == []


def test_no_log_holds_a_secret_or_a_local_path(tour: Tour, stage: Stage) -> None:
    logs = {file.name: file.read_bytes() for file in stage.root.glob("*.log")}
    assert any(name.startswith("serve") for name in logs)
    for hidden in (*secrets(), *paths(stage)):
        found = [line for log in logs.values() for line in log.splitlines() if hidden in line]
        assert found == []


def test_each_line_of_the_service_is_json_and_each_request_has_one(
    tour: Tour, stage: Stage
) -> None:
    (log,) = stage.root.glob("serve-*.log")
    stage.wait(lambda: log.read_bytes().count(b'"event":"request"') >= len(tour.answers))
    lines = [orjson.loads(line) for line in log.read_bytes().splitlines()]
    assert all({"event", "level", "timestamp"} <= line.keys() for line in lines)
    assert not [line for line in lines if line["level"] in {"error", "critical"}]
