"""Requests made from the API description, valid and not: no crash, nothing outside the schema."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from starlette.types import ASGIApp, Receive, Scope, Send

from api.app import build_routes
from api.openapi.links import LINKS
from api.server.health import Readiness
from api.services.job_feed import JobBroadcaster
from tests.fuzz.requests import judge, settings_for
from tests.fuzz.requests import service as demo_service

BOUNDED = settings(
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


class Late:
    """Requests are made up at collection, the service is there once a test runs."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.app(scope, receive, send)


ROUTES = build_routes(scan_service=None, readiness=Readiness({}), feed=JobBroadcaster(limit=1))
LATE = Late(ROUTES)
# The description as it is written, not as it is asked for: nothing here can take too long.
schema = schemathesis.openapi.from_dict(json.loads(json.dumps(ROUTES.openapi())))
schema.app, schema.location = LATE, "/openapi.json"
# every edge of every parameter is some hundred requests an operation: left to `make fuzz`
schema.config.phases.update(phases=["examples", "fuzzing", "stateful"])


READS = schema.include(path_regex="/(user|video|music|hashtag|web|history|search|fetch)").exclude(
    path_regex="jobs|hot_videos|discover|sametrack"
)


@pytest.fixture
def running(service: Any) -> Iterator[None]:
    service.stored()
    LATE.app = service.app(allowed_hosts="testserver", rate_limit_per_s=0, sync_job_timeout=0.01)
    yield
    LATE.app = ROUTES


@pytest.fixture(scope="module")
def demo_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ASGIApp]:
    """Real reads over real stores of an invented world."""
    with demo_service(settings_for(tmp_path_factory.mktemp("home"))) as app:
        yield app


@pytest.fixture
def reading(demo_world: ASGIApp) -> Iterator[None]:
    LATE.app = demo_world
    yield
    LATE.app = ROUTES


@schema.parametrize()
@settings(BOUNDED, max_examples=8)
def test_any_request_is_answered_as_described(case: schemathesis.Case[Any], running: None) -> None:
    """501 and 503 are answers of ours, so a status is judged by the description."""
    answer = case.call()
    judge(case, answer)
    assert answer.status_code != 500


@READS.parametrize()
@settings(BOUNDED, max_examples=8)
def test_any_read_of_a_world_is_answered_as_described(
    case: schemathesis.Case[Any], reading: None
) -> None:
    answer = case.call()
    judge(case, answer)
    assert answer.status_code != 500


class Visits(schema.as_state_machine()):  # type: ignore[misc]  # made from the description
    """Requests that go on from the answers of others, along the links of the description."""

    def validate_response(
        self, response: schemathesis.Response, case: schemathesis.Case[Any], **_more: Any
    ) -> None:
        judge(case, response)


def test_whole_visits_are_answered_as_described(reading: None) -> None:
    Visits.run(settings=settings(BOUNDED, max_examples=6, stateful_step_count=4))
    linked = {link.target for link in LINKS}
    assert linked >= {"music_collection_job", "fetch_music_video_list", "handler_user_profile"}
