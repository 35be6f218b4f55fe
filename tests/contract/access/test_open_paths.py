"""With a token set, every path of the service but the open ones is closed to strangers.

The paths are those of the application itself, so a new route is swept without being listed here.
The orchestrator's UI has the same sweep in tests/cli/processes/test_dagster_access.py. Workers,
daemon and code server listen on no port (the code server on a socket file of its owner). The
sandbox stands in for the platform, whose public pages it serves: it has nothing to protect.
"""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.routing import APIRoute
from starlette.routing import Route

from api.app import build_routes
from api.routes import ROUTERS
from api.routes.dependencies import Services
from api.server.access.roles import Role, required_role
from api.server.health import Readiness
from api.server.middleware_stack import PRIVATE

TOKEN = "sesam-42"
OPEN = {
    "/healthz", "/readyz",  # supervisors
    "/", "/console", "/console/words.json", "/console/{name:path}",  # files of the console
    "/openapi.json", "/docs", "/docs/{name}",  # the description
}  # fmt: skip
SIGNING_IN = ("/login", "/session")
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")


def routes() -> Iterator[tuple[str, str]]:
    """Method and path template of every route."""
    for router in ROUTERS:
        for route in router.routes:
            assert isinstance(route, APIRoute | Route), "a kind of route that the sweep knows"
            for method in sorted(route.methods or ()):
                yield method, route.path


def filled_in(template: str) -> str:
    return re.sub(r"\{[^}]*\}", "x", template)


def test_the_sweep_sees_the_routes_of_the_finished_application() -> None:
    app = build_routes(Services(readiness=Readiness({})))
    described = set(app.openapi()["paths"])
    assert described <= {path for _, path in routes()}
    assert len(set(routes())) > 50
    assert {path for _, path in routes()} >= OPEN


def test_without_a_token_no_closed_path_answers(service: Any) -> None:
    client = service.client(own_api_token=TOKEN, mcp_http=True)
    closed = {path for _, path in routes()} - OPEN | {"/mcp", "/mcp/", "/api/", "/api/v1/nothing"}
    for path in sorted(closed):
        for method in METHODS:
            answer = client.request(method, filled_in(path))
            assert answer.status_code == 401, (method, path)


@pytest.mark.parametrize("path", sorted(OPEN))
def test_an_open_path_tells_nothing_of_what_is_stored(service: Any, path: str) -> None:
    """A page that everybody may read must not depend on stores. Readiness says what is wrong."""
    service.scan_service = lambda: None
    answer = service.client(own_api_token=TOKEN).get(filled_in(path))
    assert answer.status_code in {200, 404}
    assert not filled_in(path).startswith(PRIVATE)


def test_signing_in_is_open_and_tells_only_that_a_token_is_required(service: Any) -> None:
    client = service.client(own_api_token=TOKEN)
    for path in SIGNING_IN:
        assert client.get(path).status_code == 200
    assert client.get("/session").json() == {
        "required": True, "role": None, "dagster_url": None, "shows_pictures": True,
    }  # fmt: skip


def test_every_operation_has_a_role_that_somebody_chose() -> None:
    """A new operation that changes something is for operators until it gets another role."""
    found = {
        (method, path): required_role(method, filled_in(path))
        for method, path in routes()
        if path not in OPEN
    }
    reads = {key for key, role in found.items() if role is Role.READ}
    scans = {key for key, role in found.items() if role is Role.SCAN}
    assert {path for method, path in reads if method != "GET"} == {
        "/api/v1/vidplat/web/fetch_multi_video", "/api/v1/vidplat/app/v3/fetch_multi_video",
        "/api/v1/vidplat/search/fetch_music_search", "/api/v1/vidplat/search/fetch_video_search_v1",
        "/api/v1/sametrack/sql", "/api/v1/sametrack/sql/export",
    }  # fmt: skip
    assert scans == {
        ("GET", "/api/v1/vidplat/app/v3/fetch_music_hot_videos"),
        ("GET", "/api/v1/vidplat/app/v3/discover_music_related_videos"),
        ("POST", "/api/v1/vidplat/app/v3/fetch_music_hot_videos_batch"),
        ("POST", "/api/v1/vidplat/app/v3/music_collection_jobs"),
        ("DELETE", "/api/v1/vidplat/app/v3/music_collection_jobs/{job_id}"),
        ("POST", "/api/v1/sametrack/watchlists/{name}/runs"),
        ("POST", "/api/v1/sametrack/catalogs/{name}/tracks"),
        ("POST", "/api/v1/sametrack/catalogs/{name}/runs"),
        ("DELETE", "/api/v1/sametrack/catalogs/{name}/runs"),
        ("POST", "/api/v1/sametrack/comparisons/{comparison_id}/annotations"),
        ("POST", "/api/v1/sametrack/chart/links"),
        ("POST", "/api/v1/sametrack/chart/judge"),
        ("POST", "/api/v1/sametrack/notes"),
        ("POST", "/api/v1/sametrack/shared"),
        ("GET", "/api/v1/sametrack/shared"),
        ("DELETE", "/api/v1/sametrack/shared/{link_id}"),
    }
    assert {key for key, role in found.items() if role is Role.OPERATE} == {
        ("POST", "/api/v1/sametrack/watchlists"),
        ("PATCH", "/api/v1/sametrack/watchlists/{name}"),
        ("DELETE", "/api/v1/sametrack/watchlists/{name}"),
        ("DELETE", "/api/v1/sametrack/catalogs/{name}"),
        ("GET", "/api/v1/sametrack/settings"),
        ("GET", "/api/v1/sametrack/alert_channels"),
        ("POST", "/api/v1/sametrack/alert_channels"),
        ("POST", "/api/v1/sametrack/alert_channels/{name}/test"),
        ("DELETE", "/api/v1/sametrack/alert_channels/{name}"),
    }
