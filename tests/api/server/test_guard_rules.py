"""Which hosts, origins and bodies the guard lets in."""

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import Message, Receive, Scope, Send

from api.responses.errors import error_spec
from api.server.middleware import (
    BodyLimits,
    Guard,
    add_security_headers,
    check_host,
    check_site,
)
from warehouse.records.errors import SametrackError

OWN, EVIL = b"http://localhost:8780", b"http://evil.example"
HOST = (b"host", b"localhost:8780")
ALLOWED = frozenset({"localhost", "127.0.0.1", "::1", "box.example"})


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("localhost", "localhost"),
        ("LOCALHOST:8780", "localhost"),
        ("localhost.", "localhost"),
        ("127.0.0.1:1", "127.0.0.1"),
        ("[::1]:8780", "::1"),
        ("[::1]", "::1"),
        ("box.example", "box.example"),
    ],
)
def test_our_own_names_come_in_whatever_their_form(header: str, name: str) -> None:
    assert check_host(Headers({"host": header}), ALLOWED) is None
    assert check_host(Headers({"host": header}), {name}) is None
    assert check_host(Headers({"host": header}), ALLOWED - {name}) is not None


@pytest.mark.parametrize(
    "header",
    [
        "evil.example",
        "localhost.evil.example",
        "evil.example:8780",
        "127.0.0.1.evil.example",
        "2130706433",
        "0.0.0.0",
        "127.1",
        "[::ffff:127.0.0.1]",
        "localhost:99999",
        "localhost:",
        "localhost:80:80",
        "localhost@evil.example",
        "localhost evil.example",
        "localhost/",
        "localhost,evil.example",
        "::1",
        "[::1",
        "",
        ".",
        "ｌocalhost",
        "localhost\\",
    ],
)
def test_guard_refuses_foreign_hosts(header: str) -> None:
    headers = Headers(raw=[(b"host", header.encode("latin-1", "replace"))])
    assert check_host(headers, ALLOWED) is not None


def test_a_missing_or_doubled_host_stays_outside() -> None:
    assert check_host(Headers(raw=[]), ALLOWED) is not None
    assert check_host(Headers(raw=[(b"host", b"localhost")] * 2), ALLOWED) is not None


@given(st.text(max_size=40))
def test_no_text_makes_the_host_check_fail_open(text: str) -> None:
    headers = Headers(raw=[(b"host", text.encode("utf-8", "replace"))])
    is_served = check_host(headers, ALLOWED) is None
    assert not is_served or text.lower().strip("[").startswith(tuple(ALLOWED))


@pytest.mark.parametrize(
    ("method", "headers", "always", "is_let_in"),
    [
        ("POST", {}, True, True),
        ("POST", {"sec-fetch-site": "same-origin"}, True, True),
        ("POST", {"sec-fetch-site": "none"}, True, True),
        ("POST", {"sec-fetch-site": "cross-site"}, False, False),
        ("POST", {"sec-fetch-site": "same-site"}, False, False),
        ("POST", {"sec-fetch-site": "new-word"}, False, False),
        ("DELETE", {"sec-fetch-site": "cross-site"}, False, False),
        ("GET", {"sec-fetch-site": "cross-site"}, True, False),
        ("GET", {"sec-fetch-site": "cross-site"}, False, True),
        ("POST", {"origin": "http://localhost:8780"}, True, True),
        ("POST", {"origin": "http://localhost:9999"}, True, False),
        ("POST", {"origin": "http://localhost"}, True, False),
        ("POST", {"origin": "null"}, True, False),
        ("POST", {"origin": "http://evil.example"}, True, False),
        ("POST", {"origin": "http://localhost:8780.evil.example"}, True, False),
        ("POST", {"origin": "http://evil@localhost:8780"}, True, False),
        ("POST", {"origin": "file://localhost:8780"}, True, False),
        ("POST", {"origin": ""}, True, False),
        ("POST", {"origin": "http://evil.example", "sec-fetch-site": "same-origin"}, True, False),
        ("GET", {"origin": "http://localhost:8780"}, True, True),
        ("GET", {"origin": "http://evil.example"}, True, False),
        ("GET", {"origin": "null"}, True, False),
        ("HEAD", {"origin": "http://evil.example"}, True, False),
        ("GET", {"origin": "http://evil.example", "sec-fetch-site": "same-origin"}, True, False),
        ("GET", {"origin": "http://evil.example"}, False, True),
    ],
)
def test_other_sites_pages_stay_outside(
    method: str, headers: dict[str, str], always: bool, is_let_in: bool
) -> None:
    given_headers = Headers({"host": "localhost:8780", **headers})
    assert (check_site(given_headers, method, always=always) is None) == is_let_in


@pytest.mark.parametrize("origins", [[OWN, EVIL], [EVIL, OWN], [OWN, OWN, EVIL], [EVIL]])
def test_guard_refuses_a_request_with_any_foreign_origin(origins: list[bytes]) -> None:
    headers = Headers(raw=[HOST, *((b"origin", origin) for origin in origins)])
    for method in ("POST", "GET"):
        assert check_site(headers, method, always=True) is not None
    assert check_site(headers, "GET", always=False) is None


