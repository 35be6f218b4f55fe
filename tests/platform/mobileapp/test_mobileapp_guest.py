"""What `mobileapp-guest` takes from the app, and what is known then of a track or a video."""

from dataclasses import dataclass, replace
from typing import Any

import pytest

from pipelines.platform.call_trace import HttpResponse
from pipelines.platform.http.client import GuestClient
from pipelines.platform.profiles import PlatformProfile, load_profile
from pipelines.platform.providers.mobileapp_guest import MobileAppGuest, choose_app
from pipelines.platform.providers.provider import ProviderDependencies
from pipelines.settings import Settings
from sandbox.server.device import screens
from tests.fake_clock import FakeClock
from tests.platform.conftest import ScriptedClient
from tests.platform.lenient_hosts import NoRateLimit
from tests.platform.mobileapp.scripted_phone import (
    TRACK,
    ScriptedPhone,
    State,
    dump,
    sandbox_app,
    track_screen,
    video_id,
    visit,
    work_screen,
)
from tests.platform.shape_answers import read_index
from warehouse.records.errors import (
    DeviceUnavailableError,
    LoginRequiredError,
    ProviderUnsupportedError,
    SametrackError,
    StructureChangedError,
    UnreachableError,
)
from warehouse.records.videos import Author, Unavailability, Video

GONE = "slides_info/filtered.json"
GONE_ID = b"7568123456789012345"
ACCOUNT, NO_ACCOUNT = "user_by_handle/account.json", "user_by_handle/unknown.json"
SEC = "MS4wLjABAAAAq7Rk2dV0xYt3mH8sLw5uZc1nPfJb4eGo6aTi9yWvKrE"
DOWN = UnreachableError("no answer", surface="music_info", reason="no_answer")
LOGIN = dump(screens.prompt("login"))
type Step = str | HttpResponse | SametrackError
BOOK: Any = object()  # nothing is asked of it


@pytest.fixture(scope="module")
def profile() -> PlatformProfile:
    return load_profile("sandbox", sandbox_port=8790)


@dataclass(frozen=True, kw_only=True)
class ScriptedDependencies(ProviderDependencies):
    """Their guest answers from a script, and no host is watched."""

    client: GuestClient

    def guest(self) -> GuestClient:
        return self.client


@pytest.fixture
def play(profile: PlatformProfile) -> Any:
    """The source with a phone, and with a platform that answers with these shapes or errors."""

    def start(phone: ScriptedPhone, *script: Step) -> tuple[MobileAppGuest, Any]:
        answers = [answer(step) if isinstance(step, str) else step for step in script]
        client = ScriptedClient(profile, answers)
        clock, app = FakeClock(), sandbox_app()
        given = ScriptedDependencies(
            settings=Settings(_env_file=None, profile="sandbox"), profile=profile, control=BOOK,
            clock=clock, client=client,
        )  # fmt: skip
        made = MobileAppGuest(
            given, name="mobileapp-guest", app=app, phone=phone, limiter=NoRateLimit()
        )
        return made, client

    return start


def answer(file: str) -> HttpResponse:
    return next(shape.answer("any") for shape in read_index() if shape.file == file)


def gone(number: int) -> tuple[HttpResponse, HttpResponse]:
    """Both forms of the platform call a video gone."""
    said = answer(GONE)
    body = said.body.replace(GONE_ID, video_id(number).encode())
    return (replace(said, body=body),) * 2


def link(number: int) -> str:
    return f"http://share.vidplat.localhost:8790/share/video/{video_id(number)}/"


def listed(*numbers: int) -> list[str]:
    """What shows while the list of a track is read to its end."""
    videos = [screen for number in numbers for screen in visit(number, link(number))]
    return [track_screen(), *videos, work_screen(numbers[-1], is_last_again=True)]


def author_of(number: int, *, handle: str = "xiaoman88") -> list[str]:
    """What shows while the author of a video is looked at."""
    page = screens.account("somebody", handle)
    views = [view for view in page if handle or view.id != "unique_id"]
    return [work_screen(number), dump(views)]


async def test_a_profile_without_an_app_cannot_be_read_by_one(profile: PlatformProfile) -> None:
    chosen = Settings(_env_file=None, mobileapp_device="phone-1")
    given = ProviderDependencies(settings=chosen, profile=profile, control=BOOK)
    with pytest.raises(ProviderUnsupportedError, match="'sandbox' has no app") as caught:
        choose_app(given)
    assert "docs/providers.md" in str(caught.value.hint)


async def test_a_track_is_described_by_the_platform_where_that_answers(play: Any) -> None:
    guest, client = play(ScriptedPhone(track_screen()), "music_info/song.json")
    found = await guest.fetch_track(TRACK)
    assert (found.surface, found.value.title != "A song") == ("music_info", True)
    assert [ask.surface for ask in client.asked] == ["music_info"]


