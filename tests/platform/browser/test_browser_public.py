"""Pages in a real Chromium, all of whose traffic goes through the gate."""

import asyncio
import itertools
import json
import os
from collections.abc import AsyncIterator, Coroutine
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest
import pytest_asyncio
from sqlalchemy import delete, select

from pipelines.platform.browser.client import FRESH_S, BrowserClient
from pipelines.platform.browser.installation import find_chromium
from pipelines.platform.browser.page_loader import BrowserLimits, PageLoader
from pipelines.platform.call_trace import open_call_trace
from pipelines.platform.http.host_policy import HostPolicy, HostRateLimiter, SickPolicy
from pipelines.platform.profiles import PlatformProfile, load_profile
from pipelines.platform.providers import build_provider
from pipelines.platform.providers.browser_public import BrowserPublic
from pipelines.platform.providers.provider import ProviderDependencies
from pipelines.settings import Settings
from tests.fake_clock import FakeClock
from tests.platform.lenient_hosts import AT_ONCE, NoCircuits
from tests.platform.sandbox_platform import PATIENCE_S, PATIENT, ScriptedServer, never
from warehouse.control import ControlStore, hosts, open_control
from warehouse.control.schema import HOSTS
from warehouse.home import open_home
from warehouse.records.errors import (
    BudgetSpentError,
    ProviderUnsupportedError,
    RateLimitedError,
    StructureChangedError,
    UnreachableError,
    UpstreamError,
)
from warehouse.records.search import SearchPosition
from warehouse.records.videos import Video

pytestmark = [pytest.mark.full, pytest.mark.asyncio(loop_scope="module")]
browser = pytest.mark.browser
module_fixture = pytest_asyncio.fixture(scope="module", loop_scope="module")
SEC = "MS4wLjABAAAAq7Rk2dV0xYt3mH8sLw5uZc1nPfJb4eGo6aTi9yWvKrE"
MUSIC = "7361234567890123456"
PAGE = f"/share/user/{SEC}"
POSTS, INFO = "/web/api/v2/aweme/post/", "/web/api/v2/user/info/"
STREAM = "/aweme/v1/web/general/search/stream/"
DONES = (f"/done/{number}" for number in itertools.count())
LIMITS = BrowserLimits(page_s=PATIENCE_S, answer_s=PATIENCE_S, page_bytes=2_000_000)


def reply(
    body: str | bytes, *, kind: str = "text/html", status: str = "200 OK", **more: str
) -> bytes:
    data = body.encode() if isinstance(body, str) else body
    given = {"Content-Type": f"{kind}; charset=utf-8", "Content-Length": str(len(data)), **more}
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in given.items()]
    return "\r\n".join([f"HTTP/1.1 {status}", "Connection: close", *lines, "", ""]).encode() + data


def answer(**document: object) -> bytes:
    return reply(json.dumps({"status_code": 0, **document}), kind="application/json")


def page(script: str, *, title: str = "share", container: str = '{"loaderData":{}}') -> bytes:
    return reply(
        f"<html><head><title>{title}</title></head><body>"
        f"<script>window._ROUTER_DATA = {container}</script><script>{script}</script></body></html>"
    )


def loads(*addresses: str) -> str:
    return "".join(f"fetch({address!r}).catch(() => 0);" for address in addresses)


def loads_and_tells(scripted_server: Any, *addresses: str) -> str:
    """One after the other; the last is asked for once all others were answered."""
    chain = "".join(f".then(() => fetch({one!r})).then(one => one.text())" for one in addresses)
    return f"Promise.resolve(){chain}.then(() => fetch({scripted_server.done!r}));"


def away(host: str) -> bytes:
    return reply("", status="302 Found", Location=f"http://{host}/x")


def posts(*ids: str, has_more: int = 1) -> bytes:
    works = [{"aweme_id": name, "desc": "d", "statistics": {"digg_count": 3}} for name in ids]
    return answer(aweme_list=works, max_cursor=1761900000000, has_more=has_more)


@module_fixture
async def scripted_server() -> AsyncIterator[ScriptedServer]:
    built = ScriptedServer()
    server = await asyncio.start_server(built.serve, "127.0.0.1", 0)
    built.port = server.sockets[0].getsockname()[1]
    async with server:
        yield built


