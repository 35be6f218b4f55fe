"""Ids of the pages, of the API's examples and of help texts exist in the sandbox on every day."""

import re
from collections import Counter
from datetime import UTC, date, datetime
from functools import cache

import numpy as np
import pytest

from sandbox.server.app import span_of
from sandbox.world.chart import SandboxChart
from sandbox.world.content.examples import FIRST_POST_S, TRACK_IDS, VIDEO_IDS
from sandbox.world.guest_view import VideoTextIndex
from sandbox.world.world import SandboxWorld
from tests.house.page_examples import PAGES, ROOT

pytestmark = pytest.mark.full

SEED = 7
"""Default of `sametrack up`."""
SIZES = (0.3, 1.0)
"""Of README and by default."""
DAYS = ("2025-10-01", "2026-02-28", "2026-11-28", "2027-06-30", "2035-01-01")
CALENDARS = ("fixed", *DAYS)
OWN_IDS = {"docs/files.md"}
"""Shows files of a user with ids of their own."""
OUTPUT = re.compile(r"^```pycon\n.*?^```$", re.MULTILINE | re.DOTALL)
"""What a stored scan of the first release answers."""
ID = re.compile(
    r"(?<![\w.])(?:[17]\d{17,18}|MS4wLjABAAAA[\w-]{4,}|@[a-z]+\d{5}|hash:[0-9a-f]{4,})(?![\w-])"
)


@cache
def ids_in_pages() -> dict[str, str]:
    """Return each id with a file that shows it; responses of examples have ids of their own."""
    paths = [ROOT / page for page in PAGES if page not in OWN_IDS]
    paths += [ROOT / ".env.example", *(ROOT / "notebooks").glob("*/*.ipynb")]
    paths += [path for name in ("*.py", "*.js") for path in (ROOT / "api").rglob(name)]
    paths += (ROOT / "pipelines" / "documents").rglob("*.py")
    return {
        name: str(path.relative_to(ROOT))
        for path in paths
        for name in ID.findall(OUTPUT.sub("", path.read_text(encoding="utf-8")))
    }


@cache
def world_on(calendar: str, size: float) -> SandboxWorld:
    start, passed_s = span_of(calendar, now=0)
    return SandboxWorld(SEED, size, start=start, passed_s=passed_s)


def exists(world: SandboxWorld, name: str, hashtags: set[str], songs: set[str]) -> bool:
    handles = (world.account(index).unique_id for index in range(world.account_count))
    if name.startswith("@"):
        return name[1:] in handles
    if name.startswith("hash:"):
        return name in songs
    sound, account = world.sound_of(name), world.account_of(name)
    if sound is not None:
        return world.music_list(sound.index).size >= 3
    if account is not None:
        return world.first_screen(account).size >= 3
    return world.video_of_id(name) is not None or name in hashtags


def test_the_pages_show_ids_of_every_kind() -> None:
    kinds = {name[:1] for name in ids_in_pages()}
    assert kinds == {"1", "7", "M", "@", "h"}


@pytest.mark.parametrize("calendar", CALENDARS)
@pytest.mark.parametrize("size", SIZES)
def test_every_id_of_a_page_exists_in_the_sandbox(calendar: str, size: float) -> None:
    world = world_on(calendar, size)
    hashtags = set(VideoTextIndex(world).names)
    chart = SandboxChart(world)
    place = chart.calendar.count_at(int(datetime(2022, 3, 2, tzinfo=UTC).timestamp())) - 1
    songs = {f"hash:{song.song_hash.lower()}" for song in chart.songs(place)}
    missing = {
        name: page
        for name, page in ids_in_pages().items()
        if not exists(world, name, hashtags, songs)
    }
    assert missing == {}


@pytest.mark.parametrize("calendar", CALENDARS)
@pytest.mark.parametrize("seed", [1, SEED, 12])
def test_fixed_ids_are_believable_in_every_world(seed: int, calendar: str) -> None:
    start, passed_s = span_of(calendar, now=0)
    world = SandboxWorld(seed, 0.1, start=start, passed_s=passed_s)
    ids = world.works.aweme_id[: len(world.population.works)]
    assert len(set(ids.tolist())) == ids.size
    assert (ids >> 32 == world.works.create_time[: ids.size]).all()
    for place, music_id in enumerate(TRACK_IDS.tolist()):
        sound = world.tracks[place]
        assert sound.music_id == str(music_id)
        posted = world.works.create_time[world.works.sound == sound.index]
        assert posted.min() == (music_id >> 32) + FIRST_POST_S
    states = [world.video_of_id(str(name)) for name in VIDEO_IDS.tolist()]
    assert [video and video.state.name for video in states] == ["PUBLIC", "DELETED", "PUBLIC"]


def test_the_same_seed_is_the_same_world_relative_to_the_day() -> None:
    one, other = (
        SandboxWorld(
            SEED, 0.3, start=int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())
        )
        for day in (date(2026, 6, 1), date(2026, 7, 1))
    )
    ages = [Counter((world.now - world.works.create_time).tolist()) for world in (one, other)]
    of_tracks = np.isin(one.works.sound, one.population.own_sounds[: TRACK_IDS.size])
    assert (ages[0] - ages[1]).total() <= of_tracks.sum() + 2 * VIDEO_IDS.size
    assert one.works.digg_count.sum() == other.works.digg_count.sum()
