"""Every surface of the running stand-in platform is read; each of its ways to say no is named."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import httpx2
import pytest

from pipelines.platform.http.client import GuestClient, HttpLimits
from pipelines.platform.http.host_policy import HostPolicy, HostRateLimiter
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.providers.chart_public import ChartPublic
from pipelines.platform.providers.vidplat_public import VidplatPublic
from pipelines.platform.refusal_table import refusal_of
from pipelines.platform.sources import table
from pipelines.platform.sources.table import Reading
from tests.platform.lenient_hosts import AT_ONCE, NoCircuits
from tests.platform.sandbox_platform import PATIENT
from warehouse.records.errors import SametrackError, UnresolvedIdError
from warehouse.records.search import SearchPosition
from warehouse.records.videos import Unavailability, Video

pytestmark = pytest.mark.full

LIMITS = replace(PATIENT, attempts=2, body_bytes=HttpLimits().body_bytes)
LONG_S = 120.0  # longer than the client is patient


@dataclass
class Platform:
    """The platform's own knowledge of itself, and its levers."""

    control: httpx2.Client

    def control_data(self, path: str) -> Any:
        return self.control.get(f"/_world/{path}").raise_for_status().json()

    def switch(self, *names: str, mode: str = "generous") -> None:
        asked = {"mode": mode, "switches": list(names)}
        self.control.post("/_world/switches", json=asked).raise_for_status()

    def break_surface(self, surface: str, kind: str, *, times: int = 0) -> None:
        fault = {"surface": surface, "kind": kind, "times": times, "retry_after": LONG_S}
        self.control.post("/_world/faults", json=fault).raise_for_status()


def _control(port: int) -> httpx2.Client:
    host = f"share.vidplat.localhost:{port}"
    return httpx2.Client(base_url=f"http://127.0.0.1:{port}", headers={"Host": host}, verify=False)


@pytest.fixture
def platform(sandbox: Any) -> Iterator[Platform]:
    with _control(sandbox.port) as control:
        yield Platform(control)
        control.delete("/_world/faults").raise_for_status()
        control.delete("/_world/switches").raise_for_status()


def _client(profile: PlatformProfile, control_store: Any) -> GuestClient:
    policy = HostPolicy(
        limiter=HostRateLimiter(control_store, AT_ONCE, daily_budget=100_000, max_wait_s=3),
        circuits=NoCircuits(),
    )
    return GuestClient(profile, policy, limits=LIMITS)


@pytest.fixture
async def vidplat(sandbox: Any, control_store: Any) -> AsyncIterator[VidplatPublic]:
    provider = VidplatPublic(_client(sandbox.profile, control_store), name="public-graph")
    yield provider
    await provider.aclose()


@pytest.fixture
async def chart(sandbox: Any, control_store: Any) -> AsyncIterator[ChartPublic]:
    provider = ChartPublic(_client(sandbox.profile.for_chart(), control_store))
    yield provider
    await provider.aclose()


@dataclass(frozen=True)
class Facts:
    """One of each, as the platform itself tells."""

    music_id: str
    title: str
    ch_id: str
    listed: list[str]
    sec_uid: str
    aweme_id: str


@pytest.fixture(scope="session")
def facts(sandbox: Any) -> Facts:
    with _control(sandbox.port) as control:
        control_data = Platform(control).control_data
        track = control_data("tracks")["tracks"][0]
        hashtags = control_data("hashtags")["hashtags"]
        ch_id = next(one["ch_id"] for one in hashtags if not one["repeats_cursor"])
        return Facts(
            music_id=track["music_id"],
            title=track["title"],
            ch_id=ch_id,
            listed=control_data(f"hashtags/{ch_id}")["listed"],
            sec_uid=control_data("accounts")["accounts"][0]["sec_uid"],
            aweme_id=control_data("works?state=public&limit=1")["works"][0]["aweme_id"],
        )