@module_fixture
async def clock() -> FakeClock:
    return FakeClock()


@module_fixture
async def control_store(
    tmp_path_factory: pytest.TempPathFactory, clock: FakeClock
) -> AsyncIterator[ControlStore]:
    url = f"sqlite:///{tmp_path_factory.mktemp('hosts') / 'hosts.sqlite'}"
    with closing(open_control(url, world="sandbox", clock=clock.unix)) as store:
        yield store


@module_fixture
async def policy(control_store: ControlStore) -> HostPolicy:
    return HostPolicy(
        limiter=HostRateLimiter(control_store, AT_ONCE, daily_budget=1000, max_wait_s=3),
        circuits=NoCircuits(),
        sick_policy=SickPolicy.ALWAYS,  # what one test is refused says nothing to the next
    )


@module_fixture
async def provider(
    scripted_server: ScriptedServer, policy: HostPolicy, clock: FakeClock
) -> AsyncIterator[BrowserPublic]:
    """One browser for all tests; starting one takes longer than reading a page."""
    profile = load_profile("sandbox", sandbox_port=scripted_server.port)
    pages = PageLoader(
        profile, policy.limiter, chromium=find_chromium(None), limits=LIMITS,
        allowed=profile.links.redirect, clock=clock,
    )  # fmt: skip
    built = BrowserPublic(
        BrowserClient(profile, policy, pages=pages, limits=PATIENT, clock=clock),
        name="browser-public",
    )  # fmt: skip
    yield built
    await built.aclose()


@pytest.fixture(autouse=True)
def _afresh(
    scripted_server: ScriptedServer,
    control_store: ControlStore,
    clock: FakeClock,
) -> None:
    clock.is_held = False
    clock.advance(FRESH_S)  # what another test's page brought along serves no more
    scripted_server.answers.clear()
    scripted_server.answers[scripted_server.done] = [
        reply("")
    ]  # of the test before, whose page may be late
    scripted_server.done = next(DONES)
    scripted_server.answers[scripted_server.done] = [reply("")]
    scripted_server.seen.clear()
    with control_store.write() as connection:
        connection.execute(delete(HOSTS))


def paths(scripted_server: Any) -> list[str]:
    """What the pages of this test asked for, without a late request of the test before."""
    found = [request.target.partition("?")[0] for request in scripted_server.seen]
    return [path for path in found if path == scripted_server.done or not path.startswith("/done/")]


async def settled[T](visit: Coroutine[Any, Any, T], scripted_server: Any, clock: FakeClock) -> T:
    """A visit that has seen everything that its page loads, however slow the browser is."""
    clock.is_held = True
    visiting = asyncio.ensure_future(visit)
    await scripted_server.asked(scripted_server.done)
    await clock.asleep(1)
    clock.advance(LIMITS.settle_s)
    return await visiting


@browser
async def test_posts_are_what_the_share_page_itself_loads(
    scripted_server: Any, provider: Any
) -> None:
    scripted_server.answers[PAGE] = [page(loads(f"{POSTS}?sec_uid={SEC}&count=20"))]
    scripted_server.answers[POSTS] = [posts("7568123456789012345", "7568123456789012346")]
    with open_call_trace() as call_trace:
        reading = await provider.fetch_author_page(SEC, 0)
    assert [video.aweme_id[-1] for video in reading.value.videos] == ["5", "6"]
    assert (reading.surface, reading.value.has_more) == ("user_posts", True)
    assert reading.payload.startswith(b'{"status_code"')
    assert (call_trace.request_count, reading.source_path) == (2, POSTS)
    assert paths(scripted_server) == [PAGE, POSTS]
    first, second = (request.headers for request in scripted_server.seen)
    assert "Sametrack" in first["user-agent"]
    assert {"referer", "cookie"} & first.keys() == set()
    assert second["referer"].endswith(PAGE)


