"""Requests made from the API description, valid and not: no crash, nothing outside the schema."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from starlette.types import ASGIApp, Receive, Scope, Send

from api.app import build_routes
from api.openapi.description import LINKS
from api.routes.dependencies import Services
from api.server.health import Readiness
from benchmarks.fuzz.requests import judge, known_ids, settings_for, strategy_of
from benchmarks.fuzz.requests import service as demo_service
from tests.fake_clock import PATIENCE_S

pytestmark = pytest.mark.full

BOUNDED = settings(
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


class Late:
    """The service that a test has chosen; requests are made up before there is one."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.app(scope, receive, send)


LATE = Late()


@pytest.fixture(scope="module")
def described() -> schemathesis.BaseSchema:
    """The API description as it is written, not as it is asked for: nothing here takes long."""
    routes = build_routes(Services(readiness=Readiness({})))
    schema = schemathesis.openapi.from_dict(json.loads(json.dumps(routes.openapi())))
    schema.app, schema.location = LATE, "/openapi.json"
    # every edge of every parameter is some hundred requests an operation: left to `make fuzz`
    schema.config.phases.update(phases=["examples", "fuzzing", "stateful"])
    return schema


@pytest.fixture
def running(service: Any) -> None:
    service.stored()
    LATE.app = service.app(allowed_hosts="testserver", rate_limit_per_s=0, sync_job_timeout=0.01)


@pytest.fixture(scope="module")
def demo_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ASGIApp]:
    """Real reads over real stores of an invented world."""
    with demo_service(settings_for(tmp_path_factory.mktemp("home"))) as app:
        yield app


@pytest.fixture
def reading(demo_world: ASGIApp) -> None:
    LATE.app = demo_world


@pytest.mark.timeout(900)  # as many requests as a file of other tests
def test_any_request_is_answered_as_described(
    described: schemathesis.BaseSchema, running: None, subtests: pytest.Subtests
) -> None:
    """501 and 503 are answers of ours, so a status is judged by the description."""
    check_each(described, subtests, {})


@pytest.mark.soak
def test_any_read_of_a_world_is_answered_as_described(
    described: schemathesis.BaseSchema, reading: None, subtests: pytest.Subtests
) -> None:
    reads = described.include(path_regex="/(user|video|music|hashtag|web|history|search|fetch)")
    check_each(
        reads.exclude(path_regex="jobs|hot_videos|discover|sametrack"), subtests, known_ids()
    )


def check_each(
    schema: schemathesis.BaseSchema, subtests: pytest.Subtests, known: Mapping[str, list[str]]
) -> None:
    """Some requests of each operation, made when the test runs: collecting it builds nothing."""
    found: list[Any] = list(schema.get_all_operations())
    for operation in (one.ok() for one in found):

        @settings(BOUNDED, max_examples=4)
        @given(case=strategy_of(operation, known))
        def ask(case: schemathesis.Case[Any]) -> None:
            judge(case, case.call(timeout=PATIENCE_S))

        with subtests.test(operation.label):
            ask()


def test_linked_requests_are_answered_as_described(
    described: schemathesis.BaseSchema, reading: None
) -> None:
    """Requests that go on from the answers of others, along the links of the description."""

    class Visits(described.as_state_machine()):  # type: ignore[misc]  # made from the description
        def get_call_kwargs(self, case: schemathesis.Case[Any]) -> dict[str, Any]:
            return {"timeout": PATIENCE_S}

        def validate_response(
            self, response: schemathesis.Response, case: schemathesis.Case[Any], **_more: Any
        ) -> None:
            judge(case, response)

    Visits.run(settings=settings(BOUNDED, max_examples=4, stateful_step_count=4))
    linked = {link.target for link in LINKS}
    assert linked >= {"music_collection_job", "fetch_music_video_list", "handler_user_profile"}
