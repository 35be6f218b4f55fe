"""What a live check concludes from the answers, what it proposes, and how it says so."""

import json
import tomllib
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from pipelines.doctor.live_check.analysis import (
    KNOWN_KEYS,
    LiveFindings,
    MetHost,
    SurfaceFinding,
    analyse,
    find_hosts,
    key_names,
    measure_skew,
    read_known_keys,
)
from pipelines.doctor.live_check.proposal import ProposedPatch, propose_patch, rule_for
from pipelines.doctor.live_check.report import (
    describe_clock,
    describe_media,
    describe_page_view,
    to_markdown,
    to_report,
)
from pipelines.doctor.live_check.round import SeenExchange, SurfaceCheck
from pipelines.platform.call_trace import HttpExchange, HttpResponse
from pipelines.platform.profiles import PlatformProfile, load_profile
from pipelines.platform.profiles.patches import apply_patch, parse_patch
from tests.known_keys import keys_of_shapes
from tests.unit.doctor.conftest import HEALTHY, MP4, LiveStage
from warehouse.control.hosts.robots import RobotsDecision
from warehouse.records.health import ProbeOutcome, SurfaceHealth

AT = datetime(2026, 11, 20, 8, tzinfo=UTC)
Live = Callable[..., LiveStage]


def health(surface: str, outcome: ProbeOutcome = "works", **facts: object) -> SurfaceHealth:
    return SurfaceHealth(surface=surface, outcome=outcome, observed_at=AT, **facts)  # type: ignore[arg-type]  # named by the callers


def check(surface: str, body: str = "", *exchanges: HttpExchange) -> SurfaceCheck:
    """A check whose answer was this body, after these exchanges at eight o'clock."""
    response = HttpResponse(
        surface=surface, url="http://share.vidplat.localhost:8790/page", status=200,
        content_type=None, body=body.encode(), fetched_at=AT,
    )  # fmt: skip
    seen = tuple(SeenExchange(head=head, received_at=AT) for head in exchanges)
    return SurfaceCheck(health=health(surface), response=response, exchanges=seen)


def head(surface: str, **facts: str) -> HttpExchange:
    url = "http://play.vidplat.localhost:8790/play"
    return HttpExchange(surface=surface, url=url, status=200, **facts)


def findings(*hosts: MetHost, surfaces: tuple[SurfaceFinding, ...] = ()) -> LiveFindings:
    return LiveFindings(surfaces=surfaces, hosts=hosts, clock_skew_s=None)


def refused(host: str, kind: str = "media", surface: str = "slides_info") -> MetHost:
    return MetHost(host, kind, surface, is_permitted=False)  # type: ignore[arg-type]  # a literal


async def test_a_healthy_platform_leaves_nothing_to_propose(
    live: Live, profile: PlatformProfile
) -> None:
    surfaces = ("slides_info", "music_info", "music_list", "media", "video_page")
    checks = await live(HEALTHY | {"media": MP4}).round.run(surfaces)
    found = analyse(profile, checks)
    assert (found.refused_hosts, found.is_spider) == ((), False)
    assert (found.sound_head, found.sound_kind) == (MP4, ".mp4")
    assert propose_patch(profile, found, made_at=AT).is_empty


def test_media_hosts_are_found_in_links_and_redirects(profile: PlatformProfile) -> None:
    body = {
        "aweme_details": [
            {
                "video": {
                    "play_addr": {"url_list": ["http://v9.new.localhost/a"]},
                    "cover": {"url_list": ["http://pictures.localhost.example/a"]},
                }
            }
        ]
    }
    redirect = head("media", location="//v7.other.localhost/b")
    found = find_hosts(
        profile, [check("slides_info", json.dumps(body)), check("media", "", redirect)]
    )
    assert {(met.host, met.kind) for met in found if not met.is_permitted} == {
        ("v9.new.localhost", "media"),
        ("v7.other.localhost", "media"),
    }


def test_hosts_of_scripts_and_page_redirects_are_found(profile: PlatformProfile) -> None:
    page = (
        '<html><script src="//s.scripts.localhost/a.js"></script><script src="/own.js"></script>'
        '<link rel="stylesheet" href="http://styles.localhost.example/a.css"></html>'
    )
    moved = head("video_page", location="http://new.pages.localhost/")
    found = find_hosts(profile, [check("video_page", page, moved)])
    assert {(met.host, met.kind, met.is_permitted) for met in found} == {
        ("s.scripts.localhost", "script", False),
        ("styles.localhost.example", "script", False),
        ("new.pages.localhost", "redirect", False),
        ("share.vidplat.localhost", "script", True),
    }