@pytest.fixture
def asks(
    facts: Facts, vidplat: VidplatPublic, chart: ChartPublic
) -> dict[str, Callable[[], Awaitable[Reading[Any]]]]:
    """A question to each surface, by its name."""
    later = SearchPosition(cursor=15, search_id="s", backtrace="b")
    return {
        "video_page": lambda: vidplat.fetch_video(facts.aweme_id),
        "slides_info": lambda: vidplat.fetch_video(facts.aweme_id),
        "music_info": lambda: vidplat.fetch_track(facts.music_id),
        "music_list": lambda: vidplat.fetch_music_page(facts.music_id, 0),
        "hashtag_info": lambda: vidplat.fetch_hashtag(facts.ch_id),
        "hashtag_list": lambda: vidplat.fetch_hashtag_page(facts.ch_id, 0),
        "user_info": lambda: vidplat.fetch_account(facts.sec_uid),
        "user_posts": lambda: vidplat.fetch_author_page(facts.sec_uid, 0),
        "search_stream": lambda: vidplat.fetch_search_page(facts.title, SearchPosition()),
        "search_single": lambda: vidplat.fetch_search_page(facts.title, later),
        "chart_issues": chart.fetch_issues,
        "chart_songs": lambda: chart.fetch_songs(None, 1),
    }


async def _said(ask: Awaitable[Reading[Any]]) -> str:
    """The surface that gave records, or the row of the refusal."""
    try:
        reading = await ask
    except SametrackError as error:
        row = refusal_of(error)
        return row.name if row else error.type
    return "unavailable" if isinstance(reading.value, Unavailability) else reading.surface


SAID = [
    ("video_page", "challenge", "slides_info"),
    ("video_page", "403", "slides_info"),
    ("video_page", "structure", "slides_info"),
    ("slides_info", "empty", "video_page"),
    ("slides_info", "blocked", "video_page"),
    ("slides_info", "403", "video_page"),
    ("slides_info", "500", "video_page"),
    ("slides_info", "structure", "video_page"),
    ("slides_info", "empty_detail", "video_page"),
    ("slides_info", "login_2483", "login_code"),
    ("slides_info", "challenge", "script_challenge"),
    ("slides_info", "captcha", "captcha_page"),
    ("slides_info", "429", "rate_limited"),
    ("slides_info", "reset", "unreachable"),
    ("slides_info", "region", "region_redirect"),
    ("slides_info", "verify_redirect", "verify_redirect"),
    ("slides_info", "substitution", "another_item"),
    ("music_info", "substitution", "another_item"),
    ("music_info", "structure", "structure"),
    ("music_list", "structure", "trends_list"),
    ("music_list", "empty", "trends_list"),
    ("hashtag_info", "substitution", "another_item"),
    ("hashtag_info", "structure", "structure"),
    ("hashtag_info", "blocked", "blocked"),
    ("hashtag_list", "structure", "structure"),
    ("hashtag_list", "empty_but_more", "hashtag_list"),
    ("user_info", "substitution", "another_item"),
    ("user_info", "structure", "user_page"),
    ("user_info", "empty", "user_page"),
    ("user_posts", "empty", "user_page"),
    ("search_stream", "verify_check", "verify_check"),
    ("search_stream", "verify_then_healthy", "search_stream"),
    ("search_stream", "login_2483", "login_code"),
    ("search_stream", "hit_shark", "risk_control"),
    ("search_single", "antispam_check", "risk_control"),
    ("search_stream", "params_check", "search_stream"),
    ("search_single", "invalid_app", "search_single"),
    ("user_posts", "status_code_8", "login_code_8"),
    ("hashtag_list", "captcha_json", "captcha_json"),
    ("music_list", "argus", "script_challenge"),
    ("user_info", "code_10001010A", "too_frequent"),
    ("chart_issues", "chart_1002", "chart_too_frequent"),
    ("chart_songs", "chart_1002", "chart_too_frequent"),
    ("search_stream", "nil", "search_stream"),
    ("search_stream", "empty_ambiguous", "search_stream"),
    ("search_stream", "structure", "structure"),
    ("search_stream", "empty", "empty_body"),
    ("search_single", "verify_check", "verify_check"),
    ("search_single", "login_2483", "login_code"),
    ("search_single", "structure", "structure"),
    ("chart_issues", "text_body", "chart_denied"),
    ("chart_issues", "wrong_id", "chart_wrong_id"),
    ("chart_issues", "chart_status", "chart_status"),
    ("chart_issues", "chart_errcode", "chart_errcode"),
    ("chart_issues", "timestamp_only", "chart_no_such"),
    ("chart_issues", "cold_edge", "chart_empty"),
    ("chart_issues", "res_tag", "chart_issues"),
    ("chart_issues", "empty", "chart_http"),
    ("chart_issues", "403", "forbidden"),
    ("chart_songs", "403", "chart_latest"),
    ("chart_issues", "structure", "structure"),
    ("chart_songs", "text_body", "chart_latest"),
    ("chart_songs", "cold_edge", "chart_latest"),
    ("chart_songs", "timestamp_only", "chart_latest"),
    ("chart_songs", "res_tag", "chart_songs"),
    ("chart_songs", "structure", "chart_latest"),
]


