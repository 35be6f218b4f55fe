"""A world on the calendar of today ends now; ids and births are told by its times."""

import asyncio
import itertools
from datetime import UTC, datetime
from pathlib import Path

import httpx2 as httpx
import numpy as np
import pytest

from sandbox.server.app import PERIOD_DAYS, SandboxOptions, create_sandbox, span_of
from sandbox.world.ground_truth import GroundTruth
from sandbox.world.growth import DAY_S, HORIZON_DAYS
from sandbox.world.world import SandboxWorld

pytestmark = pytest.mark.full

NOW = 1_795_000_000.5  # in November 2026
WORLD = SandboxWorld(31, 0.2)


def test_the_fixed_calendar_does_not_know_the_time() -> None:
    assert span_of("fixed", now=NOW) == span_of("fixed", now=0) == (None, 0)


def test_the_calendar_of_today_ends_with_the_current_hour_while_new_videos_appear() -> None:
    for day in range(PERIOD_DAYS):
        now = NOW + day * DAY_S
        start, passed_s = span_of("today", now=now)
        assert start is not None
        assert now - 3600 < start + passed_s <= now
        assert HORIZON_DAYS - PERIOD_DAYS <= passed_s / DAY_S <= HORIZON_DAYS


def test_the_ids_of_today_are_those_of_tomorrow_within_a_period() -> None:
    starts = [span_of("today", now=NOW + day * DAY_S)[0] for day in range(2 * PERIOD_DAYS)]
    assert sum(before != after for before, after in itertools.pairwise(starts)) == 2


def test_an_unknown_calendar_is_refused() -> None:
    for calendar in ("julian", "2025-09-30", "2046-01-01", "2026-02-30", ""):
        with pytest.raises(ValueError, match="use today, fixed, or a date from 2025-10-01"):
            span_of(calendar, now=NOW)


def test_a_date_ends_with_that_day_whatever_the_time_is() -> None:
    start, passed_s = span_of("2026-02-28", now=NOW)
    assert start is not None
    assert datetime.fromtimestamp(start + passed_s, UTC) == datetime(2026, 2, 28, 23, tzinfo=UTC)
    assert span_of("2026-02-28", now=0) == (start, passed_s)


def test_a_world_of_today_shows_posts_of_its_last_days_and_none_from_the_future() -> None:
    start, passed_s = span_of("today", now=NOW)
    world = SandboxWorld(31, 0.2, start=start, passed_s=passed_s)
    assert start is not None
    assert world.now == start + passed_s
    age_s = world.now - world.works.create_time
    assert age_s.min() >= 0
    assert int((age_s < 7 * DAY_S).sum()) >= 10
    assert world.at(passed_s).works.aweme_id.tolist() == world.works.aweme_id.tolist()


def test_the_upper_half_of_every_id_is_the_time_of_its_birth() -> None:
    assert np.array_equal(WORLD.works.aweme_id >> 32, WORLD.works.create_time)
    for index in range(len(WORLD.sounds)):
        rows = np.flatnonzero(WORLD.works.sound == index)
        born_at = int(WORLD.sounds.music_id[index]) >> 32
        assert -84 <= int(WORLD.works.create_time[rows].min()) - born_at <= 337


@pytest.mark.parametrize("passed_s", [0, 40 * DAY_S])
def test_an_original_sound_is_born_with_a_video_of_its_owner(passed_s: int) -> None:
    world = WORLD.at(passed_s)
    sources = [world.source_video(index) for index in range(len(world.sounds))]
    for index, source in enumerate(sources):
        assert (source is None) == (world.sounds.owner[index] < 0)
        if source is not None:
            assert world.works.account[source] == world.sounds.owner[index]
            assert world.works.sound[source] == index


def test_the_ground_truth_tells_births_and_sources() -> None:
    track = WORLD.tracks[0]
    works = GroundTruth(WORLD, track.music_id).works()
    owned = [work for work in works if work.sound_source is not None]
    assert {work.sound_source for work in works if work.music_id == track.music_id} == {None}
    assert owned
    for work in owned:
        source = WORLD.video_of_id(work.sound_source or "")
        assert source is not None
        assert 0 <= source.create_time - work.sound_born_at <= 337
        assert work.create_time >= source.create_time


def test_a_sandbox_of_today_starts_with_an_unmoved_clock(tmp_path: Path) -> None:
    options = SandboxOptions(seed=31, size=0.2, cache_dir=tmp_path, calendar="today")

    async def read() -> list[dict[str, int]]:
        transport = httpx.ASGITransport(app=create_sandbox(options))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            before = await client.get("/_world/clock")
            moved = await client.post("/_world/clock", json={"advance_s": DAY_S})
            back = await client.post("/_world/clock", json={"advance_s": -DAY_S})
            return [before.json(), moved.json(), back.json()]

    before, moved, back = asyncio.run(read())
    assert before["offset_s"] == 0
    assert moved == {"now": before["now"] + DAY_S, "offset_s": DAY_S}
    assert back == before