def test_a_redirect_to_another_region_is_an_answer_and_no_lack(profile: PlatformProfile) -> None:
    away = head("video_page", location=f"http://{profile.links.region[0]}/")
    assert [met.is_permitted for met in find_hosts(profile, [check("video_page", "", away)])] == [
        True
    ]


def test_unknown_codes_words_and_keys_are_named(profile: PlatformProfile) -> None:
    body = {
        "status_code": 4711,
        "search_nil_info": {"search_nil_type": "new_word"},
        "brand_new_key": {"7568123456789012345": 1},
    }
    (found,) = analyse(profile, [check("search_stream", json.dumps(body))]).surfaces
    assert found.unknown_codes == ("search_nil_type new_word", "status_code 4711")
    assert "brand_new_key" in found.unknown_keys
    assert not any(key.isdigit() for key in found.unknown_keys)


@pytest.mark.parametrize("code", [0, 5, 8, 2483])
def test_a_code_with_a_rule_is_not_unknown(profile: PlatformProfile, code: int) -> None:
    (found,) = analyse(profile, [check("user_info", json.dumps({"status_code": code}))]).surfaces
    assert found.unknown_codes == ()


def test_the_known_keys_are_those_of_the_shape_files() -> None:
    missing = set(keys_of_shapes()) - read_known_keys()
    assert missing == set(), f"run `python -m tests.known_keys` to add them to {KNOWN_KEYS.name}"


def test_key_names_are_found_at_every_depth() -> None:
    assert key_names({"a": [{"b": {"c": 1}}], "page path": 2}) == {"a", "b", "c"}


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "agrees"), (90, "90 s behind"), (-75, "75 s ahead")]
)
def test_the_clock_is_compared_with_the_dates_of_the_answers(seconds: int, words: str) -> None:
    date = f"{AT + timedelta(seconds=seconds):%a, %d %b %Y %H:%M:%S} GMT"
    odd = ("not a date", f"Mon, 01 Jan {10**20} 00:00:00 GMT")
    heads = [head("music_info", date=one) for one in (date, *odd)]
    skew = measure_skew([SeenExchange(head=one, received_at=AT) for one in heads])
    assert skew == seconds
    assert words in describe_clock(skew)


def test_without_dates_nothing_is_said_of_the_clock() -> None:
    assert measure_skew([]) is None
    assert "could not be compared" in describe_clock(None)


@pytest.mark.parametrize(
    ("flag", "words"), [(True, "crawler"), (False, "normal"), (None, "No page")]
)
def test_what_the_pages_take_us_for_is_said(flag: bool | None, words: str) -> None:
    assert words in describe_page_view(flag)


@pytest.mark.parametrize(
    ("host", "rule"),
    [("v9.cdn.example", ".cdn.example"), ("v4.media.com.cn", ".media.com.cn")],
)
def test_the_domain_of_a_delivery_network_is_proposed(
    profile: PlatformProfile, host: str, rule: str
) -> None:
    assert rule_for(profile, host) == rule


def test_of_the_platforms_own_domain_only_the_host_is_proposed(profile: PlatformProfile) -> None:
    assert rule_for(profile, "media2.vidplat.localhost") == "media2.vidplat.localhost"


def test_the_proposed_patch_makes_the_hosts_permitted(profile: PlatformProfile) -> None:
    hosts = (refused("v9.new.localhost"), refused("s.scripts.localhost", "script", "video_page"))
    text = propose_patch(profile, findings(*hosts), made_at=AT).to_toml()
    patched = apply_patch(profile, parse_patch(text))
    assert ".new.localhost" in patched.media.hosts
    assert ".scripts.localhost" in patched.browser.hosts
    assert "# v9.new.localhost in slides_info" in text


def test_a_redirect_off_the_platform_is_left_to_the_operator(profile: PlatformProfile) -> None:
    foreign = refused("www.elsewhere.localhost", "redirect", "video_page")
    own = refused("new.vidplat.localhost", "redirect", "user_page")
    patch = propose_patch(profile, findings(foreign, own), made_at=AT)
    assert list(patch.additions["redirect"]) == ["new.vidplat.localhost"]
    assert "www.elsewhere.localhost" in patch.notes[0]


