"""The planner at the sandbox: what it asks, what it learns, and what processes share."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from pipelines.platform.http.circuit_breaker import OPEN_REASON, PROBE_EVERY_S
from pipelines.platform.http.client import HttpLimits
from pipelines.platform.providers import vidplat_web
from pipelines.platform.providers.provider import Provider, ProviderDependencies
from pipelines.platform.providers.vidplat_public import VidplatPublic
from pipelines.settings import Settings
from tests.fake_clock import FakeClock
from tests.platform.sandbox_platform import PATIENT, Sandbox
from warehouse.control import ControlStore, open_control
from warehouse.records.errors import (
    RefusedLatelyError,
    UpstreamError,
    VerificationDemandedError,
)
from warehouse.records.videos import Video

pytestmark = pytest.mark.full

LIMITS = replace(PATIENT, body_bytes=HttpLimits().body_bytes)
DETAIL_SURFACES = ("slides_info", "video_page", "web_detail", "web_video_page")
MOST_REQUESTS_PER_DETAIL = 1.15


class Platform:
    """The sandbox's switches, faults and access log."""

    def __init__(self, control: httpx2.Client) -> None:
        self._control = control

    def control_data(self, path: str) -> Any:
        return self._control.get(f"/_world/{path}").raise_for_status().json()

    def switch(self, *names: str) -> None:
        body = {"switches": list(names)}
        self._control.post("/_world/switches", json=body).raise_for_status()

    def challenge(self, surface: str) -> None:
        fault = {"surface": surface, "kind": "challenge", "times": 0}
        self._control.post("/_world/faults", json=fault).raise_for_status()

    def requests(self, surface: str) -> int:
        found = self.control_data(f"access-log/requests?surface={surface}&limit=10000")
        return len(found["requests"])

    def settle(self) -> None:
        for path in ("faults", "switches", "access-log/summary"):
            self._control.delete(f"/_world/{path}").raise_for_status()


@pytest.fixture
def platform(sandbox: Sandbox) -> Iterator[Platform]:
    host = f"share.vidplat.localhost:{sandbox.port}"
    base = f"http://127.0.0.1:{sandbox.port}"
    with httpx2.Client(base_url=base, headers={"Host": host}, verify=False) as control:
        platform = Platform(control)
        platform.settle()
        yield platform
        platform.settle()


@pytest.fixture
def control(tmp_path: Path, clock: FakeClock) -> Iterator[ControlStore]:
    url = f"sqlite:///{tmp_path / 'control.sqlite'}"
    with closing(open_control(url, world="sandbox", clock=clock.unix)) as opened:
        yield opened


type Connect = Callable[..., Provider]


@pytest.fixture
async def connect(
    sandbox: Sandbox, control: ControlStore, clock: FakeClock
) -> AsyncIterator[Connect]:
    """Another provider over the same control store, as another process would have it."""
    async with AsyncExitStack() as stack:

        def connect(*, is_web: bool = False, for_user: bool = False) -> Provider:
            dependencies = ProviderDependencies(
                settings=Settings(_env_file=None, sandbox_port=sandbox.port),
                profile=sandbox.profile,
                control=control,
                limits=LIMITS,
                clock=clock,
                for_user=for_user,
            )
            provider: Provider = (
                vidplat_web.build("vidplat-web", dependencies)
                if is_web
                else VidplatPublic(dependencies.guest(), name="public-graph")
            )
            stack.push_async_callback(provider.aclose)
            return provider

        yield connect


async def listed(provider: Provider, platform: Platform, *, most: int) -> list[str]:
    """Videos that the lists of the tracks show, as a scan meets them."""
    found: dict[str, None] = {}
    for track in platform.control_data("tracks")["tracks"]:
        cursor: int | None = 0
        while cursor is not None and len(found) < most:
            page = (await provider.fetch_music_page(track["music_id"], cursor)).value
            found |= dict.fromkeys(video.aweme_id for video in page.videos)
            cursor = page.cursor if page.has_more else None
    return list(found)[:most]


async def refusal(ask: Any) -> UpstreamError:
    with pytest.raises(UpstreamError) as caught:
        await ask
    return caught.value


async def test_a_world_of_shells_costs_little_more_than_one_request_per_detail(
    connect: Connect, platform: Platform
) -> None:
    platform.switch("page_shells=0.95")
    provider = connect()
    ids = await listed(provider, platform, most=150)
    read = [(await provider.fetch_video(aweme_id)).value for aweme_id in ids]
    public = {
        work["aweme_id"] for work in platform.control_data("works?state=public&limit=5000")["works"]
    }
    assert {one.aweme_id for one in read if isinstance(one, Video)} == public & set(ids)
    spent = sum(platform.requests(surface) for surface in DETAIL_SURFACES)
    assert spent / len(ids) <= MOST_REQUESTS_PER_DETAIL