@pytest.mark.parametrize(("surface", "kind", "said"), SAID)
async def test_platform_says_no_and_is_understood(
    surface: str, kind: str, said: str, asks: Any, platform: Platform
) -> None:
    platform.break_surface(surface, kind)
    assert await _said(asks[surface]()) == said


@pytest.mark.parametrize("form", ["unended", "cut", "glued", "lines"])
async def test_a_search_stream_keeps_what_came_whole_in_any_form(
    form: str, vidplat: VidplatPublic, platform: Platform, facts: Facts
) -> None:
    whole = (await vidplat.fetch_search_page(facts.title, SearchPosition())).value
    platform.switch(f"search_stream_{form}")
    found = (await vidplat.fetch_search_page(facts.title, SearchPosition())).value
    assert found.is_cut == (form in {"unended", "cut"})
    if form != "cut":
        assert found.videos
        assert [video.aweme_id for video in found.videos] == [
            video.aweme_id for video in whole.videos
        ]
    assert {video.aweme_id for video in found.videos} <= {one.aweme_id for one in whole.videos}


async def test_a_guest_reads_followers_over_all_platforms_without_the_long_id(
    vidplat: VidplatPublic, platform: Platform, facts: Facts
) -> None:
    usual = (await vidplat.fetch_account(facts.sec_uid)).value
    platform.switch("mplatform_followers_only", "sec_uid_missing")
    found = (await vidplat.fetch_account(facts.sec_uid)).value
    assert (found.sec_uid, found.follower_count) == (facts.sec_uid, usual.follower_count)
    assert usual.follower_count_source == "follower_count"
    assert found.follower_count_source == "mplatform_followers_count"


@pytest.mark.parametrize("mode", ["generous", "autumn-2026"])
async def test_an_account_is_found_by_its_handle(
    mode: str, vidplat: VidplatPublic, platform: Platform, facts: Facts
) -> None:
    by_id = (await vidplat.fetch_account(facts.sec_uid)).value
    platform.switch(mode=mode)
    found = await vidplat.fetch_account_by_handle(f"@{by_id.unique_id}")
    assert (found.surface, found.value.sec_uid) == ("user_by_handle", facts.sec_uid)
    assert found.value.follower_count == by_id.follower_count
    with pytest.raises(UnresolvedIdError, match="handle"):
        await vidplat.fetch_account_by_handle("@nobody-here-999999")


async def test_a_list_of_foreign_rows_is_read_with_the_music_that_each_names(
    vidplat: VidplatPublic, platform: Platform, facts: Facts
) -> None:
    platform.switch("list_foreign_rows=1", "list_bare")
    page = (await vidplat.fetch_music_page(facts.music_id, 0)).value
    own = {video.music.music_id for video in page.videos if video.music}
    named = [video.music.music_id for video in page.foreign if video.music]
    assert own <= {facts.music_id}
    assert facts.music_id not in named
    assert len(named) == len(page.foreign) > len(page.videos)
    assert page.is_substituted


async def test_the_song_inside_a_user_sound_is_read_from_its_title(
    vidplat: VidplatPublic, platform: Platform
) -> None:
    platform.switch("sound_title_names_song")
    works = platform.control_data("works?state=public&limit=40")["works"]
    ids = dict.fromkeys(work["music_id"] for work in works)
    tracks = [(await vidplat.fetch_track(music_id)).value for music_id in ids]
    named = [track for track in tracks if "原声中的歌曲" in (track.title or "")]
    assert named
    assert all(track.mapped_title and track.mapped_title in str(track.title) for track in named)