def test_a_host_that_no_patch_may_add_is_a_note(profile: PlatformProfile) -> None:
    patch = propose_patch(profile, findings(refused("cdn.example.com")), made_at=AT)
    assert (patch.is_empty, len(patch.notes)) == (True, 1)
    public = load_profile("public", sandbox_port=8790)
    local = propose_patch(public, findings(refused("printer.local")), made_at=AT)
    assert (local.is_empty, len(local.notes)) == (True, 1)


@pytest.mark.parametrize(
    ("surface", "error_type", "off"),
    [
        ("search_stream", "upstream_login_required", ["search_stream", "search_single"]),
        ("user_posts", "upstream_login_required", ["user_posts"]),
        ("user_posts", "upstream_verification", []),
        ("video_page", "upstream_page_without_data", []),
    ],
)
def test_a_surface_that_wants_a_login_is_switched_off(
    profile: PlatformProfile, surface: str, error_type: str, off: list[str]
) -> None:
    one = SurfaceFinding(health=health(surface, "refused", error_type=error_type, reason="why"))
    patch = propose_patch(profile, findings(surfaces=(one,)), made_at=AT)
    assert list(patch.additions["off"]) == off
    assert len(patch.notes) == (0 if off else 1)


def test_a_host_that_asks_for_fewer_requests_gets_fewer(profile: PlatformProfile) -> None:
    for surface, status in (("music_list", 429), ("chart_songs", 200)):  # or a body says so
        limited = health(surface, "refused", error_type="upstream_rate_limited", http_status=status)
        found = findings(surfaces=(SurfaceFinding(health=limited),))
        patch = propose_patch(profile, found, made_at=AT)
        assert apply_patch(profile, parse_patch(patch.to_toml())).rate.per_second == 500
        assert patch.changes() == [
            "at most 500 requests per second: a host asked for fewer requests"
        ]
        assert "429" not in patch.to_toml()


def test_an_unknown_word_is_no_part_of_the_patch(profile: PlatformProfile) -> None:
    odd = SurfaceFinding(health=health("search_stream"), unknown_codes=("search_nil_type x\ny",))
    patch = propose_patch(profile, findings(surfaces=(odd,)), made_at=AT)
    assert patch.is_empty
    assert tomllib.loads(patch.to_toml()) == {"for_profile": "sandbox"}
    assert "search_nil_type x y" in patch.to_toml()


async def test_the_report_says_everything_in_plain_words(
    live: Live, profile: PlatformProfile
) -> None:
    checks = await live(HEALTHY).round.run(("slides_info", "music_list", "short_link"))
    found = replace(analyse(profile, checks), hosts=(refused("v9.new.localhost"),))
    patch = propose_patch(profile, found, made_at=AT)
    robots = [RobotsDecision("a.localhost", "music_list", "disallowed", "a rule", AT)]
    report = to_report(
        found, patch, robots, profile="sandbox", started_at="now", took_s=1.0, requests=3,
        verdict="so it is",
    )  # fmt: skip
    text = to_markdown(json.loads(json.dumps(report)))
    for words in (
        "| slides_info | works | 1 |", "not checked: no id is known",
        "never create_time", "refused: `v9.new.localhost` (media of slides_info)",
        "`a.localhost` music_list: disallowed (a rule)", "media host .new.localhost",
        "No media file was read.",
    ):  # fmt: skip
        assert words in text


async def test_a_media_file_that_its_host_altered_is_named(
    live: Live, profile: PlatformProfile
) -> None:
    altered = b"\x7b" + MP4[1:]
    checks = await live(HEALTHY | {"media": altered}).round.run(("slides_info", "media"))
    found = analyse(profile, checks)
    patch = propose_patch(profile, found, made_at=AT)
    report = to_report(found, patch, [])
    assert (found.sound_head, found.sound_kind) == (altered, None)
    assert "altered by the host" in describe_media(report)


def test_nothing_from_outside_breaks_the_table() -> None:
    one = SurfaceFinding(
        health=health("music_list", "refused", error_type="x", reason="a|b\n`c`"),
    )
    patch = ProposedPatch(profile="sandbox", made_at=AT)
    report = to_report(
        findings(surfaces=(one,)), patch, [], profile="sandbox", started_at="now", took_s=1.0,
        requests=1, verdict="v",
    )  # fmt: skip
    assert "| music_list | refused | 0 | — | x, a/b 'c' |" in to_markdown(report)