async def test_a_track_that_the_platform_withholds_is_the_one_of_the_app(play: Any) -> None:
    guest, client = play(ScriptedPhone(track_screen()), DOWN)
    found = await guest.fetch_track(TRACK)
    assert (found.surface, found.value.title, found.value.author) == (
        "music_app", "A song", "Somebody",
    )  # fmt: skip
    assert found.request_count == len(client.asked) + 1  # and the link that was opened


async def test_a_demand_of_the_app_is_told_only_where_the_platform_withholds_the_track(
    play: Any,
) -> None:
    public, _ = play(ScriptedPhone(LOGIN), "music_info/song.json")
    assert (await public.fetch_track(TRACK)).surface == "music_info"
    neither, _ = play(ScriptedPhone(LOGIN), DOWN)
    with pytest.raises(LoginRequiredError):
        await neither.fetch_track(TRACK)


async def test_a_missing_device_is_told_before_the_platform_is_asked(play: Any) -> None:
    guest, client = play(ScriptedPhone(track_screen(), states=["offline"]))
    with pytest.raises(DeviceUnavailableError):
        await guest.fetch_track(TRACK)
    assert client.asked == []


async def test_a_video_that_the_platform_calls_gone_is_as_the_app_showed_it(play: Any) -> None:
    phone = ScriptedPhone(*listed(1), *author_of(1))
    guest, client = play(phone, *gone(1), ACCOUNT)
    page = await guest.fetch_music_page(TRACK, 0)
    assert ([one.aweme_id for one in page.value.videos], page.value.has_more) == (
        [video_id(1)], False,
    )  # fmt: skip
    found = await guest.fetch_video(video_id(1))
    assert isinstance(found.value, Video)
    video = found.value
    assert (found.surface, video.desc, video.statistics.digg_count) == ("app_work", "caption 1", 1)
    assert isinstance(video.author, Author)
    assert (video.author.sec_uid, video.author.unique_id) == (SEC, "xiaoman88")
    assert client.asked[-1].surface == "user_by_handle"


async def test_a_video_that_the_app_never_showed_stays_gone(play: Any) -> None:
    phone = ScriptedPhone(track_screen())
    guest, _ = play(phone, *gone(7))
    assert isinstance((await guest.fetch_video(video_id(7))).value, Unavailability)
    assert phone.done == []


async def test_the_author_of_a_video_is_looked_at_once(play: Any) -> None:
    phone = ScriptedPhone(*listed(1), *author_of(1))
    guest, client = play(phone, *gone(1), ACCOUNT, *gone(1))
    await guest.fetch_music_page(TRACK, 0)
    first, again = [await guest.fetch_video(video_id(1)) for _ in range(2)]
    assert first.value.author == again.value.author
    assert [ask.surface for ask in client.asked].count("user_by_handle") == 1
    assert phone.done.count("open") == 2  # the track, and the video for its author


@pytest.mark.parametrize(
    ("handle", "answers"),
    [("", []), ("xiaoman88", [NO_ACCOUNT])],
    ids=["no handle", "no account"],
)
async def test_a_video_whose_author_is_not_found_has_none(
    handle: str, answers: list[str], play: Any
) -> None:
    phone = ScriptedPhone(*listed(1), *author_of(1, handle=handle))
    guest, client = play(phone, *gone(1), *answers, *gone(1))
    await guest.fetch_music_page(TRACK, 0)
    for _ in range(2):
        found = await guest.fetch_video(video_id(1))
        assert (found.surface, found.value.author) == ("app_work", None)
    assert [ask.surface for ask in client.asked].count("user_by_handle") == len(answers)


async def test_a_source_of_authors_that_refused_once_is_not_asked_for_the_others(play: Any) -> None:
    refused = StructureChangedError("renamed", surface="user_by_handle", reason="keys")
    shown: list[State] = [*listed(1, 2), *author_of(1)]
    phone = ScriptedPhone(*shown)
    guest, client = play(phone, *gone(1), refused, *gone(2))
    await guest.fetch_music_page(TRACK, 0)
    for number in (1, 2):
        found = await guest.fetch_video(video_id(number))
        assert (found.surface, found.value.author) == ("app_work", None)
    assert [ask.surface for ask in client.asked].count("user_by_handle") == 1
    assert phone.done.count("open") == 2


async def test_hanging_up_ends_the_device_and_the_connections(play: Any) -> None:
    phone = ScriptedPhone(track_screen())
    guest, client = play(phone)
    await guest.aclose()
    assert (phone.done, client.is_closed) == (["hang up"], True)


async def test_a_video_whose_shared_link_is_dead_is_left_out_and_the_others_are_read(
    play: Any,
) -> None:
    dead, live = visit(1, "http://v.vidplat.localhost:8790/abcd/"), visit(2, link(2))
    phone = ScriptedPhone(track_screen(), *dead, *live, work_screen(2, is_last_again=True))
    guest, client = play(phone, "video_page/not_found.html")
    page = (await guest.fetch_music_page(TRACK, 0)).value
    assert [video.aweme_id for video in page.videos] == [video_id(2)]
    assert (page.cursor, page.has_more) == (2, False)
    assert [ask.surface for ask in client.asked] == ["short_link"]
