"""Readiness and the last report about the platform's surfaces: read, never asked."""

from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import TypeAdapter
from starlette.testclient import TestClient

from api.app import create_app
from api.responses.documents import Envelope
from api.routes.dependencies import Services
from api.schemas.health import DoctorReport, ReadinessReport
from api.server.health import PlatformHealth, Readiness
from api.settings import ApiSettings
from warehouse.control.hosts import CircuitState, RobotsDecision
from warehouse.records.errors import WarehouseUnavailableError
from warehouse.records.health import SurfaceHealth

DOCTOR = "/api/v1/sametrack/doctor"
NOW = datetime(2026, 1, 31, 11, tzinfo=UTC)
FOUND = {
    "music_info": SurfaceHealth(surface="music_info", outcome="works", observed_at=NOW),
    "media": SurfaceHealth(
        surface="media", outcome="refused", error_type="audio_unavailable", observed_at=NOW
    ),
}
CIRCUITS = [
    CircuitState(
        host="h", surface="media", failures=5, cause="upstream_forbidden", open_until=NOW,
        failed_at=NOW, worked_at=None,
    ),
    CircuitState(
        host="h", surface="music_info", failures=0, cause=None, open_until=None, failed_at=None,
        worked_at=NOW,
    ),
]  # fmt: skip
ROBOTS = [RobotsDecision("h", "media", "allowed", "no rule", NOW)]


def known(latest: Any = lambda: FOUND) -> PlatformHealth:
    return PlatformHealth(
        latest=latest,
        last_worked=lambda: {"media": datetime(2026, 1, 30, tzinfo=UTC)},
        circuits=lambda: CIRCUITS,
        robots=lambda: ROBOTS,
        is_demo=True,
    )


def client(service: Any, readiness: Readiness, **settings: Any) -> TestClient:
    app = create_app(
        Services(readiness=readiness, scan_service=service.scan_service()),
        settings=ApiSettings(_env_file=None, **settings),
    )
    return TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False)


def test_the_last_report_comes_in_the_envelope_with_its_described_shape(service: Any) -> None:
    with client(service, Readiness({"lake": lambda: None}, known())) as door:
        answer = door.get(DOCTOR)
    report = Envelope[DoctorReport].model_validate(answer.json()).data
    assert (answer.status_code, report["ready"], report["is_demo_data"]) == (200, True, True)
    assert [(one["surface"], one["outcome"]) for one in report["surfaces"]] == [
        ("music_info", "works"), ("media", "refused"),
    ]  # fmt: skip
    assert report["surfaces"][1]["last_worked_at"] == "2026-01-30T00:00:00Z"
    assert [one["number"] for one in report["surfaces"][1]["suffering"]] == [5, 6, 7, 9]
    assert [(one["surface"], one["failures"]) for one in report["circuits"]] == [("media", 5)]
    assert [one["decision"] for one in report["robots"]] == ["allowed"]


def test_a_report_that_did_not_change_is_not_sent_again(service: Any) -> None:
    with client(service, Readiness({}, known())) as door:
        tag = door.get(DOCTOR).headers["etag"]
        assert door.get(DOCTOR, headers={"if-none-match": tag}).status_code == 304


def test_the_report_needs_the_token_and_takes_no_parameter(service: Any) -> None:
    with client(service, Readiness({}, known()), own_api_token="sesam-42") as door:
        assert door.get(DOCTOR).status_code == 401
        headers = {"x-api-key": "sesam-42"}
        assert door.get(f"{DOCTOR}?fresh=1", headers=headers).status_code == 400


def test_without_a_profile_there_is_no_platform_to_report_on(service: Any) -> None:
    with client(service, Readiness({"profile": lambda: "none"})) as door:
        answer = door.get(DOCTOR)
    assert answer.status_code == 503
    assert answer.json()["data"]["error"]["type"] == "profile_not_chosen"


def test_readiness_tells_how_the_surfaces_fared_but_is_not_decided_by_them(service: Any) -> None:
    with client(service, Readiness({"lake": lambda: None}, known())) as door:
        answer = door.get("/readyz")
    report = TypeAdapter(ReadinessReport).validate_python(answer.json())
    assert (answer.status_code, report["ready"]) == (200, True)
    assert [(one["surface"], one["outcome"]) for one in report["surfaces"]] == [
        ("music_info", "works"), ("media", "refused"),
    ]  # fmt: skip


def unreadable() -> Any:
    raise WarehouseUnavailableError("the lake cannot be read")


@pytest.mark.parametrize(("path", "status"), [("/readyz", 503), (DOCTOR, 503)])
def test_stores_that_cannot_be_read_are_told(service: Any, path: str, status: int) -> None:
    readiness = Readiness({"lake": lambda: "gone"}, known(unreadable))
    with client(service, readiness) as door:
        assert door.get(path).status_code == status