@pytest.mark.parametrize("origin", [OWN, b"https://localhost:8780", b"HTTP://LOCALHOST:8780"])
def test_our_own_pages_may_ask_however_their_origin_is_written(origin: bytes) -> None:
    headers = Headers(raw=[(b"host", b"LocalHost:8780"), (b"origin", origin), (b"origin", origin)])
    assert check_site(headers, "POST", always=True) is None


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
def test_a_safe_read_is_open_to_other_pages_unless_it_is_private(method: str) -> None:
    headers = Headers({"host": "localhost", "sec-fetch-site": "cross-site"})
    assert check_site(headers, method, always=False) is None
    assert check_site(headers, method, always=True) is not None


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("localhost:65535", "localhost"),
        ("localhost:65536", None),
        ("localhost:0", "localhost"),
        ("localhost:123456", None),
        ("box-1_a.example", "box-1_a.example"),
        ("localhost..", "localhost."),
        (".", None),
    ],
)
def test_a_host_header_is_read_to_the_last_port_and_dot(header: str, name: str | None) -> None:
    served = {header.partition(":")[0].removesuffix("."), ""}
    assert (check_host(Headers({"host": header}), served) is None) == (name is not None)
    assert check_host(Headers({"host": header}), served - {name or ""}) is not None


def test_a_refused_host_is_told_apart_from_a_missing_one() -> None:
    missing, foreign = (
        check_host(Headers(raw=[]), ALLOWED),
        check_host(Headers({"host": "evil.example"}), ALLOWED),
    )
    assert missing is not None
    assert foreign is not None
    assert "one Host header" in missing.detail
    assert "not served here" in foreign.detail


class Door:
    """The guard before an application that says `in`."""

    def __init__(self) -> None:
        self.guard = Guard(
            self._inside, allowed_hosts=["localhost"], reject=refuse, private_paths=("/private",)
        )
        self.was_inside = False

    async def _inside(self, scope: Scope, receive: object, send: object) -> None:
        self.was_inside = True

    async def knock(
        self,
        *headers: tuple[bytes, bytes],
        kind: str = "http",
        method: str = "GET",
        path: str = "/",
    ) -> list[Message]:
        """What the guard itself answers; nothing where the request came in."""
        self.was_inside = False
        scope: Scope = {"type": kind, "path": path, "headers": list(headers)}
        if kind == "http":
            scope["method"] = method
        answered = await answer(self.guard, scope)
        assert self.was_inside == (not answered)
        return answered


def refuse(_scope: Scope, error: SametrackError) -> Response:
    return PlainTextResponse(error.type, status_code=error_spec(error.type).status)


async def answer(app: object, scope: Scope, *messages: Message) -> list[Message]:
    """All that an application sends in answer to a scope and these messages."""
    sent: list[Message] = []
    waiting = iter(messages)

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return next(waiting)

    await app(scope, receive, send)  # type: ignore[operator]  # any ASGI application
    return sent


async def answered_body(door: Door, path: str) -> bytes:
    """The body of what the guard itself answers."""
    body: bytes = (await door.knock(HOST, path=path))[1]["body"]
    return body


FROM_ELSEWHERE = (b"sec-fetch-site", b"cross-site")


async def test_the_door_opens_for_programs_and_own_pages_and_for_nobody_else() -> None:
    door = Door()
    assert await door.knock(HOST, method="POST") == []
    assert await door.knock(HOST, FROM_ELSEWHERE) == []
    own_page = (HOST, (b"origin", OWN), (b"sec-fetch-site", b"same-origin"))
    assert await door.knock(*own_page, method="POST") == []
    for refused, status in (
        (await door.knock((b"host", b"evil.example")), 421),
        (await door.knock(HOST, FROM_ELSEWHERE, method="POST"), 403),
        (await door.knock(HOST, (b"origin", OWN), (b"origin", EVIL), method="POST"), 403),
        (await door.knock(HOST, FROM_ELSEWHERE, path="/private/x"), 403),
    ):
        assert refused[0]["status"] == status


async def test_a_socket_of_another_page_is_closed_for_breaking_a_rule() -> None:
    door = Door()
    assert await door.knock(HOST, kind="websocket") == []
    assert await door.knock(HOST, (b"origin", OWN), kind="websocket") == []
    for headers in ((HOST, (b"origin", EVIL)), (HOST, FROM_ELSEWHERE), ()):
        closed = await door.knock(*headers, kind="websocket")
        assert closed == [{"type": "websocket.close", "code": 1008}]