@browser
async def test_one_visit_serves_what_else_the_page_brought(
    scripted_server: Any, provider: Any, clock: FakeClock
) -> None:
    scripted_server.answers[PAGE] = [
        page(loads_and_tells(scripted_server, f"{POSTS}?sec_uid={SEC}", f"{INFO}?sec_uid={SEC}"))
    ]
    scripted_server.answers[POSTS] = [posts("7568123456789012345")]
    scripted_server.answers[INFO] = [
        answer(user_info={"sec_uid": SEC, "nickname": "n", "follower_count": 5})
    ]
    await settled(provider.fetch_author_page(SEC, 0), scripted_server, clock)
    account = await provider.fetch_account(SEC)
    assert account.value.follower_count == 5
    assert paths(scripted_server) == [PAGE, POSTS, INFO, scripted_server.done]


@browser
async def test_old_answers_of_a_browser_page_are_requested_again(
    scripted_server: Any, provider: Any, clock: FakeClock
) -> None:
    scripted_server.answers[PAGE] = [
        page(loads_and_tells(scripted_server, f"{POSTS}?sec_uid={SEC}", f"{INFO}?sec_uid={SEC}"))
    ]
    scripted_server.answers[POSTS] = [posts("7568123456789012345")]
    scripted_server.answers[INFO] = [
        answer(user_info={"sec_uid": SEC, "nickname": "n", "follower_count": 5})
    ]
    await settled(provider.fetch_author_page(SEC, 0), scripted_server, clock)
    clock.advance(FRESH_S)
    clock.is_held = False
    await provider.fetch_account(SEC)
    assert scripted_server.count(PAGE) == 2


@browser
async def test_a_page_reaches_nothing_but_what_the_gate_permits(
    scripted_server: Any, provider: Any, clock: FakeClock
) -> None:
    """Foreign hosts, other ports of this machine, pictures and posted data stay out."""
    port = scripted_server.port
    script = (
        loads(f"http://evil.example:{port}/a", f"http://127.0.0.1:{port}/b", f"http://localhost:{port}/c",
              f"http://[::1]:{port}/d", "https://www.vidplat.localhost/e")
        + "fetch('/posted', {method: 'POST', body: 'x'}).catch(() => 0);"
        + "navigator.sendBeacon('/beacon', 'x'); new Image().src = '/picture.png';"
        + f"try {{ new WebSocket('ws://evil.example:{port}/f') }} catch (e) {{}}"
        + f"try {{ new WebSocket('ws://127.0.0.1:{port}/g') }} catch (e) {{}}"
        + "try { navigator.serviceWorker.register('/worker.js').catch(() => 0) } catch (e) {}"
        + "window.open('/popup');"
        + loads_and_tells(scripted_server, f"{POSTS}?sec_uid={SEC}")
    )  # fmt: skip
    scripted_server.answers[PAGE] = [page(script)]
    scripted_server.answers[POSTS] = [posts("7568123456789012345")]
    await settled(provider.fetch_author_page(SEC, 0), scripted_server, clock)
    assert paths(scripted_server) == [PAGE, POSTS, scripted_server.done]
    assert {"evil.example", "127.0.0.1"} <= set(provider._client._pages.refused_hosts)


@browser
async def test_browser_sends_no_background_requests(scripted_server: Any, provider: Any) -> None:
    """The second visit is the time in which the browser might have asked for something else."""
    scripted_server.answers[PAGE] = [page(loads(f"{POSTS}?sec_uid={SEC}"))]
    scripted_server.answers[POSTS] = [posts("7568123456789012345")]
    await provider.fetch_author_page(SEC, 0)
    await provider.fetch_author_page(SEC, 0)
    assert paths(scripted_server) == [PAGE, POSTS] * 2
    assert provider._client._pages._proxy.traffic.connections == 2
    assert provider._client._pages.refused_hosts == {}


SAYS_NO = {
    "upstream_verification": [
        page("", title="验证码中间页"),
        reply("<html><script>waf-jschallenge</script></html>"),
    ],
    "upstream_forbidden": [page("", title="访问受限"), reply("no", status="403 Forbidden")],
    "upstream_empty": [reply("")],
    "upstream_page_without_data": [page("")],
    "upstream_structure_changed": [reply("<html><body>new</body></html>")],
    "upstream_region_blocked": [away("overseas.vidplat.localhost")],
    "upstream_substitution": [away("evil.example")],
}


