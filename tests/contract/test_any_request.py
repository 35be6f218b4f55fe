"""Requests made from the API description, valid and not: no crash, nothing outside the schema."""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from starlette.types import ASGIApp, Receive, Scope, Send

from api.app import create_app
from api.health import Readiness
from api.settings import ApiSettings

CHECKS = [
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
]
KEYS = 11


class Late:
    """Requests are made up at collection, the service is there once a test runs."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.app(scope, receive, send)


EMPTY = create_app(
    settings=ApiSettings(_env_file=None, allowed_hosts="testserver", rate_limit_per_s=0),
    desk=None,
    readiness=Readiness({}),
)
LATE = Late(EMPTY)
schema = schemathesis.openapi.from_asgi("/openapi.json", LATE)


@pytest.fixture
def running(service: Any) -> Iterator[None]:
    service.stored()
    LATE.app = service.app(allowed_hosts="testserver")
    yield
    LATE.app = EMPTY


@schema.parametrize()
@settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_any_request_is_answered_as_described(case: schemathesis.Case[Any], running: None) -> None:
    """501 and 503 are answers of ours, so a status is judged by the description."""
    answer = case.call_and_validate(checks=CHECKS)
    assert answer.status_code not in {500, 422}
    if case.path.startswith("/api/") and answer.content:
        assert len(answer.json()) == KEYS
