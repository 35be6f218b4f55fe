"""The proxy that is the link gate, without a browser."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.platform.browser.proxy import GateProxy, ProxyRequest, parse_proxy_request
from pipelines.platform.profiles import PlatformProfile

pytestmark = pytest.mark.full

PAGE = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
SHARE = "share.vidplat.localhost"


@pytest.fixture
async def proxy(scripted_profile: PlatformProfile) -> AsyncIterator[GateProxy]:
    built = GateProxy(
        scripted_profile, allowed=scripted_profile.links.redirect, limit_bytes=100_000
    )
    await built.start()
    yield built
    await built.aclose()


async def say(proxy: GateProxy, text: str) -> bytes:
    """Send a head to the proxy; everything that comes back."""
    port = int(proxy.address.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(text.replace("\n", "\r\n").encode())
    await writer.drain()
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer


async def test_a_permitted_page_comes_through_under_its_own_name(
    scripted_server: Any, proxy: GateProxy
) -> None:
    scripted_server.answers["/page"] = [PAGE]
    address = f"http://{SHARE}:{scripted_server.port}/page?x=1"
    head = f"GET {address} HTTP/1.1\nHost: other\nProxy-Connection: a\n\n"
    assert (await say(proxy, head)).endswith(b"hello")
    (request,) = scripted_server.seen
    assert request.target == "/page?x=1"
    assert request.headers == {"host": f"{SHARE}:{scripted_server.port}", "connection": "close"}


@pytest.mark.parametrize(
    "head",
    [
        "GET http://evil.example/page HTTP/1.1\n\n",
        "GET http://127.0.0.1:{port}/page HTTP/1.1\n\n",
        "GET http://localhost:{port}/page HTTP/1.1\n\n",
        "GET http://share.vidplat.localhost:1/page HTTP/1.1\n\n",
        "GET http://share.vidplat.localhost.evil.example:{port}/page HTTP/1.1\n\n",
        "GET http://a@share.vidplat.localhost:{port}/page HTTP/1.1\n\n",
        "GET /page HTTP/1.1\nHost: share.vidplat.localhost\n\n",
        "POST http://share.vidplat.localhost:{port}/page HTTP/1.1\nContent-Length: 1\n\nx",
        "CONNECT share.vidplat.localhost:{port} HTTP/1.1\n\n",
        "CONNECT evil.example:443 HTTP/1.1\n\n",
        "nonsense\n\n",
    ],
)
async def test_browser_proxy_refuses_and_counts_requests_to_other_hosts(
    head: str, scripted_server: Any, proxy: GateProxy
) -> None:
    scripted_server.answers["/page"] = [PAGE]
    assert await say(proxy, head.format(port=scripted_server.port)) == b""
    assert scripted_server.seen == []
    assert sum(proxy.traffic.refused.values()) == 1


async def test_browser_proxy_forwards_one_request_per_connection(
    scripted_server: Any, proxy: GateProxy
) -> None:
    scripted_server.answers["/page"] = [PAGE]
    scripted_server.answers["/other"] = [PAGE]
    one = f"GET http://{SHARE}:{scripted_server.port}/page HTTP/1.1\n\n"
    await say(proxy, one + one.replace("/page", "/other"))
    assert [request.target for request in scripted_server.seen] == ["/page"]


async def test_a_tunnel_is_opened_where_the_profile_speaks_https(
    scripted_server: Any, scripted_profile: PlatformProfile
) -> None:
    """What is inside a tunnel is the host's and the browser's business."""
    scripted_server.answers["/inside"] = [PAGE]
    profile = scripted_profile.model_copy(update={"scheme": "https"})
    proxy = GateProxy(profile, allowed=profile.links.redirect, limit_bytes=100_000)
    await proxy.start()
    connect = f"CONNECT {SHARE}:{scripted_server.port} HTTP/1.1\n\n"
    head = f"{connect}GET /inside HTTP/1.1\nHost: {SHARE}\n\n"
    answer = await say(proxy, head)
    plain = await say(proxy, f"GET http://{SHARE}:{scripted_server.port}/inside HTTP/1.1\n\n")
    await proxy.aclose()
    assert answer.startswith(b"HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 200 OK")
    assert plain == b""


async def test_a_page_may_not_bring_more_than_its_share(
    scripted_server: Any, proxy: GateProxy
) -> None:
    scripted_server.answers["/page"] = [b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 300_000]
    answer = await say(proxy, f"GET http://{SHARE}:{scripted_server.port}/page HTTP/1.1\n\n")
    assert len(answer) < 300_000
    assert proxy.traffic.over.is_set()
    proxy.begin()
    assert not proxy.traffic.over.is_set()


async def test_hosts_that_a_page_invents_are_counted_in_one_sum(proxy: GateProxy) -> None:
    for number in range(300):
        proxy.traffic.refuse(f"{number}.example")
    assert len(proxy.traffic.refused) <= 101
    assert sum(proxy.traffic.refused.values()) == 300


@given(st.binary(max_size=200))
def test_no_bytes_are_read_as_an_order_that_they_are_not(head: bytes) -> None:
    found = parse_proxy_request(head + b"\r\n\r\n")
    assert found is None or isinstance(found, ProxyRequest)