@browser
async def test_a_page_that_loads_nothing_says_why(scripted_server: Any, provider: Any) -> None:
    cases = [(kind, document) for kind, documents in SAYS_NO.items() for document in documents]
    found = []
    for number, (_, document) in enumerate(cases):
        music_id = str(int(MUSIC) + number)
        scripted_server.answers[f"/share/music/{music_id}/"] = [document]
        with pytest.raises(UpstreamError) as caught:
            await provider.fetch_music_page(music_id, 0)
        found.append(caught.value.type)
    assert found == [kind for kind, _ in cases]


@browser
async def test_a_wait_that_the_platform_asks_for_is_kept(
    scripted_server: Any, provider: Any, control_store: ControlStore
) -> None:
    scripted_server.answers[PAGE] = [page(loads(f"{POSTS}?sec_uid={SEC}"))]
    scripted_server.answers[POSTS] = [reply("", status="429 Too Many Requests", Retry_After="40")]
    with pytest.raises(RateLimitedError) as caught:
        await provider.fetch_author_page(SEC, 0)
    assert caught.value.retry_after == 40
    with control_store.read() as connection:
        paused = connection.execute(select(HOSTS.c.host).where(HOSTS.c.paused_until.is_not(None)))
        assert list(paused.scalars()) == ["share.vidplat.localhost"]