@pytest.mark.parametrize("sign", ["\x00", "\n", "\r", "\x1f", "\x7f", "\x80", "\x9f"])
async def test_a_path_with_a_control_character_leads_nowhere(sign: str) -> None:
    door = Door()
    for path in (f"/private{sign}", f"/{sign}private", sign):
        for headers in ((HOST,), (HOST, FROM_ELSEWHERE), ((b"host", b"evil.example"),), ()):
            refused = await door.knock(*headers, path=path)
            assert refused[0]["status"] == 404
            closed = await door.knock(*headers, kind="websocket", path=path)
            assert closed == [{"type": "websocket.close", "code": 1008}]
    assert await answered_body(door, f"/private{sign}") == b"not_found"


@pytest.mark.parametrize("sign", [" ", "~", "\xa0", "é", "纸", "\ufffd"])
async def test_guard_passes_paths_with_other_characters(sign: str) -> None:
    assert await Door().knock(HOST, path=f"/{sign}") == []


async def test_guard_passes_lifespan_events_unread() -> None:
    assert await Door().knock(kind="lifespan") == []


class Reader:
    """An application that reads its whole body and answers with its length."""

    async def __call__(self, scope: Scope, receive: object, send: object) -> None:
        length, more = 0, True
        while more:
            message = await receive()  # type: ignore[operator]  # as ASGI hands it in
            length += len(message.get("body", b""))
            more = message.get("more_body", False)
        await send({"type": "read", "length": length})  # type: ignore[operator]  # the same


def _body(*parts: bytes) -> list[Message]:
    return [
        {"type": "http.request", "body": part, "more_body": place + 1 < len(parts)}
        for place, part in enumerate(parts)
    ]


def _limited() -> Guard:
    return Guard(
        Reader(),
        allowed_hosts=["localhost"],
        reject=refuse,
        private_paths=(),
        body=BodyLimits(max_bytes=10, timeout_s=5),
    )


def _post(*headers: tuple[bytes, bytes], kind: str = "http") -> Scope:
    return {"type": kind, "method": "POST", "path": "/", "headers": [HOST, *headers]}


def _declared(length: bytes) -> Scope:
    return _post((b"content-length", length))


@pytest.mark.parametrize("length", [b"11", b"9" * 30])
async def test_a_body_declared_too_long_is_refused_unread(length: bytes) -> None:
    assert (await answer(_limited(), _declared(length)))[0]["status"] == 413


@pytest.mark.parametrize("length", [b"10", b"", b"-1", b"+11", b"eleven"])
async def test_a_body_of_the_limit_is_read(length: bytes) -> None:
    sent = await answer(_limited(), _declared(length), *_body(b"12345", b"", b"67890"))
    assert sent == [{"type": "read", "length": 10}]


@pytest.mark.parametrize("header", [(b"content-length", b"1"), (b"transfer-encoding", b"chunked")])
async def test_a_body_that_grows_beyond_the_limit_is_cut_off(header: tuple[bytes, bytes]) -> None:
    with pytest.raises(SametrackError, match="larger than 10 bytes") as caught:
        await answer(_limited(), _post(header), *_body(b"12345", b"67890", b"1"))
    assert caught.value.type == "body_too_large"


async def test_a_body_that_does_not_arrive_in_time_is_refused_where_it_is_read() -> None:
    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError("nothing arrives")

    guard = replace(_limited(), body=BodyLimits(max_bytes=10, timeout_s=0.001))
    with pytest.raises(SametrackError, match=r"within 0\.001 seconds") as caught:
        await guard(_declared(b"1"), receive, refuse)  # type: ignore[arg-type]  # never called
    assert caught.value.type == "request_timeout"


async def test_the_time_of_a_body_does_not_bound_what_comes_after_it() -> None:
    waiting: list[Message] = [{"type": "http.request", "body": b"1"}, {"type": "http.disconnect"}]
    received: list[Message] = []

    async def receive() -> Message:
        if received:  # long after the body, as a client that waits for events
            for _ in range(3):
                await asyncio.sleep(0)
        return waiting.pop(0)

    async def listen(_scope: Scope, receive: Receive, _send: Send) -> None:
        received.append(await receive())
        received.append(await receive())

    guard = replace(_limited(), app=listen, body=BodyLimits(max_bytes=10, timeout_s=0.0))
    await guard(_declared(b"1"), receive, refuse)  # type: ignore[arg-type]  # never called
    assert [message["type"] for message in received] == ["http.request", "http.disconnect"]


async def test_body_limit_does_not_apply_to_websockets() -> None:
    scope = _post((b"content-length", b"11"), kind="websocket")
    sent = await answer(_limited(), scope, *_body(b"x" * 11))
    assert sent == [{"type": "read", "length": 11}]


def test_strict_headers_are_added_where_an_answer_brings_none_of_its_own() -> None:
    strict = {
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
        "cache-control": "no-store",
    }
    bare, own = MutableHeaders(), MutableHeaders({"cache-control": "max-age=60"})
    add_security_headers(bare)
    add_security_headers(own)
    assert dict(bare) == strict
    assert dict(own) == strict | {"cache-control": "max-age=60"}