async def test_a_refused_music_list_is_walked_to_its_end_at_its_trend(
    vidplat: VidplatPublic, platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "PAGE_SIZE", "4")
    tracks = platform.control_data("tracks")["tracks"]
    music_id = max(tracks, key=lambda track: track["listed_count"])["music_id"]
    platform.break_surface("music_list", "403", times=1)
    seen: dict[str, Video] = {}
    surfaces: set[str] = set()
    cursor, has_more = 0, True
    while has_more:
        reading = await vidplat.fetch_music_page(music_id, cursor)
        seen |= {video.aweme_id: video for video in reading.value.videos}
        surfaces.add(reading.surface)
        cursor, has_more = reading.value.cursor or 0, bool(reading.value.has_more)
    assert surfaces == {"trends_list"}
    assert len(seen) > 4
    assert all(video.author and video.create_time for video in seen.values())
    assert any(video.statistics.known for video in seen.values())


async def test_hashtag_is_walked_to_its_end(vidplat: VidplatPublic, facts: Facts) -> None:
    hashtag = (await vidplat.fetch_hashtag(facts.ch_id)).value
    assert hashtag.name
    seen: list[str] = []
    cursor, has_more = 0, True
    while has_more:
        page = (await vidplat.fetch_hashtag_page(facts.ch_id, cursor)).value
        seen += [video.aweme_id for video in page.videos]
        cursor, has_more = page.cursor or 0, bool(page.has_more)
    assert seen == facts.listed


async def test_hashtag_that_tells_the_current_cursor_stalls(
    vidplat: VidplatPublic, platform: Platform, facts: Facts
) -> None:
    platform.break_surface("hashtag_list", "stalled_cursor")
    assert (await vidplat.fetch_hashtag_page(facts.ch_id, 20)).value.cursor == 20


async def test_unknown_hashtag_is_the_callers_mistake(vidplat: VidplatPublic) -> None:
    with pytest.raises(UnresolvedIdError):
        await vidplat.fetch_hashtag("99999999")


async def test_search_is_walked_from_the_framed_screen_to_its_end(
    vidplat: VidplatPublic, platform: Platform, facts: Facts
) -> None:
    found = platform.control_data(f"search?term={facts.title}")["aweme_ids"]
    seen: list[str] = []
    surfaces: list[str] = []
    place, has_more = SearchPosition(), True
    while has_more:
        reading = await vidplat.fetch_search_page(facts.title, place)
        seen += [video.aweme_id for video in reading.value.videos]
        surfaces.append(reading.surface)
        place, has_more = reading.value.next_position, bool(reading.value.has_more)
    assert (seen, surfaces[0]) == (found, "search_stream")
    assert set(surfaces[1:]) == {"search_single"}


async def test_songs_are_those_of_the_issue_in_every_form(
    chart: ChartPublic, platform: Platform
) -> None:
    issues = (await chart.fetch_issues()).value
    oldest = [issue for issue in issues.issues if issue.chart_date][-1]
    usual = (await chart.fetch_songs(oldest.volid, 1)).value
    platform.break_surface("chart_songs", "text_body")
    other = await chart.fetch_songs(oldest.volid, 1)
    assert other.surface == "chart_html_old"
    assert [song.title for song in other.value.songs] == [s.title for s in usual.songs[:30]]
    assert {usual.chart_date, other.value.chart_date} <= {oldest.chart_date, None}


async def test_latest_songs_come_from_the_page_when_all_else_fails(
    chart: ChartPublic, platform: Platform
) -> None:
    issues = (await chart.fetch_issues()).value
    usual = (await chart.fetch_songs(issues.latest_volid, 1)).value
    for surface in ("chart_songs", "chart_latest"):
        platform.break_surface(surface, "text_body")
    other = await chart.fetch_songs(issues.latest_volid, 1)
    assert (other.surface, other.value.chart_date) == ("chart_html", usual.chart_date)
    assert [song.title for song in other.value.songs] == [s.title for s in usual.songs[:22]]


async def test_chart_that_fails_in_every_form_is_named(asks: Any, platform: Platform) -> None:
    platform.break_surface("*", "text_body")
    assert await _said(asks["chart_songs"]()) == "chart_denied"
