"""What `browser-public` requests directly, because no page loads it by itself."""

from typing import Any

import pytest

from pipelines.platform.browser.client import BrowserClient
from pipelines.platform.browser.visit import LoadedPage, Visit
from pipelines.platform.http.rate_limiter import HostRateLimiter
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.providers.browser_public import BrowserPublic
from tests.answers import read_index
from tests.fake_clock import FakeClock
from tests.integration.upstream.conftest import PATIENT, OpenBook

PATH = "/web/api/v2/user/info/"


class NoPages:
    """A browser that must not be needed."""

    async def load(self, visit: Visit) -> LoadedPage:
        raise AssertionError(f"{visit.url} was opened")

    async def aclose(self) -> None:
        """Nothing is open."""


@pytest.mark.parametrize("surface", ["user_by_handle", "user_info"])
async def test_an_account_by_its_handle_needs_no_page(
    surface: str, wire: Any, wire_profile: PlatformProfile, book: OpenBook, clock: FakeClock
) -> None:
    """No page is known for a handle; `user_info` by id is what an account's page loads."""
    body = next(one.body for one in read_index() if one.file == "user_by_handle/account.json")
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    wire.answers[PATH] = [head.encode() + body]
    turns = HostRateLimiter(book, wire_profile.rate, daily_budget=1000, clock=clock)
    pages: Any = NoPages()
    client = BrowserClient(wire_profile, turns, pages=pages, limits=PATIENT, clock=clock)
    provider = BrowserPublic(client, name="browser-public")
    if surface == "user_by_handle":
        found = await provider.fetch_account_by_handle("@xiaoman88")
        assert found.value.unique_id == "xiaoman88"
    else:
        ask = provider._surfaces.ask(surface, unique_id="xiaoman88")
        assert b"xiaoman88" in (await client.fetch(ask)).body
    await provider.aclose()