@pytest.mark.parametrize(
    "switch", ["page_challenge", "page_403", "page_404", "page_no_container", "argus_page"]
)
async def test_a_refused_share_page_costs_no_detail_and_no_request(
    switch: str, connect: Connect, platform: Platform
) -> None:
    platform.switch(switch)
    provider = connect()
    for aweme_id in await listed(provider, platform, most=10):
        assert (await provider.fetch_video(aweme_id)).surface == "slides_info"
    assert platform.requests("video_page") == 0


async def test_no_process_asks_a_challenged_surface_or_the_page_in_its_place(
    connect: Connect, platform: Platform
) -> None:
    one, other = connect(), connect()
    ids = await listed(one, platform, most=5)
    platform.challenge("slides_info")
    errors = [await refusal(who.fetch_video(aweme_id)) for aweme_id in ids for who in (one, other)]
    assert {type(error) for error in errors} == {VerificationDemandedError}
    assert (platform.requests("slides_info"), platform.requests("video_page")) == (1, 0)
    assert [error.reason for error in errors[1:]] == [OPEN_REASON] * (len(errors) - 1)


async def test_two_challenged_surfaces_close_the_host_for_every_process(
    connect: Connect, platform: Platform
) -> None:
    one, other = connect(), connect()
    account = platform.control_data("accounts")["accounts"][0]["sec_uid"]
    track = platform.control_data("tracks")["tracks"][0]
    for surface in ("slides_info", "user_posts"):
        platform.challenge(surface)
    await refusal(one.fetch_video(track["aweme_id"]))
    assert (await other.fetch_account(account)).surface == "user_info"
    await refusal(other.fetch_author_page(account, 0))
    error = await refusal(one.fetch_track(track["music_id"]))
    assert (error.type, error.reason) == ("upstream_verification", OPEN_REASON)
    assert platform.requests("music_info") == 0


async def test_a_forbidden_web_detail_ends_no_reading(connect: Connect, platform: Platform) -> None:
    platform.switch("web_detail_403")
    provider = connect(is_web=True)
    for aweme_id in await listed(provider, platform, most=10):
        assert (await provider.fetch_video(aweme_id)).surface == "slides_info"
    assert (platform.requests("web_detail"), platform.requests("web_video_page")) == (0, 0)


async def test_one_process_learns_of_another_what_a_source_is_worth(
    connect: Connect, platform: Platform
) -> None:
    """Accounts without lists: after a few empty answers nobody asks for more of them."""
    platform.switch("no_user_posts")
    accounts = [one["sec_uid"] for one in platform.control_data("accounts")["accounts"][:10]]
    for sec_uid in accounts[:5]:
        await refusal(connect().fetch_author_page(sec_uid, 0))
    asked = platform.requests("user_page")
    for sec_uid in accounts[5:]:
        await refusal(connect().fetch_author_page(sec_uid, 0))
    assert platform.requests("user_page") == asked


async def screens(provider: Provider, accounts: list[str]) -> list[object]:
    """Read first screens as a scan does: many at once."""
    asked = (provider.fetch_author_page(sec_uid, 0) for sec_uid in accounts)
    return await asyncio.gather(*asked, return_exceptions=True)


def asked_for_posts(platform: Platform) -> tuple[int, int]:
    return platform.requests("user_posts"), platform.requests("user_page")


async def test_a_scan_asks_for_posts_that_guests_do_not_get_three_times_at_most(
    connect: Connect, platform: Platform, clock: FakeClock
) -> None:
    platform.switch("no_user_posts")
    accounts = [one["sec_uid"] for one in platform.control_data("accounts")["accounts"][:12]]
    found = await screens(connect(), accounts)
    assert sum(isinstance(error, RefusedLatelyError) for error in found) == 10
    assert asked_for_posts(platform) == (3, 3)
    await screens(connect(), accounts)
    assert asked_for_posts(platform) == (3, 3)
    clock.advance(PROBE_EVERY_S)
    await screens(connect(), accounts)
    assert asked_for_posts(platform) == (5, 5)  # one item; new visitors have no cookies yet


async def test_posts_are_read_again_once_a_probe_found_them(
    connect: Connect, platform: Platform, clock: FakeClock
) -> None:
    accounts = [one["sec_uid"] for one in platform.control_data("accounts")["accounts"][:12]]
    platform.switch("no_user_posts")
    await screens(connect(), accounts)
    platform.settle()
    clock.advance(PROBE_EVERY_S)
    found = await screens(connect(), accounts)
    assert [error for error in found if isinstance(error, Exception)] == []


async def test_a_user_is_answered_by_the_platform_although_scans_do_not_ask(
    connect: Connect, platform: Platform
) -> None:
    accounts = [one["sec_uid"] for one in platform.control_data("accounts")["accounts"][:12]]
    platform.switch("no_user_posts")
    await screens(connect(), accounts)
    refused = await refusal(connect(for_user=True).fetch_author_page(accounts[0], 0))
    assert refused.type == "upstream_empty"
    platform.settle()
    page = await connect(for_user=True).fetch_author_page(accounts[0], 0)
    assert page.surface == "user_posts"
