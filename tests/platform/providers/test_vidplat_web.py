"""The desktop detail, and the operator's own cookie, which one host sees and nothing keeps."""

import json
import logging
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from pipelines.captures.session import Captures
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.providers import build_provider
from pipelines.platform.providers.provider import Provider, ProviderDependencies
from pipelines.platform.providers.vidplat_web import without_secrets
from pipelines.settings import Settings
from tests.platform.sandbox_platform import PATIENT
from warehouse.control import ControlStore, open_control
from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.record_rows import unpack_bytes
from warehouse.lake.store import open_lake
from warehouse.records.errors import (
    EmptyAnswerError,
    ForbiddenError,
    LoginRequiredError,
    VerificationDemandedError,
)
from warehouse.records.videos import Unavailability, Video

pytestmark = pytest.mark.full

ID = "7568123456789012345"
DETAIL, PAGE = "/aweme/v1/web/aweme/detail/", f"/share/video/{ID}/"
DESKTOP = f"/video/{ID}"
SLIDES = "/web/api/v2/aweme/slidesinfo/"
SECRETS = ("s3cret/Session+Value==", "tt-0123456789abcdef")
COOKIE = f"sessionid={SECRETS[0]}; guest={SECRETS[1]}; a=1"
SHAPES = Path(__file__).parents[2] / "shapes"
LIMITS = replace(PATIENT, attempts=1)


