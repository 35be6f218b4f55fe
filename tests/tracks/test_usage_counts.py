"""The platform's count of a sound's videos: its own rule, read and stored as it was shown."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from pipelines.platform.parsers.descriptions import parse_music_info
from pipelines.platform.parsers.videos import ParseContext
from sandbox.server.documents.videos import music_info, shown_count
from sandbox.server.platform import SandboxPlatform
from sandbox.world.growth import DAY_S, platform_use_count
from sandbox.world.world import SandboxWorld
from warehouse import open_warehouse
from warehouse.lake.record_rows import observation_row

DAYS = 60
SILENT_DAYS = frozenset({9, 10, 11, 31})
"""Days without an observation."""


@pytest.mark.parametrize(
    ("count", "text"),
    [(999_999, 999_999), (1_000_000, "100.0万"), (1_234_567, "123.4万"), (23_000_999, "2300.0万")],
)
def test_the_sandbox_rounds_from_a_million_on(count: int, text: int | str) -> None:
    assert shown_count(count) == text


def test_the_count_of_a_sound_is_above_its_videos_and_never_falls(world: SandboxWorld) -> None:
    for sound in world.tracks:
        videos = int(world.videos_by_sound(sound.index).size)
        counts = [
            platform_use_count(world.seed, sound, videos=videos, days=day) for day in range(DAYS)
        ]
        assert counts[0] > videos
        assert counts == sorted(counts)
        assert world.use_count(sound) == SandboxWorld(5, 0.1).use_count(sound) == counts[0]


def test_each_stored_count_is_the_one_of_its_day_or_within_a_step_and_none_is_invented(
    platform: SandboxPlatform, small_store: Any
) -> None:
    start = platform.world.population.now
    rule: dict[tuple[str, int], int] = {}
    rows = []
    for day in sorted(set(range(DAYS + 1)) - SILENT_DAYS):
        platform.world = platform.first.at(day * DAY_S)
        at = datetime.fromtimestamp(start + day * DAY_S, UTC)
        context = ParseContext(surface="music_info", observed_at=at, link_of=str)
        for sound in platform.world.tracks:
            rule[sound.music_id, day] = platform.world.use_count(sound)
            body = json.dumps({"music_info": music_info(platform, sound)}).encode()
            track = parse_music_info(body, sound.music_id, context)
            row = observation_row(track, capture_id=None, job_id=None, data_provider="sandbox")
            rows.append({**row, "committed_at": at})
    small_store.lake.append("raw.tracks", rows)
    with open_warehouse(small_store.home.root) as wh:
        stored = wh.marts.music_id_days.rows()
    first_day = datetime.fromtimestamp(start, UTC).date()
    points = {(row["music_id"], (row["day"] - first_day).days): row for row in stored}
    assert points.keys() == rule.keys()
    for key, row in points.items():
        assert 0 <= rule[key] - row["use_count"] < (row["use_count_step"] or 1), (key, row)
        assert row["use_count_exact"] == (rule[key] < 1_000_000)
    # Both forms occur, so that the comparison above is one of both.
    assert {row["use_count_exact"] for row in stored} == {True, False}
    assert all(row["previous_date"] is None or row["uses_gained"] is not None for row in stored)
