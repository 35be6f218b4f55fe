"""What is true of every request: an id, a line in the log, headers, and an answer to any error."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import orjson
import pytest
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.testing import capture_logs

from api.responses.envelope import request_info
from api.server.middleware import (
    SECURITY_HEADERS,
    RequestContext,
    new_request_info,
    with_request_id,
)

NOW = datetime(2026, 11, 29, 12, 30, tzinfo=UTC)
ZONE = ZoneInfo("Asia/Shanghai")
STRICT = {name.lower(): value for name, value in SECURITY_HEADERS.items()}


@dataclass
class Exchange:
    """A request to an application behind the middleware, and what became of it."""

    app: ASGIApp
    scope: Scope = field(default_factory=lambda: get("/x"))
    sent: list[Message] = field(default_factory=list)
    lines: list[dict[str, Any]] = field(default_factory=list)
    observed: list[tuple[Scope, int, float]] = field(default_factory=list)

    async def run(self, *, is_noted: bool = True) -> "Exchange":
        async def receive() -> Message:
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            self.sent.append(message)

        context = RequestContext(
            self.app,
            time_zone=ZONE,
            clock=lambda: NOW,
            observe=lambda scope, status, spent_s: self.observed.append((scope, status, spent_s)),
            note=self.lines.append if is_noted else None,
        )
        await with_request_id(context)(self.scope, receive, send)
        return self

    @property
    def headers(self) -> list[tuple[str, str]]:
        return [(name.decode(), value.decode()) for name, value in self.sent[0]["headers"]]


def get(path: str) -> Scope:
    return {"type": "http", "method": "GET", "path": path, "headers": []}


async def silent(_scope: Scope, _receive: Receive, _send: Send) -> None:
    raise ZeroDivisionError("a text that only the log may have")


async def test_a_request_is_one_line_with_its_id_and_is_observed_once() -> None:
    exchange = await Exchange(PlainTextResponse("no", status_code=404)).run()
    (line,) = exchange.lines
    assert 0 <= line.pop("ms") == round(exchange.observed[0][2] * 1000, 1) < 60_000
    request_id = line.pop("request_id")
    assert line == {"event": "request", "method": "GET", "path": "/x", "status": 404}
    assert [(scope is exchange.scope, status) for scope, status, _ in exchange.observed] == [
        (True, 404)
    ]
    assert len(request_id) == 36
    assert ("x-request-id", request_id) in [(name.lower(), text) for name, text in exchange.headers]


async def test_an_id_that_the_client_sends_is_ignored() -> None:
    scope = {**get("/x"), "headers": [(b"x-request-id", b"5a75517f-9f86-4b9b-b21d-f04f7c2e4b11")]}
    exchange = await Exchange(PlainTextResponse("yes"), scope).run()
    assert exchange.lines[0]["request_id"] not in {"", "5a75517f-9f86-4b9b-b21d-f04f7c2e4b11"}
    assert scope["headers"] == [(b"x-request-id", b"5a75517f-9f86-4b9b-b21d-f04f7c2e4b11")]


async def test_routes_find_the_moment_and_the_zone_of_their_request() -> None:
    async def read(scope: Scope, receive: Receive, send: Send) -> None:
        call = request_info(scope)
        answer = f"{call.moment.isoformat()} {call.time_zone.key} {call.path}"
        await PlainTextResponse(answer)(scope, receive, send)

    exchange = await Exchange(read, {**get("/x"), "state": {"kept": 1}}).run()
    assert exchange.sent[1]["body"] == b"2026-11-29T12:30:00+00:00 Asia/Shanghai /x"
    assert exchange.scope["state"]["kept"] == 1


async def test_strict_headers_come_once_and_those_of_the_answer_win() -> None:
    own = {"Cache-Control": "private", "X-Frame-Options": "SAMEORIGIN"}
    headers = (await Exchange(PlainTextResponse("yes", headers=own)).run()).headers
    names = [name for name, _ in headers]
    assert len(names) == len(set(names))
    assert {name: value for name, value in headers if name in STRICT} == STRICT | {
        "cache-control": "private", "x-frame-options": "SAMEORIGIN",
    }  # fmt: skip
    whole = (await Exchange(PlainTextResponse("yes", headers=SECURITY_HEADERS)).run()).headers
    assert sorted(pair for pair in whole if pair[0] in STRICT) == sorted(STRICT.items())


async def test_an_unexpected_error_is_a_500_in_the_envelope_and_its_text_stays_in_the_log() -> None:
    with capture_logs() as lines:
        exchange = await Exchange(silent).run()
    body = orjson.loads(exchange.sent[1]["body"])
    assert (exchange.sent[0]["status"], body["code"]) == (500, 500)
    assert body["request_id"] == exchange.lines[0]["request_id"]
    assert b"only the log" not in exchange.sent[1]["body"]
    assert dict(exchange.headers).items() >= STRICT.items()
    assert (exchange.lines[0]["status"], exchange.observed[0][1]) == (500, 500)
    (failure,) = [line for line in lines if line["event"] == "request failed"]
    assert failure["exc_info"]
    assert (failure["method"], failure["path"]) == ("GET", "/x")
    assert failure["request_id"] == body["request_id"]


async def test_an_error_within_an_answer_ends_it_and_sends_no_second_one() -> None:
    async def broken(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise ZeroDivisionError

    exchange = await Exchange(broken).run()
    assert [message["type"] for message in exchange.sent] == ["http.response.start"]
    assert exchange.lines[0]["status"] == 200


async def test_without_a_writer_the_log_of_the_process_has_the_line() -> None:
    with capture_logs() as lines:
        await Exchange(PlainTextResponse("yes")).run(is_noted=False)
    assert [(line["event"], line["path"], line["status"]) for line in lines] == [
        ("request", "/x", 200)
    ]


@pytest.mark.parametrize("kind", ["lifespan", "websocket"])
async def test_what_is_no_request_passes_unread(kind: str) -> None:
    async def say(scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": scope["type"], "state": scope.get("state")})

    exchange = await Exchange(say, {"type": kind, "path": "/x", "headers": []}).run()
    assert [message["type"] for message in exchange.sent] == [kind]
    assert exchange.sent[0]["state"] is None
    assert (exchange.lines, exchange.observed) == ([], [])


@pytest.mark.parametrize(("path", "shown"), [("/é", "/é"), ("/\ud800", "/?"), ("/x", "/x")])
def test_a_path_that_json_cannot_hold_is_shown_without_it(path: str, shown: str) -> None:
    info = new_request_info(get(path), moment=NOW)
    assert (info.path, info.moment, info.time_zone.key, info.request_id) == (shown, NOW, "UTC", "")
