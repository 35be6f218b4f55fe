"""Every documented status of every operation: provoked, and told in both languages.

One row per operation and status. What an operation documents is what the interface lists for it
(`LISTED`) and what the API description declares; neither may have a status without a row.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from api.server.access.sessions import SessionsInMemory
from api.server.middleware_stack import wrap
from tests.contract.operations import (
    APP,
    JOBS,
    OPERATIONS,
    BusyWorker,
    Operation,
    filled,
    ids_of,
    operation,
)
from tests.scripted_reads import ReadService
from tests.stored_results import discovery_result
from warehouse.control import ControlStore, jobs
from warehouse.records.errors import (
    ForbiddenError,
    ProviderUnsupportedError,
    SametrackError,
    WarehouseUnavailableError,
)

KEYS = (
    "code", "request_id", "message", "message_zh", "time", "time_stamp", "time_zone", "docs",
    "router", "params", "data",
)  # fmt: skip
CHINESE = re.compile(r"[\u4e00-\u9fff]")
JSON = {"content-type": "application/json"}
FORBIDDEN = {
    "type": "upstream_forbidden", "detail": "the platform forbids this", "hint": None,
    "retry_after": None, "upstream": None,
}  # fmt: skip

LISTED: Mapping[str, frozenset[int]] = {
    "1 GET": frozenset({200, 400, 401}),
    "2 GET": frozenset({200, 400, 401}),
    "3 GET": frozenset({200, 400, 401, 502}),
    "4 GET": frozenset({200, 400, 401}),
    "5 GET": frozenset({200, 202, 400, 401, 502}),
    "6 POST": frozenset({200, 400, 401}),
    "7 POST": frozenset({200, 202, 400, 401}),
    "8 GET": frozenset({200, 404, 401}),
    "8 DELETE": frozenset({200, 404, 401}),
    "9 GET": frozenset({200, 400, 401, 502}),
    "10 POST": frozenset({200, 422, 401}),
    "11 POST": frozenset({200, 422, 401}),
    "12 GET": frozenset({200, 502, 401}),
    "13 GET": frozenset({200, 502, 401}),
    "14 POST": frozenset({501, 401}),
    "15 POST": frozenset({501, 401}),
    "16 GET": frozenset({200, 400, 401, 502}),
}
"""What the interface lists by operation; 401 stands for all of them under Authentication."""


@dataclass
class ServiceStates:
    """The service in every condition that a row needs; clients are made when first asked for."""

    service: Any
    reads: ReadService
    ids: dict[str, str]
    stored: str
    clients: dict[str, TestClient] = field(default_factory=dict)

    def client(self, name: str) -> TestClient:
        if name not in self.clients:
            self.clients[name] = getattr(self, f"_{name}")()
        return self.clients[name]

    def ask(self, one: Operation, client: str = "whole", **changes: Any) -> Any:
        """The request of an operation that succeeds, changed."""
        path = one.path.format(job_id=changes.pop("job_id", self.stored))
        good = {} if "content" in changes else filled(one.good, self.ids)
        return self.client(client).request(one.method, path, **(good | changes))

    def _whole(self) -> TestClient:
        found: TestClient = self.service.client()
        return found

    def _guarded(self) -> TestClient:
        found: TestClient = self.service.client(own_api_token="sesam")
        return found

    def _hurried(self) -> TestClient:
        found: TestClient = self.service.client(rate_limit_per_s=0.001, rate_limit_burst=1)
        found.get(f"{JOBS}/none")
        return found

    def _broken(self) -> TestClient:
        """Everything behind the door falls over."""

        async def fall(_scope: Scope, _receive: Receive, _send: Send) -> None:
            raise RuntimeError("a mistake of ours")

        settings = self.reads.sources.settings
        app = wrap(
            fall,
            settings=settings,
            sessions=SessionsInMemory(),
            clock=lambda: self.service.now,
        )
        return TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False)

    def _homeless(self) -> TestClient:
        """No profile is chosen."""
        service = replace(self.service, reads=None)
        service.scan_service = lambda: None
        found: TestClient = service.client()
        return found

    def _locked(self) -> TestClient:
        """The control store cannot be read."""
        found: TestClient = replace(self.service, control=LockedStore()).client()
        return found

    def _unable(self) -> TestClient:
        """The chosen source answers nothing of the kind."""
        found: TestClient = replace(self.service, provider="nobody").client()
        return found


@pytest.fixture(scope="module")
def states(shared_service: Any, stored_reads: ReadService) -> ServiceStates:
    shared_service.reads = stored_reads
    shared_service.now = datetime.now(UTC)  # what is read is observed now
    job = shared_service.stored()
    return ServiceStates(shared_service, stored_reads, ids_of(stored_reads), job.job_id)


type Provoke = Callable[[ServiceStates, Operation], Any]


class LockedStore(ControlStore):
    def __init__(self) -> None:
        self.now = lambda: 0.0

    def read(self) -> Any:
        raise WarehouseUnavailableError("the control store is locked")

    write = read


@dataclass(frozen=True)
class Row:
    """One status of one operation; `kind` is the type of the error, None on success."""

    operation: Operation
    status: int
    kind: str | None
    provoke: Provoke

    def __str__(self) -> str:
        return f"{self.operation} {self.status} {self.kind or ''}".strip()


def asked(**changes: Any) -> Provoke:
    """The good request, changed."""
    return lambda states, one: states.ask(one, **changes)


def asked_as(client: str) -> Provoke:
    return lambda states, one: states.ask(one, client)


def again(states: ServiceStates, one: Operation) -> Any:
    """The same once more, by a reader that has the answer."""
    tag = states.ask(one).headers["etag"]
    return states.ask(one, headers={"if-none-match": tag})


def unseen(one: Operation, ids: Mapping[str, str]) -> dict[str, Any]:
    """A good request about something that is in no store yet."""
    others = {name: f"{value[:-1]}{(ord(value[-1]) - 47) % 10}" for name, value in ids.items()}
    known: dict[str, dict[str, Any]] = {
        "1": {"params": {"url": SHORT_LINK}},
        "10": {"json": ["7999999999999999999"]},
        "11": {"json": ["7999999999999999999"]},
        "16": {"params": between("2025-05-01", "2025-05-01")},
    }
    return known.get(one.number) or {"params": filled(one.good, others)["params"]}


def met(error: SametrackError) -> Provoke:
    """The source meets an error; what is stored does not serve.

    The client is a new one: an application remembers for a minute what the chart refused.
    """

    def provoke(states: ServiceStates, one: Operation) -> Any:
        states.reads.script.errors = {"*": error}
        states.clients["new"] = states.service.client()
        try:
            return states.ask(one, "new", **unseen(one, states.ids))
        finally:
            states.reads.script.errors = {}

    return provoke


def worked_on(
    music_id: str, *, result: Any = None, error: Any = None, is_awaited: bool = False
) -> Provoke:
    """A worker ends the job that the request waits for."""

    def provoke(states: ServiceStates, one: Operation) -> Any:
        for job in jobs.newest(states.service.control, limit=200, status="queued"):
            jobs.request_cancel(states.service.control, job.job_id)
        client = replace(states.service, is_awaited=is_awaited).client(sync_job_timeout=300)
        with BusyWorker(states.service, result=result, error=error):
            return client.get(one.path, params={"music_id": music_id})

    return provoke


def between(start: str, end: str) -> dict[str, str]:
    return {"start_date": start, "end_date": end}


CROSS_SITE = {"headers": {"origin": "http://evil.example", "sec-fetch-site": "cross-site"}}
NOWHERE = ForbiddenError("the platform forbids this", surface="music_list", status=403)
NO_SOURCE = ProviderUnsupportedError("this source answers no such question")
SHORT_LINK = "http://v.vidplat.localhost:8790/abcdef/"
NO_JOB = "00000000-0000-0000-0000-000000000000"
BAD: Mapping[str, list[tuple[str, dict[str, Any]]]] = {
    "1": [("missing_parameter", {"params": {}}),
          ("unresolvable_sec_user_id", {"params": {"url": "just words"}})],
    "2": [("missing_parameter", {"params": {}})],
    "3": [("missing_parameter", {"params": {}}),
          ("invalid_parameter", {"params": {"sec_user_id": "MS4w", "count": "21"}})],
    "4": [("missing_parameter", {"params": {}}),
          ("invalid_parameter", {"params": {"sec_user_id": "MS4w", "days": "366"}})],
    "5": [("missing_parameter", {"params": {}}),
          ("invalid_music_input", {"params": {"music_id": "just words"}})],
    "6": [("invalid_inputs", {"json": {"inputs": []}}), ("invalid_inputs", {"json": {}})],
    "7": [("missing_parameter", {"json": {}}),
          ("malformed_json", {"content": b"{", "headers": JSON})],
    "8": [("unknown_parameter", {"params": {"a": "b"}})],
    "9": [("missing_parameter", {"params": {}}),
          ("invalid_music_input", {"params": {"music_id": "just words"}})],
    "10": [("unknown_parameter", {"params": {"a": "b"}})],
    "11": [("unknown_parameter", {"params": {"a": "b"}})],
    "12": [("invalid_parameter", {"params": {"music_id": "1234"}})],
    "13": [("invalid_parameter", {"params": {"ch_id": "1234"}})],
    "16": [("missing_parameter", {"params": {}}),
           ("invalid_date_range", {"params": between("2022-02-30", "2022-03-01")}),
           ("invalid_date_range", {"params": between("2022-03-02", "2022-03-01")})],
}  # fmt: skip


def everywhere(one: Operation) -> Iterator[Row]:
    """What the door answers in front of every operation."""
    yield Row(one, 401, "unauthorized", asked_as("guarded"))
    yield Row(one, 403, "cross_site_request", asked(**CROSS_SITE))
    yield Row(one, 421, "host_not_allowed", asked(headers={"host": "evil.example"}))
    yield Row(one, 429, "local_rate_limit", asked_as("hurried"))
    yield Row(one, 500, "internal_error", asked_as("broken"))
    if one.method == "POST":
        yield Row(one, 413, "body_too_large", asked(content=b"x" * 70_000, headers=JSON))
    if one.method == "POST" and one.kind != "door":
        yield Row(one, 415, "unsupported_media_type", asked(content=b"{}"))


def own(one: Operation) -> Iterator[Row]:
    """What an operation answers by its kind."""
    for kind, changes in BAD.get(one.number, []):
        yield Row(one, 400, kind, asked(**changes))
    if one.kind == "door":
        yield Row(one, 501, "platform_verification_required", asked())
        return
    if one.number == "8":
        yield Row(one, 404, "job_not_found", asked_as("homeless"))  # there are no jobs
        yield Row(one, 503, "warehouse_unavailable", asked_as("locked"))
    else:
        yield Row(one, 503, "profile_not_chosen", asked_as("homeless"))
    if one.kind == "read":
        yield Row(one, 200, None, asked())
        yield Row(one, 501, "provider_unsupported", met(NO_SOURCE))
        yield from read_alone(one) if one.method == "GET" else read_together(one)
    elif one.number != "8":
        yield Row(one, 501, "provider_unsupported", asked_as("unable"))


def read_alone(one: Operation) -> Iterator[Row]:
    yield Row(one, 304, None, again)
    yield Row(one, 502, "upstream_forbidden", met(NOWHERE))


def read_together(one: Operation) -> Iterator[Row]:
    """What cannot be read of several works is told in the answer, so there is no 502."""
    yield Row(one, 422, "invalid_video_ids", asked(json={"aweme_ids": []}))


def of_scans() -> Iterator[Row]:
    """What jobs and stored results make of an operation."""
    hot, batch, create, found = (operation(number) for number in ("5", "6", "7", "9"))
    fresh = {"params": {"music_id": "7300000000000000003"}}
    yield Row(hot, 200, None, asked())
    yield Row(hot, 304, None, again)
    yield Row(hot, 202, None, asked(**fresh))
    yield Row(
        hot,
        502,
        "upstream_forbidden",
        worked_on("7300000000000000011", error=FORBIDDEN, is_awaited=True),
    )
    yield Row(batch, 200, None, asked())
    yield Row(create, 200, None, asked())
    yield Row(create, 202, None, asked(json={"input": "7300000000000000004"}))
    yield Row(found, 200, None, worked_on("7300000000000000012", result=discovery_result()))
    yield Row(found, 304, None, discovered_again)
    yield Row(found, 502, "upstream_forbidden", worked_on("7300000000000000013", error=FORBIDDEN))
    look, end = operation("8", "GET"), operation("8", "DELETE")
    yield Row(look, 200, None, asked())
    yield Row(look, 304, None, again)
    yield Row(end, 200, None, asked())
    for one in (look, end):
        yield Row(one, 404, "job_not_found", asked(job_id=NO_JOB))


def discovered_again(states: ServiceStates, one: Operation) -> Any:
    params = {"music_id": "7300000000000000005"}
    for job in jobs.newest(states.service.control, limit=200, status="queued"):
        jobs.request_cancel(states.service.control, job.job_id)
    with BusyWorker(states.service, result=discovery_result()):
        tag = states.ask(one, params=params).headers["etag"]
    return states.ask(one, params=params, headers={"if-none-match": tag})


ROWS = (
    *(row for one in OPERATIONS for row in (*everywhere(one), *own(one))),
    *of_scans(),
)


@pytest.fixture(scope="module")
def declared(states: ServiceStates) -> Any:
    return states.client("whole").get("/openapi.json").json()["paths"]


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_every_documented_status_is_told_in_both_languages(
    row: Row, states: ServiceStates, declared: Any
) -> None:
    answer: httpx2.Response = row.provoke(states, row.operation)
    assert answer.status_code == row.status, answer.text
    response = declared[row.operation.path][row.operation.method.lower()]["responses"]
    assert str(row.status) in response
    if row.status != 304:
        check_envelope(answer, row.kind, response[str(row.status)]["description"])


def check_envelope(answer: httpx2.Response, kind: str | None, described: str) -> None:
    document = answer.json()
    assert tuple(document) == KEYS
    assert document["code"] == answer.status_code
    assert document["message"].strip()
    assert not CHINESE.search(document["message"])
    assert CHINESE.search(document["message_zh"])
    error = document["data"].get("error") if kind else None
    assert (error or {}).get("type") == kind
    if error is not None:
        assert error["detail"].strip()
        assert error["hint"].strip()
        assert f"`{kind}`" in described


def covered() -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for row in ROWS:
        found.setdefault(f"{row.operation.number} {row.operation.method}", set()).add(row.status)
    return found


def test_no_status_that_the_interface_lists_is_without_a_row() -> None:
    rows = covered()
    assert rows.keys() == LISTED.keys()
    assert {name: LISTED[name] - rows[name] for name in LISTED if LISTED[name] - rows[name]} == {}


def test_no_status_that_the_description_declares_is_without_a_row(declared: Any) -> None:
    rows = covered()
    missing = {}
    for one in OPERATIONS:
        statuses = set(map(int, declared[one.path][one.method.lower()]["responses"]))
        missing[str(one)] = statuses - rows[f"{one.number} {one.method}"]
    assert {name: left for name, left in missing.items() if left} == {}


def test_the_operations_are_those_of_the_description(declared: Any) -> None:
    found = {
        (path, method.upper())
        for path, methods in declared.items()
        for method in methods
        if path.startswith("/api/v1/") and not path.startswith("/api/v1/sametrack/")
    }
    assert found == {(one.path, one.method) for one in OPERATIONS}
    assert len(found) == 17
    assert {one.path for one in OPERATIONS if one.path.startswith(APP)}
