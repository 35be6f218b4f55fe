"""What the public source does about each way to be told no."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pipelines.captures.chart import most_used_music
from pipelines.platform.http.host_policy import DEFAULT_PAUSE_S
from pipelines.platform.parsers.links import LinkTarget
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.providers import PROVIDERS, build_provider
from pipelines.platform.providers.provider import ProviderDependencies
from pipelines.platform.providers.vidplat_public import VidplatPublic
from pipelines.platform.sources.table import MUSIC_LIST
from pipelines.settings import Settings
from warehouse.control import ControlStore
from warehouse.records.errors import (
    EmptyAnswerError,
    ForbiddenError,
    InvalidMusicInputError,
    LoginRequiredError,
    RateLimitedError,
    RegionBlockedError,
    SametrackError,
    SignatureDemandedError,
    SubstitutionError,
    UnreachableError,
    VerificationDemandedError,
)
from warehouse.records.videos import Unavailability, Video

ID = "7568123456789012345"
MUSIC = "7361234567890123456"
VIDEO, NULL = "slides_info/video.json", "slides_info/null.json"
EMPTY, SHELL = "slides_info/empty.json", "video_page/shell.html"
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


async def test_video_comes_from_slides_info_by_one_request(play: Any) -> None:
    provider, client = play(VIDEO)
    reading = await provider.fetch_video(ID)
    assert isinstance(reading.value, Video)
    assert (reading.surface, reading.request_count, reading.entity_id) == ("slides_info", 1, ID)
    assert client.asked[0].params == {"aweme_ids": f"[{ID}]"}


async def test_empty_answer_is_asked_once_more_with_the_cookies(play: Any) -> None:
    provider, _ = play(EMPTY, VIDEO)
    reading = await provider.fetch_video(ID)
    assert (reading.surface, reading.request_count) == ("slides_info", 2)


@pytest.mark.parametrize(
    "refused",
    [[EMPTY, EMPTY], [NULL, NULL], ["video_page/forbidden.html"], ["detail/not_json.json"]],
)
async def test_withheld_detail_is_read_from_the_share_page(refused: list[str], play: Any) -> None:
    provider, client = play(*refused, "video_page/video.html")
    reading = await provider.fetch_video(ID)
    assert isinstance(reading.value, Video)
    assert (reading.surface, reading.request_count) == ("video_page", len(refused) + 1)
    assert client.asked[-1].url.endswith(f"/share/video/{ID}/")


async def test_page_that_gave_no_data_twice_is_left_alone(play: Any) -> None:
    """A shell costs two requests each time, so its share is remembered."""
    provider, client = play(NULL, NULL, SHELL, SHELL, *[NULL, NULL] * 5)
    for _ in range(6):
        with pytest.raises(EmptyAnswerError):
            await provider.fetch_video(ID)
    assert _surfaces(client).count("video_page") == 2


async def test_gone_counts_only_when_both_forms_say_so(play: Any) -> None:
    gone = "slides_info/filtered.json"
    provider, client = play(gone, gone)
    reading = await provider.fetch_video(ID)
    assert reading.value == Unavailability(
        reason="unavailable",
        filter_reason="item_non_existent",
        notice="抱歉，作品不见了",
    )
    assert client.asked[1].params["request_source"] == "200"


def _body(shape_named: Any, **document: object) -> Any:
    """A response with this JSON body."""
    return replace(shape_named(NULL).answer("any"), body=json.dumps(document).encode())


async def test_reason_of_one_form_is_not_lost_if_the_other_form_gives_none(play: Any) -> None:
    provider, _ = play("slides_info/filtered.json", NULL)
    reading = await provider.fetch_video(ID)
    assert isinstance(reading.value, Unavailability)
    assert reading.value.filter_reason == "item_non_existent"


async def test_reason_of_the_form_for_photo_posts_counts_if_the_other_only_leaves_them_out(
    play: Any, shape_named: Any
) -> None:
    left_out = {"aweme_id": ID, "filter_reason": "images_base"}
    deleted = {"aweme_id": ID, "filter_reason": "status_deleted"}
    answers = [
        _body(shape_named, status_code=0, aweme_details=None, filter_list=[entry])
        for entry in (left_out, deleted)
    ]
    provider, _ = play(*answers)
    assert (await provider.fetch_video(ID)).value.filter_reason == "status_deleted"


@pytest.mark.parametrize(
    "no",
    [
        {"status_code": 2053, "status_msg": "gone"},
        {"status_code": 0, "filter_list": [{"aweme_id": ID, "filter_reason": "status_deleted"}]},
        {"status_code": 0, "filter_detail": {"aweme_id": ID, "filter_reason": "copyright"}},
        {"status_code": 0, "aweme_details": [], "filter_list": [{"notice": "gone"}]},
    ],
    ids=["code", "no key beside a list", "no key beside a detail", "a reason without an id"],
)
async def test_videos_that_are_gone_never_hold_the_next_one_back(
    no: dict[str, object], play: Any, shape_named: Any
) -> None:
    provider, client = play(*[_body(shape_named, **no)] * 40, VIDEO)
    for _ in range(20):
        assert isinstance((await provider.fetch_video(ID)).value, Unavailability)
    assert isinstance((await provider.fetch_video(ID)).value, Video)
    assert set(_surfaces(client)) == {"slides_info"}


@pytest.mark.parametrize("status", [200, 412, 444])
async def test_surface_that_demands_a_signature_is_asked_once_and_then_another_source(
    status: int, play: Any, shape_named: Any
) -> None:
    body = {"status_code": 11110, "status_msg": "encrypt_data_miss"} if status == 200 else {}
    refused = replace(_body(shape_named, **body), status=status)
    provider, client = play(refused, "video_page/video.html")
    reading = await provider.fetch_video(ID)
    assert isinstance(reading.value, Video)
    assert _surfaces(client) == ["slides_info", "video_page"]


async def test_signature_that_every_source_demands_is_the_named_error(
    play: Any, shape_named: Any
) -> None:
    text = b"Blocked by ArgusSecurityPlugin Uifid Not Found"
    blocked = replace(shape_named(NULL).answer("any"), body=text, status=403)
    provider, _ = play(blocked, blocked)
    with pytest.raises(SignatureDemandedError) as caught:
        await provider.fetch_video(ID)
    assert (caught.value.type, caught.value.status) == ("upstream_signature_demanded", 403)


async def test_video_that_one_form_alone_calls_gone_is_read_from_its_page(play: Any) -> None:
    """The form for photo posts also filters ordinary videos."""
    provider, client = play(NULL, "slides_info/filtered.json", "video_page/video.html")
    assert isinstance((await provider.fetch_video(ID)).value, Video)
    assert _surfaces(client) == ["slides_info", "slides_info", "video_page"]


async def test_photo_post_that_only_the_second_form_shows_is_found(play: Any) -> None:
    provider, _ = play("slides_info/filtered.json", VIDEO)
    assert isinstance((await provider.fetch_video(ID)).value, Video)


async def test_photo_post_of_a_list_is_asked_for_in_its_own_form(
    play: Any, shape_named: Any
) -> None:
    listed = shape_named("user_posts/mobile_form.json").answer("any")
    posts = json.loads(listed.body)
    posts["aweme_list"] = [{**posts["aweme_list"][0], "aweme_id": ID, "images": [{"uri": "x"}]}]
    provider, client = play(replace(listed, body=json.dumps(posts).encode()), VIDEO)
    await provider.fetch_author_page(SEC, 0)
    await provider.fetch_video(ID)
    assert client.asked[1].params["request_source"] == "200"


async def test_no_source_with_data_gives_the_name_of_the_best(play: Any) -> None:
    provider, _ = play(NULL, NULL, SHELL, SHELL)
    with pytest.raises(EmptyAnswerError) as caught:
        await provider.fetch_video(ID)
    assert caught.value.reason == "empty_detail"


@pytest.mark.parametrize(
    ("refusal", "error"),
    [
        ("video_page/captcha.html", VerificationDemandedError),
        ("video_page/script_challenge.html", VerificationDemandedError),
        ("detail/captcha.json", VerificationDemandedError),
        ("detail/login.json", LoginRequiredError),
        ("video_page/region_redirect.html", RegionBlockedError),
        ("slides_info/another_work.json", SubstitutionError),
    ],
)
async def test_no_other_source_of_the_host_is_asked_because_of_a_demand(
    refusal: str, error: type[SametrackError], play: Any
) -> None:
    provider, client = play(refusal)
    with pytest.raises(error):
        await provider.fetch_video(ID)
    assert _surfaces(client) == ["slides_info"]


@pytest.mark.parametrize(
    "page",
    [
        "video_page/captcha.html",
        "video_page/forbidden.html",
        "video_page/no_container.html",
        "video_page/not_found.html",
    ],
)
async def test_refused_page_ends_no_source_of_details(page: str, play: Any) -> None:
    """The page is asked where `slides_info` withholds one video; the next is read as before."""
    provider, client = play(NULL, NULL, page, VIDEO)
    with pytest.raises(EmptyAnswerError):
        await provider.fetch_video(ID)
    assert isinstance((await provider.fetch_video(ID)).value, Video)
    assert _surfaces(client)[-2:] == ["video_page", "slides_info"]


async def test_redirect_of_the_page_to_that_of_gone_videos_is_unavailable(
    play: Any, shape_named: Any
) -> None:
    empty = shape_named("video_page/region_redirect.html").answer("video_page")
    location = (
        "http://www.vidplat.localhost/discover?previous_page=web_video_404_link"
        "&modal_id=7568999999999999999"
    )
    provider, client = play(NULL, NULL, replace(empty, location=location))
    reading = await provider.fetch_video(ID)
    assert reading.value == Unavailability(reason="unavailable")
    assert client.asked[2].ends_at(location)


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


async def test_account_is_read_by_its_handle_in_any_case(play: Any) -> None:
    provider, client = play("user_by_handle/account.json")
    found = await provider.fetch_account_by_handle("@XiaoMan88")
    assert (found.value.sec_uid, found.value.unique_id) == (SEC, "xiaoman88")
    assert client.asked[0].params == {"unique_id": "XiaoMan88"}
    assert _surfaces(client) == ["user_by_handle"]


async def test_list_of_a_music_id_is_read_from_its_trend_where_it_is_refused(play: Any) -> None:
    refused = "video_page/forbidden.html"
    provider, client = play(refused, "trends_list/page.json", "trends_list/last_page.json")
    first = await provider.fetch_music_page(MUSIC, 0)
    later = await provider.fetch_music_page(MUSIC, first.value.cursor or 0)
    assert _surfaces(client) == ["music_list", "trends_list", "trends_list"]
    assert (first.surface, first.value.has_more, later.value.has_more) == (
        "trends_list", True, False,
    )  # fmt: skip
    assert client.asked[-1].params["music_id"] == MUSIC
    assert client.asked[-1].params["cursor"] == str(first.value.cursor)


async def test_cursor_of_a_trend_that_another_process_read_is_not_given_to_the_music_list(
    play: Any,
) -> None:
    provider, client = play("trends_list/last_page.json")
    provider.resume_walk("trends_list", MUSIC)
    page = await provider.fetch_music_page(MUSIC, 20)
    assert (page.surface, _surfaces(client)) == ("trends_list", ["trends_list"])


async def test_trend_is_read_by_its_own_id_and_names_its_music(play: Any) -> None:
    provider, client = play("trends_list/page.json")
    page = await provider.fetch_trend("99999", 0)
    assert most_used_music(page.value.videos) == MUSIC
    (asked,) = client.asked
    assert (asked.surface, asked.params["trends_id"], asked.params["music_id"]) == (
        "trends_list", "99999", "",
    )  # fmt: skip


async def test_begun_list_of_a_music_id_is_not_continued_at_its_trend(play: Any) -> None:
    provider, client = play("music_list/first_page.json", "video_page/forbidden.html")
    first = await provider.fetch_music_page(MUSIC, 0)
    with pytest.raises(ForbiddenError):
        await provider.fetch_music_page(MUSIC, first.value.cursor or 0)
    assert _surfaces(client) == ["music_list", "music_list"]


def test_trend_gives_the_fields_that_the_music_list_lacks() -> None:
    plain, trend = MUSIC_LIST.sources
    assert trend.gives - plain.gives == {"author", "create_time", "collect_count"}
    assert trend.gives == MUSIC_LIST.fields > plain.gives


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
        ("video_page/script_challenge.html", VerificationDemandedError),
        ("video_page/captcha.html", VerificationDemandedError),
        ("video_page/captcha_word_in_caption.html", InvalidMusicInputError),
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


@pytest.mark.parametrize("empty", ["user_posts/empty.json", "user_posts/withheld.json"])
async def test_posts_that_no_source_shows_are_named_by_the_best_source(
    empty: str, play: Any
) -> None:
    shell = "user_page/shell.html"
    provider, _ = play(empty, empty, shell, shell)
    with pytest.raises(EmptyAnswerError):
        await provider.fetch_author_page(SEC, 0)


async def test_a_later_page_without_posts_is_the_end_whatever_it_claims(play: Any) -> None:
    provider, client = play("user_posts/mobile_form.json", "user_posts/withheld.json")
    first = (await provider.fetch_author_page(SEC, 0)).value
    later = (await provider.fetch_author_page(SEC, first.cursor or 1)).value
    assert (later.videos, later.has_more) == ((), True)
    assert _surfaces(client) == ["user_posts", "user_posts"]


class _NoBook(ControlStore):
    """Nothing is asked of it while a provider is built."""

    def __init__(self) -> None:
        """Open no database."""


def _settings(**values: Any) -> Settings:
    return Settings(_env_file=None, **values)


async def test_public_graph_is_built_under_its_own_name(profile: PlatformProfile) -> None:
    provider = build_provider(
        "public-graph",
        ProviderDependencies(settings=_settings(), profile=profile, control=_NoBook()),
    )
    assert (provider.name, "public-graph" in PROVIDERS) == ("public-graph", True)
    await provider.aclose()
