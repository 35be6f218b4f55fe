"""What the public source does about each way to be told no."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pipelines.platform.http.host_policy import HostPolicyStore
from pipelines.platform.http.rate_limiter import DEFAULT_PAUSE_S
from pipelines.platform.parsers.links import LinkTarget
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.providers import build_music_provider, supported_music_providers
from pipelines.platform.providers.vidplat_public import VidplatPublic
from pipelines.settings import Settings
from warehouse.records.errors import (
    EmptyAnswerError,
    ForbiddenError,
    InvalidMusicInputError,
    LoginRequiredError,
    PageWithoutDataError,
    RateLimitedError,
    RegionBlockedError,
    SametrackError,
    StructureChangedError,
    SubstitutionError,
    UnreachableError,
    VerificationDemandedError,
)
from warehouse.records.videos import UnavailableVideo, VideoDetail

ID = "7568123456789012345"
MUSIC = "7361234567890123456"
SEC = "MS4wLjABAAAAq7Rk2dV0xYt3mH8sLw5uZc1nPfJb4eGo6aTi9yWvKrE"


@pytest.fixture
def play(scripted: Any, shape_named: Any) -> Callable[..., tuple[VidplatPublic, Any]]:
    """A provider whose client answers with these shapes, one after another."""

    def start(*script: Any) -> tuple[VidplatPublic, Any]:
        answers = [
            shape_named(step).answer("any") if isinstance(step, str) else step for step in script
        ]
        client = scripted(answers)
        return VidplatPublic(client, name="public-graph"), client

    return start


def _surfaces(client: Any) -> list[str]:
    return [ask.surface for ask in client.asked]


async def test_body_that_asks_for_fewer_requests_pauses_the_host(play: Any) -> None:
    provider, client = play("music_list/too_frequent.json")
    with pytest.raises(RateLimitedError) as caught:
        await provider.fetch_music_page(MUSIC, 0)
    assert caught.value.retry_after == DEFAULT_PAUSE_S
    assert client.pauses.paused == [client.profile.hosts.share]
    assert _surfaces(client) == ["music_list"]


async def test_work_comes_from_its_page(play: Any) -> None:
    provider, client = play("video_page/video.html")
    reading = await provider.fetch_video(ID)
    assert isinstance(reading.value, VideoDetail)
    assert (reading.surface, reading.request_count, reading.entity_id) == ("video_page", 1, ID)
    assert reading.payload.startswith(b"<!DOCTYPE html>")
    assert client.asked[0].url.endswith(f"/share/video/{ID}/")


@pytest.mark.parametrize("first", ["video_page/empty.html", "video_page/shell.html"])
async def test_withheld_page_is_asked_once_more_with_the_cookies(first: str, play: Any) -> None:
    provider, _ = play(first, "video_page/video.html")
    reading = await provider.fetch_video(ID)
    assert (reading.surface, reading.request_count) == ("video_page", 2)


@pytest.mark.parametrize("withheld", ["video_page/empty.html", "video_page/shell.html"])
async def test_page_withheld_twice_leads_to_the_second_source(withheld: str, play: Any) -> None:
    provider, client = play(withheld, withheld, "slides_info/video.json")
    reading = await provider.fetch_video(ID)
    assert isinstance(reading.value, VideoDetail)
    assert (reading.surface, reading.request_count) == ("slides_info", 3)
    assert client.asked[2].params == {"aweme_ids": f"[{ID}]"}


async def test_after_three_shells_the_second_source_is_asked_first(play: Any) -> None:
    shell = "video_page/shell.html"
    provider, client = play(*[shell, shell, "slides_info/video.json"] * 3, "slides_info/video.json")
    for _ in range(4):
        await provider.fetch_video(ID)
    assert _surfaces(client)[9:] == ["slides_info"]


async def test_gone_counts_only_when_both_forms_of_the_second_source_say_so(play: Any) -> None:
    shell, gone = "video_page/shell.html", "slides_info/filtered.json"
    provider, client = play(shell, shell, gone, gone)
    reading = await provider.fetch_video(ID)
    assert reading.value == UnavailableVideo(
        aweme_id=ID,
        reason="unavailable",
        filter_reason="item_non_existent",
        notice="抱歉，作品不见了",
    )
    assert client.asked[3].params["request_source"] == "200"


async def test_note_that_only_the_second_form_shows_is_found(play: Any) -> None:
    shell = "video_page/shell.html"
    provider, _ = play(shell, shell, "slides_info/filtered.json", "slides_info/video.json")
    assert isinstance((await provider.fetch_video(ID)).value, VideoDetail)


async def test_both_sources_without_data_give_the_last_name(play: Any) -> None:
    shell, null = "video_page/shell.html", "slides_info/null.json"
    provider, _ = play(shell, shell, null, null)
    with pytest.raises(EmptyAnswerError) as caught:
        await provider.fetch_video(ID)
    assert caught.value.reason == "empty_detail"


@pytest.mark.parametrize(
    ("refusal", "error"),
    [
        ("video_page/captcha.html", VerificationDemandedError),
        ("video_page/script_challenge.html", VerificationDemandedError),
        ("video_page/forbidden.html", ForbiddenError),
        ("video_page/restricted.html", ForbiddenError),
        ("video_page/login.html", LoginRequiredError),
        ("video_page/oversea.html", RegionBlockedError),
        ("video_page/region_redirect.html", RegionBlockedError),
        ("video_page/another_work.html", SubstitutionError),
        ("video_page/no_item_list.html", StructureChangedError),
    ],
)
async def test_other_refusals_stop_after_one_request(
    refusal: str, error: type[SametrackError], play: Any
) -> None:
    provider, client = play(refusal)
    with pytest.raises(error):
        await provider.fetch_video(ID)
    assert len(client.asked) == 1


async def test_redirect_to_the_page_of_gone_works_is_unavailable(
    play: Any, shape_named: Any
) -> None:
    empty = shape_named("video_page/region_redirect.html").answer("video_page")
    location = (
        "http://www.vidplat.localhost/discover?previous_page=web_video_404_link"
        "&modal_id=7568999999999999999"
    )
    provider, client = play(replace(empty, location=location))
    reading = await provider.fetch_video(ID)
    assert reading.value == UnavailableVideo(aweme_id=ID, reason="unavailable")
    assert client.asked[0].ends_at(location)


async def test_empty_posts_are_read_from_the_share_page(play: Any) -> None:
    empty = "user_posts/empty.json"
    provider, _ = play(empty, empty, "user_page/aweme_list.html")
    reading = await provider.fetch_author_page(SEC, 0)
    assert (reading.surface, reading.request_count) == ("user_page", 3)
    assert len(reading.value.videos) == 2


async def test_empty_later_page_of_posts_stays_empty(play: Any) -> None:
    empty = "user_posts/empty.json"
    provider, client = play(empty, empty)
    with pytest.raises(EmptyAnswerError):
        await provider.fetch_author_page(SEC, 1761900000000)
    assert _surfaces(client) == ["user_posts", "user_posts"]


async def test_unknown_track_is_the_callers_mistake(play: Any) -> None:
    provider, _ = play("music_info/unknown.json")
    with pytest.raises(InvalidMusicInputError):
        await provider.fetch_track(MUSIC)


async def test_lists_and_accounts_are_read(play: Any) -> None:
    provider, _ = play("music_list/first_page.json", "user_info/account.json")
    page = await provider.fetch_music_page(MUSIC, 0)
    account = await provider.fetch_account(SEC)
    assert (len(page.value.videos), page.value.cursor, page.value.has_more) == (3, 3, True)
    assert account.value.total_favorited == 34000


async def test_short_link_ends_at_the_first_address_that_names_something(
    play: Any, shape_named: Any
) -> None:
    target = f"http://share.vidplat.localhost/share/music/{MUSIC}/?from=web"
    empty = shape_named("video_page/region_redirect.html").answer("short_link")
    provider, client = play(replace(empty, location=target))
    assert await provider.resolve_link("http://v.vidplat.localhost/abcd/") == LinkTarget(
        "music", MUSIC
    )
    assert client.asked[0].ends_at(target)
    assert not client.asked[0].ends_at("http://www.vidplat.localhost/")


@pytest.mark.parametrize(
    ("step", "error"),
    [
        ("video_page/not_found.html", InvalidMusicInputError),
        (SubstitutionError("off", surface="short_link"), InvalidMusicInputError),
        ("video_page/forbidden.html", ForbiddenError),
        (UnreachableError("down", surface="short_link"), UnreachableError),
    ],
)
async def test_short_link_that_leads_nowhere_says_why(
    step: Any, error: type[SametrackError], play: Any
) -> None:
    provider, _ = play(step)
    with pytest.raises(error):
        await provider.resolve_link("http://v.vidplat.localhost/abcd/")


async def test_short_link_to_a_work_now_gone_is_refused(play: Any, shape_named: Any) -> None:
    empty = shape_named("video_page/region_redirect.html").answer("short_link")
    gone = "http://www.vidplat.localhost/discover?previous_page=web_video_404_link&modal_id=" + ID
    provider, _ = play(replace(empty, location=gone))
    with pytest.raises(InvalidMusicInputError):
        await provider.resolve_link("http://v.vidplat.localhost/abcd/")


async def test_page_shell_is_named_when_there_is_no_second_source(play: Any) -> None:
    empty, shell = "user_posts/empty.json", "user_page/shell.html"
    provider, _ = play(empty, empty, shell, shell)
    with pytest.raises(PageWithoutDataError):
        await provider.fetch_author_page(SEC, 0)


class _NoBook(HostPolicyStore):
    """Nothing is asked of it while a provider is built."""


def _settings(**values: Any) -> Settings:
    return Settings(_env_file=None, **values)


async def test_public_graph_is_built_under_its_own_name(profile: PlatformProfile) -> None:
    provider = build_music_provider(_settings(), profile, control=_NoBook())  # type: ignore[abstract]  # never asked
    assert (provider.name, "public-graph" in supported_music_providers()) == ("public-graph", True)
    await provider.aclose()
