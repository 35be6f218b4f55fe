"""Inputs of a batch: lists of songs share the places, and nothing is left out silently."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest

from api.services.batch import BatchInputs, expand_inputs
from api.services.reads.sources import Sources
from api.settings import ApiSettings
from pipelines.platform.parsers.links import LinkTarget
from pipelines.platform.profiles import load_profile
from warehouse.control import links
from warehouse.control.links import CachedLink
from warehouse.records.errors import (
    PageWithoutDataError,
    ProfileNotChosenError,
    ProviderUnsupportedError,
    SametrackError,
)
from warehouse.records.videos import ListedSong, ServiceSongList

SERVICE = "https://music.vidplat.localhost/songs/share"
PROFILE = load_profile("sandbox", sandbox_port=8790)
SHORT = "http://songs.vidplat.localhost/s/abcdef/"


class FakeCaptures:
    """Lists by id, targets of short links by address, and what was asked."""

    def __init__(self) -> None:
        self.lists: dict[str, ServiceSongList | SametrackError] = {}
        self.targets: dict[str, LinkTarget] = {}
        self.asked: list[tuple[str, str]] = []

    async def song_list(self, surface: str, list_id: str) -> ServiceSongList:
        self.asked.append((surface, list_id))
        found = self.lists[list_id]
        if isinstance(found, SametrackError):
            raise found
        return found

    async def follow_link(self, url: str) -> LinkTarget:
        self.asked.append(("short", url))
        return self.targets[url]


class FakeSources:
    """The parts of the sources that an expansion uses; `known` are short links with a track."""

    def __init__(self) -> None:
        self.profile = PROFILE
        self.settings = ApiSettings(_env_file=None)
        self.captures = FakeCaptures()
        self.known: set[str] = set()
        self.control = None

    def read_link(self, _control: object, key: str) -> CachedLink | None:
        return CachedLink("music", "11111") if key in self.known else None

    @asynccontextmanager
    async def open(self, _kind: str, **_options: bool) -> AsyncIterator[FakeCaptures]:
        yield self.captures


@pytest.fixture
def sources(monkeypatch: pytest.MonkeyPatch) -> FakeSources:
    fake = FakeSources()
    monkeypatch.setattr(links, "read", fake.read_link)
    return fake


def list_of(list_id: str, size: int, *, stated: int | None = None) -> ServiceSongList:
    songs = tuple(
        ListedSong(track_id=f"{list_id}{number:02}", title=f"song {number}", artist="Lin")
        for number in range(size)
    )
    return ServiceSongList(
        list_id=list_id, title=f"list {list_id}", songs=songs, stated_count=stated
    )


async def expand(sources: FakeSources | None, *texts: str) -> BatchInputs:
    return await expand_inputs(
        texts, find_target=PROFILE.find_target, sources=cast("Sources", sources)
    )


def shown(inputs: BatchInputs) -> Sequence[str]:
    return [one.text for one in inputs.tracks]


def counts(inputs: BatchInputs) -> list[tuple[Any, ...]]:
    return [
        (one["kind"], one["song_count"], one["taken_count"], one["left_out_count"])
        for one in inputs.lists
    ]


async def test_batch_without_lists_reads_nothing(sources: FakeSources) -> None:
    inputs = await expand(sources, "11111", f"{SERVICE}/track?track_id=22222", "neither")
    assert shown(inputs) == ["11111", f"{SERVICE}/track?track_id=22222", "neither"]
    assert (inputs.lists, inputs.notes(), sources.captures.asked) == ((), [], [])


@pytest.mark.parametrize("kind", ["playlist", "album", "artist"])
async def test_a_list_becomes_its_songs_with_name_and_link(kind: str, sources: FakeSources) -> None:
    link = f"{SERVICE}/{kind}?{kind}_id=55555"
    sources.captures.lists["55555"] = list_of("55555", 2)
    inputs = await expand(sources, f"look: {link}")
    first, second = inputs.tracks
    assert first.text == first.scan_input == PROFILE.song_link("5555500")
    assert (first.label, second.label) == ("song 0 - Lin", "song 1 - Lin")
    assert {one.list_input for one in inputs.tracks} == {f"look: {link}"}
    assert sources.captures.asked == [(f"service_{kind}", "55555")]
    assert (counts(inputs), inputs.notes()) == ([(kind, 2, 2, 0)], [])


async def test_songs_beyond_the_limit_are_counted_and_noted(sources: FakeSources) -> None:
    sources.captures.lists["55555"] = list_of("55555", 12, stated=40)
    inputs = await expand(sources, f"{SERVICE}/playlist?playlist_id=55555")
    assert len(inputs.tracks) == 10
    assert counts(inputs) == [("playlist", 40, 10, 30)]
    (note,) = inputs.notes()
    assert note["type"] == "songs_left_out"
    assert "30 of the 40 songs of 'list 55555'" in note["message"]
    assert "30 首" in note["message_zh"]


async def test_every_input_keeps_a_place_beside_long_lists(sources: FakeSources) -> None:
    for name in ("55555", "66666"):
        sources.captures.lists[name] = list_of(name, 30)
    inputs = await expand(
        sources, "11111", f"{SERVICE}/album?album_id=55555",
        f"{SERVICE}/album?album_id=66666", "22222",
    )  # fmt: skip
    assert len(inputs.tracks) == 10
    assert (shown(inputs)[0], shown(inputs)[-1]) == ("11111", "22222")
    assert counts(inputs) == [("album", 30, 7, 23), ("album", 30, 1, 29)]


@pytest.mark.parametrize(
    "error",
    [
        PageWithoutDataError("no list", surface="service_album"),
        ProviderUnsupportedError("this source has no music service"),
    ],
)
async def test_a_list_that_cannot_be_read_is_the_error_of_its_input(
    error: SametrackError, sources: FakeSources
) -> None:
    sources.captures.lists["55555"] = error
    inputs = await expand(sources, f"{SERVICE}/album?album_id=55555", "11111")
    assert [one.error for one in inputs.tracks] == [error, None]


async def test_a_short_link_of_the_service_is_followed_to_its_list(sources: FakeSources) -> None:
    sources.captures.targets[SHORT] = LinkTarget("service_album", "55555")
    sources.captures.lists["55555"] = list_of("55555", 3)
    inputs = await expand(sources, SHORT)
    assert counts(inputs) == [("album", 3, 3, 0)]


async def test_a_short_link_to_a_song_is_asked_by_the_songs_own_link(sources: FakeSources) -> None:
    sources.captures.targets[SHORT] = LinkTarget("service_track", "77777")
    (track,) = (await expand(sources, SHORT)).tracks
    assert (track.text, track.scan_input) == (SHORT, PROFILE.song_link("77777"))


async def test_a_short_link_that_led_to_a_track_before_is_not_followed(
    sources: FakeSources,
) -> None:
    sources.known.add(SHORT)
    (track,) = (await expand(sources, SHORT)).tracks
    assert (track.scan_input, sources.captures.asked) == (SHORT, [])


async def test_a_short_link_to_something_else_is_left_to_the_scan(sources: FakeSources) -> None:
    sources.captures.targets[SHORT] = LinkTarget("service_video", "88888")
    (track,) = (await expand(sources, SHORT)).tracks
    assert (track.scan_input, track.error) == (SHORT, None)


async def test_a_list_without_a_chosen_profile_is_refused() -> None:
    with pytest.raises(ProfileNotChosenError):
        await expand(None, f"{SERVICE}/album?album_id=55555")