def shape(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((SHAPES / name).read_text(encoding="utf-8"))
    return found


def reply(body: bytes, *, status: str = "200 OK", more: str = "") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n{more}\r\n"
    return head.encode() + body


@pytest.fixture
def control(tmp_path: Path) -> Iterator[ControlStore]:
    with closing(open_control(f"sqlite:///{tmp_path / 'c.sqlite'}", world="sandbox")) as opened:
        yield opened


@pytest.fixture(autouse=True)
def _no_robots(scripted_server: Any) -> None:
    scripted_server.answers["/robots.txt"] = [reply(b"", status="404 Not Found")]


@pytest.fixture
def settings() -> Settings:
    return Settings(_env_file=None, data_provider="vidplat-web", vidplat_cookie=SecretStr(COOKIE))


@pytest.fixture
def provider(
    settings: Settings, scripted_profile: PlatformProfile, control: ControlStore
) -> Provider:
    return build_provider(
        settings.data_provider,
        ProviderDependencies(
            settings=settings, profile=scripted_profile, control=control, limits=LIMITS
        ),
    )


def all_bytes(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in folder.rglob("*") if path.is_file()]


def hosts_that_saw(scripted_server: Any, text: str) -> set[str]:
    return {
        request.headers["host"].partition(":")[0]
        for request in scripted_server.seen
        if any(text in value for value in request.headers.values())
    }


async def test_a_fresh_store_asks_the_healthiest_source_and_no_other(
    scripted_server: Any, provider: Any
) -> None:
    scripted_server.answers[SLIDES] = [reply((SHAPES / "slides_info" / "video.json").read_bytes())]
    for _ in range(3):
        assert (await provider.fetch_video(ID)).surface == "slides_info"
    await provider.aclose()
    assert paths(scripted_server) == [SLIDES] * 3


async def test_a_video_that_the_share_host_withholds_is_read_by_its_desktop_detail(
    scripted_server: Any, provider: Any
) -> None:
    scripted_server.answers[SLIDES] = [reply(b"")]
    scripted_server.answers[DETAIL] = [reply(json.dumps(shape("detail/video.json")).encode())]
    reading = await provider.fetch_video(ID)
    await provider.aclose()
    assert isinstance(reading.value, Video)
    assert (reading.surface, reading.value.statistics_complete) == ("web_detail", True)
    assert "aid=6383" in scripted_server.seen[-1].target
    assert hosts_that_saw(scripted_server, SECRETS[0]) == {"www.vidplat.localhost"}


FORBIDDEN = reply(b"no", status="403 Forbidden")
NOT_SHOWN = {
    "status_code": 0,
    "aweme_detail": None,
    "filter_detail": {"aweme_id": ID, "filter_reason": "images_base", "notice": ""},
}


def paths(scripted_server: Any) -> list[str]:
    """What was asked for, without robots.txt."""
    return [
        one.target.partition("?")[0]
        for one in scripted_server.seen
        if not one.target.endswith("/robots.txt")
    ]


@pytest.mark.parametrize(
    "withheld",
    [[reply(b"")], [FORBIDDEN], [reply(b"<html></html>")], [reply(b"", status="404 No")]],
)
async def test_a_video_whose_desktop_detail_is_withheld_is_read_from_a_page(
    withheld: list[bytes], scripted_server: Any, provider: Any
) -> None:
    scripted_server.answers[SLIDES] = [reply(b"")]
    scripted_server.answers[DETAIL] = withheld
    scripted_server.answers[DESKTOP] = [
        reply((SHAPES / "video_page" / "old_container.html").read_bytes())
    ]
    reading = await provider.fetch_video(ID)
    await provider.aclose()
    assert isinstance(reading.value, Video)
    assert reading.surface == "web_video_page"
    assert set(paths(scripted_server)) == {SLIDES, DETAIL, DESKTOP}


async def test_a_photo_post_that_the_desktop_detail_does_not_show_is_asked_of_the_next_source(
    scripted_server: Any, provider: Any
) -> None:
    """`images_base` is no statement about the video: only this surface leaves photo posts out."""
    scripted_server.answers[SLIDES] = [reply(b"")]
    scripted_server.answers[DETAIL] = [reply(json.dumps(NOT_SHOWN).encode())]
    scripted_server.answers[DESKTOP] = [
        reply((SHAPES / "video_page" / "old_container.html").read_bytes())
    ]
    reading = await provider.fetch_video(ID)
    await provider.aclose()
    assert (type(reading.value), reading.surface) == (Video, "web_video_page")


async def test_a_photo_post_that_no_other_source_answers_for_is_not_called_unavailable(
    scripted_server: Any, provider: Any
) -> None:
    scripted_server.answers[DETAIL] = [reply(json.dumps(NOT_SHOWN).encode())]
    scripted_server.answers |= {key: [reply(b"")] for key in (SLIDES, DESKTOP, PAGE)}
    with pytest.raises(EmptyAnswerError):
        await provider.fetch_video(ID)
    await provider.aclose()


async def test_a_video_that_the_share_host_withholds_is_read_from_its_desktop_page(
    scripted_server: Any, provider: Any
) -> None:
    """The page holds the same data as the share page, in the older container."""
    scripted_server.answers[DETAIL] = scripted_server.answers[SLIDES] = [reply(b"")]
    scripted_server.answers[DESKTOP] = [
        reply((SHAPES / "video_page" / "old_container.html").read_bytes())
    ]
    reading = await provider.fetch_video(ID)
    await provider.aclose()
    assert isinstance(reading.value, Video)
    assert (reading.surface, reading.request_count) == ("web_video_page", 5)


NO_PHOTOS = {"aweme_id": ID, "filter_reason": "images_base"}


async def test_a_photo_post_that_the_desktop_detail_leaves_out_is_asked_of_the_next_source(
    scripted_server: Any, provider: Any
) -> None:
    filtered = json.dumps({"status_code": 0, "aweme_detail": None, "filter_detail": NO_PHOTOS})
    scripted_server.answers[DETAIL] = [reply(filtered.encode())]
    scripted_server.answers[SLIDES] = [reply((SHAPES / "slides_info" / "video.json").read_bytes())]
    reading = await provider.fetch_video(ID)
    await provider.aclose()
    assert isinstance(reading.value, Video)
    assert reading.surface == "slides_info"


async def test_a_photo_post_that_no_source_shows_is_unavailable_with_that_reason(
    scripted_server: Any, provider: Any
) -> None:
    filtered = json.dumps({"status_code": 0, "aweme_detail": None, "filter_detail": NO_PHOTOS})
    slides = json.dumps({"status_code": 0, "aweme_details": None, "filter_list": [NO_PHOTOS]})
    scripted_server.answers[DETAIL], scripted_server.answers[SLIDES] = (
        [reply(filtered.encode())],
        [reply(slides.encode())],
    )
    page = (SHAPES / "video_page" / "deleted.html").read_bytes()
    left_out = page.replace(b"status_deleted", b"images_base")
    scripted_server.answers[DESKTOP] = scripted_server.answers[PAGE] = [reply(left_out)]
    reading = await provider.fetch_video(ID)
    await provider.aclose()
    assert isinstance(reading.value, Unavailability)
    assert reading.value.filter_reason == "images_base"
    assert {DETAIL, SLIDES, DESKTOP, PAGE} <= set(paths(scripted_server))


@pytest.mark.parametrize(
    "shape_file",
    ["detail/captcha.json", "detail/argus.html", "detail/login_8.json", "detail/login.json"],
)
async def test_verification_demand_stops_requests_to_the_web_host(
    shape_file: str, scripted_server: Any, provider: Any
) -> None:
    """Nothing is solved; the share host, which demands nothing, is asked as always."""
    empty = reply(json.dumps(shape("slides_info/null.json")).encode())
    scripted_server.answers[SLIDES] = [empty]
    scripted_server.answers[DETAIL] = [reply((SHAPES / shape_file).read_bytes())]
    scripted_server.answers[PAGE] = [reply((SHAPES / "video_page" / "video.html").read_bytes())]
    for _ in range(3):
        assert (await provider.fetch_video(ID)).surface == "video_page"
    await provider.aclose()
    assert (paths(scripted_server).count(DETAIL), paths(scripted_server).count(DESKTOP)) == (1, 0)


@pytest.mark.parametrize(
    ("shape_file", "error", "reason"),
    [
        ("detail/captcha.json", VerificationDemandedError, "captcha_json"),
        ("detail/argus.html", VerificationDemandedError, "script_challenge"),
        ("detail/login_8.json", LoginRequiredError, "status_code 8"),
        ("detail/login.json", LoginRequiredError, "status_code 2483"),
    ],
)
async def test_a_demand_of_both_hosts_ends_the_question_by_name(
    shape_file: str, error: Any, reason: str, scripted_server: Any, provider: Any
) -> None:
    scripted_server.answers[DETAIL] = scripted_server.answers[SLIDES] = [
        reply((SHAPES / shape_file).read_bytes())
    ]
    with pytest.raises(error) as caught:
        await provider.fetch_video(ID)
    await provider.aclose()
    assert caught.value.reason == reason
    assert paths(scripted_server) == [SLIDES, DETAIL]


async def test_only_the_web_host_ever_sees_the_cookie(scripted_server: Any, provider: Any) -> None:
    """Not the share host, where the other surfaces are, and not the target of a redirect."""
    away = f"Location: http://share.vidplat.localhost:{scripted_server.port}/moved\r\n"
    page = (SHAPES / "video_page" / "video.html").read_bytes()
    scripted_server.answers[DETAIL] = [reply(b"", status="302 Found", more=away)]
    scripted_server.answers["/moved"] = [reply(b"")]
    scripted_server.answers[DESKTOP] = scripted_server.answers[SLIDES] = [reply(b"")]
    scripted_server.answers[PAGE] = [reply(page)]
    await provider.fetch_video(ID)
    await provider.aclose()
    assert {"/moved", DESKTOP, PAGE} <= {request.target for request in scripted_server.seen}
    assert hosts_that_saw(scripted_server, SECRETS[1]) == {"www.vidplat.localhost"}


async def test_cookie_is_never_stored_or_logged(
    scripted_server: Any,
    provider: Any,
    settings: Settings,
    control: ControlStore,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Not even where the platform repeats it in a body, in plain or escaped."""
    caplog.set_level(logging.DEBUG)
    echo = {**shape("detail/video.json"), "echo": COOKIE, "again": SECRETS[0].replace("/", "%2F")}
    refusal = reply(COOKIE.encode(), status="403 Forbidden")
    scripted_server.answers[DETAIL] = [reply(json.dumps(echo).encode()), refusal]
    scripted_server.answers |= {key: [refusal] for key in (SLIDES, DESKTOP, PAGE)}
    lake = open_lake(str(tmp_path / "lake"), world="sandbox")
    with ExitStack() as stack:
        engine = stack.enter_context(closing(Engine(lake)))
        captures = Captures(
            provider=provider, lake=lake, engine=engine, control=control, sounds_dir=tmp_path / "s"
        )
        async with captures:
            await captures.video(ID)
            with pytest.raises(ForbiddenError) as caught:
                await captures.video(ID)
        engine.refresh()
        payloads: Any = engine.rows("select body from raw.payloads")
        rows = engine.rows("select * from raw.captures") + engine.rows("select * from raw.videos")
    files = all_bytes(tmp_path)
    bodies = [unpack_bytes(row["body"]) for row in payloads]
    said = [caplog.text, repr(settings), str(settings.model_dump()), repr(caught.value), str(rows)]
    everything = b"\n".join([*files, *bodies, *(text.encode() for text in said)])
    assert len(bodies) == 2
    assert b'"echo"' in everything
    assert [secret for secret in SECRETS if secret.encode() in everything] == []


def test_short_values_are_no_secrets_and_stay() -> None:
    body = b'{"a": 1, "long": "tt-0123456789abcdef"}'
    assert without_secrets(body, SecretStr(COOKIE)) == b'{"a": 1, "long": "-removed-"}'


@pytest.mark.parametrize(
    "repeated",
    [
        rb"s3cret\u002FSession+Value==",
        rb"s3cret\u002fSession+Value==",
        rb"s3cret\/Session+Value==",
        b"s3cret%2FSession%2BValue%3D%3D",
        b"s3cret%5Cu002FSession%2BValue%3D%3D",
    ],
)
def test_a_value_is_removed_in_each_form_of_a_page(repeated: bytes) -> None:
    body = b'{"t": "' + repeated + b'"}'
    assert without_secrets(body, SecretStr(COOKIE)) == b'{"t": "-removed-"}'


def test_a_value_that_a_page_shows_decoded_is_removed_too() -> None:
    body = b'{"t": "visitor|0123", "url": "visitor%7C0123"}'
    assert without_secrets(body, SecretStr("guest=visitor%7C0123")) == (
        b'{"t": "-removed-", "url": "-removed-"}'
    )


async def test_a_session_that_the_web_host_renews_is_sent_to_no_host_and_not_kept(
    scripted_server: Any, provider: Any
) -> None:
    renewed = "Set-Cookie: sessionid=renewed-0123; Domain=vidplat.localhost; Path=/\r\n"
    known = "Set-Cookie: visitor=guest-4567; Domain=vidplat.localhost; Path=/\r\n"
    page = (SHAPES / "video_page" / "old_container.html").read_bytes() + b"<!-- renewed-0123 -->"
    scripted_server.answers[DETAIL] = [reply(b"", more=renewed)]
    scripted_server.answers[SLIDES] = [reply(b"", more=known)]
    scripted_server.answers[DESKTOP] = [reply(page)]
    reading = await provider.fetch_video(ID)
    await provider.aclose()
    assert {DETAIL, SLIDES, DESKTOP} == set(paths(scripted_server))
    assert hosts_that_saw(scripted_server, "renewed-0123") == set()
    assert hosts_that_saw(scripted_server, "guest-4567") == {"share.vidplat.localhost"}
    assert b"-removed-" in reading.payload
    assert b"renewed-0123" not in reading.payload


async def test_without_a_cookie_the_source_is_a_guest(
    scripted_server: Any, scripted_profile: PlatformProfile, control: ControlStore
) -> None:
    settings = Settings(_env_file=None, data_provider="vidplat-web")
    provider = build_provider(
        settings.data_provider,
        ProviderDependencies(
            settings=settings, profile=scripted_profile, control=control, limits=LIMITS
        ),
    )
    scripted_server.answers[DETAIL] = [reply(json.dumps(shape("detail/video.json")).encode())]
    await provider.fetch_video(ID)
    await provider.aclose()
    assert not any("cookie" in request.headers for request in scripted_server.seen)
