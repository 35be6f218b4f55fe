"""What `browser-public` requests directly, because no page loads it by itself, and what it takes of
a page of which one surface fails.
"""

from datetime import UTC, datetime
from typing import Any

import pytest

from pipelines.platform.browser.client import BrowserClient
from pipelines.platform.browser.page_loader import LoadedPage, Visit
from pipelines.platform.call_trace import HttpResponse
from pipelines.platform.http.host_policy import HostPolicy, HostRateLimiter
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.providers.browser_public import BrowserPublic
from tests.fake_clock import FakeClock
from tests.platform.lenient_hosts import AT_ONCE, NoCircuits
from tests.platform.sandbox_platform import PATIENT
from tests.platform.shape_answers import read_index
from warehouse.control import ControlStore
from warehouse.records.errors import RateLimitedError, SametrackError, UnreachableError

pytestmark = pytest.mark.full

PATH = "/web/api/v2/user/info/"


class NoPages:
    """A browser that must not be needed."""

    async def load(self, visit: Visit) -> LoadedPage:
        raise AssertionError(f"{visit.url} was opened")

    async def aclose(self) -> None:
        """Nothing is open."""


@pytest.mark.parametrize("surface", ["user_by_handle", "user_info"])
async def test_an_account_by_its_handle_needs_no_page(
    surface: str,
    scripted_server: Any,
    scripted_profile: PlatformProfile,
    control_store: ControlStore,
    clock: FakeClock,
) -> None:
    """No page is known for a handle; `user_info` by id is what an account's page loads."""
    body = next(one.body for one in read_index() if one.file == "user_by_handle/account.json")
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    scripted_server.answers[PATH] = [head.encode() + body]
    policy = HostPolicy(
        limiter=HostRateLimiter(control_store, AT_ONCE, daily_budget=1000, clock=clock),
        circuits=NoCircuits(),
    )
    pages: Any = NoPages()
    client = BrowserClient(scripted_profile, policy, pages=pages, limits=PATIENT, clock=clock)
    provider = BrowserPublic(client, name="browser-public")
    if surface == "user_by_handle":
        found = await provider.fetch_account_by_handle("@xiaoman88")
        assert found.value.unique_id == "xiaoman88"
    else:
        ask = provider._surfaces.build_request(surface, {"unique_id": "xiaoman88"})
        assert b"xiaoman88" in (await client.fetch(ask)).body
    await provider.aclose()


class OneAccount:
    """A browser in which the page of an account loads its surfaces with these statuses."""

    def __init__(self, profile: PlatformProfile, **statuses: int) -> None:
        self._profile = profile
        self._statuses = statuses
        self.opened: list[str] = []

    async def load(self, visit: Visit) -> LoadedPage:
        self.opened.append(visit.wanted)
        return LoadedPage(
            document=self._answer("user_page", visit.url, 200),
            answers={
                name: self._answer(name, self._profile.address(name), status)
                for name, status in self._statuses.items()
            },
        )

    async def aclose(self) -> None:
        """Nothing is open."""

    def _answer(self, surface: str, url: str, status: int) -> HttpResponse:
        return HttpResponse(
            surface=surface, url=url, status=status, content_type=None, body=surface.encode(),
            fetched_at=datetime(2026, 11, 20, tzinfo=UTC),
        )  # fmt: skip


@pytest.mark.parametrize(
    ("status", "error"), [(503, UnreachableError), (429, RateLimitedError)], ids=["5xx", "429"]
)
async def test_a_surface_that_fails_beside_the_wanted_one_fails_only_when_it_is_wanted(
    status: int,
    error: type[SametrackError],
    scripted_profile: PlatformProfile,
    control_store: ControlStore,
    clock: FakeClock,
) -> None:
    policy = HostPolicy(
        limiter=HostRateLimiter(control_store, AT_ONCE, daily_budget=1000, clock=clock),
        circuits=NoCircuits(),
    )
    pages: Any = OneAccount(scripted_profile, user_info=status, user_posts=200)
    client = BrowserClient(scripted_profile, policy, pages=pages, limits=PATIENT, clock=clock)
    asks = BrowserPublic(client, name="browser-public")._surfaces
    found = await client.fetch(asks.build_request("user_posts", {"sec_uid": "sec"}))
    assert found.body == b"user_posts"
    with pytest.raises(error) as met:
        await client.fetch(asks.build_request("user_info", {"sec_uid": "sec"}))
    assert met.value.to_document()["upstream"] == {
        "surface": "user_info", "reason": None, "status": status,
    }  # fmt: skip
    assert pages.opened == ["user_posts", "user_info"]
    await client.aclose()