@browser
async def test_pages_and_their_questions_wait_for_the_rate_limit_and_a_spent_budget_ends_the_visit(
    scripted_server: Any,
    provider: Any,
    control_store: ControlStore,
    policy: HostPolicy,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scripted_server.answers[PAGE] = [page(loads(f"{POSTS}?sec_uid={SEC}"))]
    scripted_server.answers[POSTS] = [posts("7568123456789012345")]
    await provider.fetch_author_page(SEC, 0)
    assert hosts.spent_today(control_store) == {"share.vidplat.localhost": 2}
    monkeypatch.setattr(policy.limiter, "daily_budget", 2)
    with pytest.raises(BudgetSpentError):
        await provider.fetch_author_page(SEC, 0)
    assert paths(scripted_server) == [PAGE, POSTS]


@browser
async def test_the_last_answer_of_a_first_screen_counts(
    scripted_server: Any, provider: Any, clock: FakeClock
) -> None:
    """A prefetch may be told to verify, and the page then shows results all the same."""
    nil = {"search_nil_type": "verify_check"}
    reported = answer(data=[], has_more=0, cursor=0, search_nil_info=nil)
    work = {"type": 1, "aweme_info": {"aweme_id": "7568123456789012345", "desc": "d"}}
    shown = answer(data=[work], has_more=1, cursor=10, extra={"logid": "2025L"})
    scripted_server.answers["/search/k"] = [
        page(loads_and_tells(scripted_server, *[f"{STREAM}?keyword=k"] * 2))
    ]
    scripted_server.answers[STREAM] = [reported, shown]
    reading = await settled(
        provider.fetch_search_page("k", SearchPosition()), scripted_server, clock
    )
    assert [video.aweme_id for video in reading.value.videos] == ["7568123456789012345"]


@browser
@pytest.mark.soak
async def test_too_large_a_page_ends_the_visit(scripted_server: Any, provider: Any) -> None:
    scripted_server.answers[f"/share/music/{MUSIC}/"] = [reply(b"x" * 3_000_000)]
    with pytest.raises((StructureChangedError, UnreachableError)) as caught:
        await provider.fetch_music_page(MUSIC, 0)
    assert getattr(caught.value, "reason", "") == "body_too_large"


@browser
async def test_cancelling_leaves_no_browser_behind(scripted_server: Any, provider: Any) -> None:
    scripted_server.answers[PAGE] = [never]
    visit = asyncio.create_task(provider.fetch_author_page(SEC, 0))
    await scripted_server.asked(PAGE)
    visit.cancel()
    with pytest.raises(asyncio.CancelledError):
        await visit
    await provider._client._pages.aclose()
    assert browsers_below(os.getpid()) == []


@browser
async def test_a_browser_that_dies_is_a_named_error_and_a_new_one_comes(
    scripted_server: Any, provider: Any
) -> None:
    scripted_server.answers[PAGE] = [never, page(loads(f"{POSTS}?sec_uid={SEC}"))]
    scripted_server.answers[POSTS] = [posts("7568123456789012345")]
    visit = asyncio.create_task(provider.fetch_author_page(SEC, 0))
    await scripted_server.asked(PAGE)
    for process in browsers_below(os.getpid()):
        process.kill()
    with pytest.raises(UnreachableError) as caught:
        await visit
    assert caught.value.reason == "browser_gone"
    assert len((await provider.fetch_author_page(SEC, 0)).value.videos) == 1


@browser
async def test_a_browser_that_does_not_start_is_named(
    scripted_server: Any, scripted_profile: PlatformProfile, control_store: Any, tmp_path: Path
) -> None:
    broken = tmp_path / "chromium"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    limiter = HostRateLimiter(control_store, AT_ONCE, daily_budget=1000, max_wait_s=3)
    pages = PageLoader(scripted_profile, limiter, chromium=broken, allowed=())
    built = BrowserPublic(
        BrowserClient(
            scripted_profile, HostPolicy(limiter=limiter, circuits=NoCircuits()), pages=pages
        ),
        name="browser-public",
    )
    with pytest.raises(UnreachableError) as caught:
        await built.fetch_author_page(SEC, 0)
    await built.aclose()
    assert caught.value.reason == "browser_start"
    assert scripted_server.seen == []


@browser
async def test_the_stand_in_platform_is_read_through_the_browser(
    sandbox: Any, tmp_path: Path
) -> None:
    settings = Settings(
        _env_file=None, profile="sandbox", sandbox_port=sandbox.port, data_provider="browser-public"
    )
    home = open_home(tmp_path, "sandbox")
    with closing(open_control(home.control_url, world="sandbox")) as control:
        provider = build_provider(
            settings.data_provider,
            ProviderDependencies(settings=settings, profile=sandbox.profile, control=control),
        )
        track = (await asyncio.to_thread(sandbox_tracks, sandbox.port))[0]
        first = await provider.fetch_music_page(track["music_id"], 0)
        detail = await provider.fetch_video(first.value.videos[0].aweme_id)
        await provider.aclose()
    assert first.surface == "music_list"
    assert detail.surface in {"video_page", "slides_info"}


ITEM_INFO = "/web/api/v2/aweme/iteminfo/"
VIDEO = "7568123456789012345"
VIDEO_PAGE = f"/share/video/{VIDEO}/"
SHELL = '<div id="reflow_token" xsstoken="AAAA"></div>'


def item_info(aweme_id: str) -> bytes:
    work = {
        "aweme_id": aweme_id, "desc": "d", "create_time": 1_761_900_000,
        "author": {"sec_uid": SEC}, "music": {"mid": MUSIC, "title": "t"},
        "statistics": {
            "digg_count": 4, "comment_count": 3, "collect_count": 2, "share_count": 1,
        },
        "video": {"play_addr": {"url_list": ["http://play.vidplat.localhost/a"]}},
    }  # fmt: skip
    return answer(item_list=[work], filter_list=[])


@browser
async def test_the_video_that_the_script_of_a_page_without_data_loads_is_read(
    scripted_server: Any, provider: Any
) -> None:
    asked = f"{ITEM_INFO}?item_ids={VIDEO}&reflow_id=token"
    scripted_server.answers[VIDEO_PAGE] = [
        reply(f"<html><body>{SHELL}<script>{loads(asked)}</script></body></html>")
    ]
    scripted_server.answers[ITEM_INFO] = [item_info(VIDEO)]
    scripted_server.answers["/web/api/v2/aweme/slidesinfo/"] = [
        reply("", status="412 Precondition Failed")
    ]
    reading = await provider.fetch_video(VIDEO)
    assert (reading.surface, reading.value.statistics.digg_count) == ("video_page", 4)
    assert reading.source_path == ITEM_INFO
    assert reading.payload.startswith(b'{"status_code"')


@browser
async def test_a_page_with_data_is_read_without_waiting_for_its_script(
    scripted_server: Any, provider: Any
) -> None:
    found = json.loads(item_info(VIDEO).partition(b"\r\n\r\n")[2])
    container = json.dumps({"loaderData": {"video_(id)/page": {"videoInfoRes": found}}})
    scripted_server.answers[VIDEO_PAGE] = [
        page(loads(f"{ITEM_INFO}?item_ids={VIDEO}"), container=container)
    ]
    scripted_server.answers[ITEM_INFO] = [never]
    scripted_server.answers["/web/api/v2/aweme/slidesinfo/"] = [
        reply("", status="412 Precondition Failed")
    ]
    reading = await provider.fetch_video(VIDEO)
    assert (reading.surface, reading.source_path) == ("video_page", VIDEO_PAGE)


@browser
async def test_client_side_pages_of_the_sandbox_are_read_through_the_browser(
    sandbox: Any, tmp_path: Path
) -> None:
    """The script of a video page computes a token of its own; without it the JSON is refused."""
    settings = Settings(
        _env_file=None, profile="sandbox", sandbox_port=sandbox.port, data_provider="browser-public"
    )
    home = open_home(tmp_path, "sandbox")
    host = {"Host": f"share.vidplat.localhost:{sandbox.port}"}
    with (
        httpx2.Client(base_url=f"http://127.0.0.1:{sandbox.port}", headers=host) as world,
        closing(open_control(home.control_url, world="sandbox")) as control,
    ):
        track = sandbox_tracks(sandbox.port)[0]
        world.post("/_world/switches", json={"switches": ["page_client_side"]}).raise_for_status()
        fault = {"surface": "slides_info", "kind": "signature_demanded", "times": 0}
        world.post("/_world/faults", json=fault).raise_for_status()
        provider = build_provider(
            settings.data_provider,
            ProviderDependencies(settings=settings, profile=sandbox.profile, control=control),
        )
        try:
            listed = await provider.fetch_music_page(track["music_id"], 0)
            aweme_id = listed.value.videos[0].aweme_id
            unsigned = world.get(ITEM_INFO, params={"item_ids": aweme_id}).json()
            shell = world.get(f"/share/video/{aweme_id}/").text
            detail = await provider.fetch_video(aweme_id)
            assert isinstance(detail.value, Video)
            author = detail.value.author
            assert author is not None
            account = await provider.fetch_account(author.sec_uid)
            works = await provider.fetch_author_page(author.sec_uid, 0)
            tag = world.get("/_world/hashtags").json()["hashtags"][0]["ch_id"]
            hashtag = await provider.fetch_hashtag_page(tag, 0)
        finally:
            world.delete("/_world/faults")
            world.delete("/_world/switches")
            await provider.aclose()
    assert unsigned["status_code"] == 11110
    assert "xsstoken" in shell
    assert aweme_id not in shell
    assert (detail.surface, detail.source_path) == ("video_page", ITEM_INFO)
    assert detail.value.aweme_id == aweme_id
    assert detail.value.statistics.known
    assert [one.surface for one in (account, works, hashtag)] == [
        "user_info", "user_posts", "hashtag_list",
    ]  # fmt: skip


def sandbox_tracks(port: int) -> Any:
    return httpx2.get(f"http://127.0.0.1:{port}/_world/tracks").json()["tracks"]


async def test_without_a_browser_the_source_says_what_to_do(
    scripted_profile: PlatformProfile, control_store: Any, tmp_path: Path
) -> None:
    settings = Settings(
        _env_file=None, data_provider="browser-public", chromium_path=tmp_path / "no-chromium"
    )
    with pytest.raises(ProviderUnsupportedError) as caught:
        build_provider(
            settings.data_provider,
            ProviderDependencies(
                settings=settings, profile=scripted_profile, control=control_store
            ),
        )
    assert "make setup-browser" in str(caught.value.hint)


def browsers_below(pid: int) -> list[psutil.Process]:
    found = psutil.Process(pid).children(recursive=True)
    return [process for process in found if runs(process) and "chromium" in process.name()]


def runs(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@browser
@pytest.mark.parametrize("cursor", [1, 20])
async def test_browser_source_refuses_pages_after_the_first_screen(
    cursor: int, scripted_server: Any, provider: Any
) -> None:
    for call in (
        provider.fetch_music_page(MUSIC, cursor),
        provider.fetch_author_page(SEC, cursor),
        provider.fetch_hashtag_page("1234567", cursor),
        provider.fetch_search_page("k", SearchPosition(cursor=cursor)),
    ):
        with pytest.raises(ProviderUnsupportedError, match="first screens only"):
            await call
    assert scripted_server.seen == []
