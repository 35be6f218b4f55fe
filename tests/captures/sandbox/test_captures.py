"""Captures over the real sandbox and real stores: what is read, what is kept, what is served."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, cast

import pytest

from pipelines.captures.walks import SearchLimits
from sandbox.server.surfaces.lists import repeats_cursor, trends_path
from sandbox.world.world import SandboxWorld
from tests.fake_clock import FakeClock
from tests.platform.sandbox_platform import JOB, Start, Stores, ask_control
from warehouse.lake.record_rows import unpack_bytes
from warehouse.records.errors import (
    AudioUnavailableError,
    InvalidMusicInputError,
    RunCancelledError,
    SametrackError,
    SubstitutionError,
    UnreachableError,
)
from warehouse.records.videos import Unavailability, Video

pytestmark = pytest.mark.full


async def test_every_form_of_input_leads_to_the_track(start: Start, track: dict[str, Any]) -> None:
    async with start() as captures:
        for form in ("prose", "short_link", "share_link", "video_link", "music_id"):
            assert await captures.resolve(track[form]) == track["music_id"], form


async def test_resolved_link_is_remembered(start: Start, track: dict[str, Any]) -> None:
    async with start() as captures:
        await captures.resolve(track["prose"])
    async with start() as captures:
        assert await captures.resolve(track["prose"]) == track["music_id"]
        assert captures.requests_used == 0


async def test_nonsense_is_refused_without_a_request(start: Start) -> None:
    link = "https://evil.example/video/7361234567890123456"
    async with start() as captures:
        for text in (link, "1" * 31, "1234", "just words", "", "   "):
            with pytest.raises(InvalidMusicInputError) as caught:
                await captures.resolve(text)
            assert caught.value.hint, text
            assert captures.requests_used == 0, text


async def test_track_that_does_not_exist_leaves_only_its_capture_row(
    start: Start, stores: Stores
) -> None:
    async with start() as captures:
        with pytest.raises(InvalidMusicInputError):
            await captures.track("99999999999999999")
    assert [row["outcome"] for row in stores.rows("select * from raw.captures")] == [
        "invalid_music_input"
    ]
    assert stores.rows("select * from raw.tracks") == []


async def test_observations_name_their_capture_and_its_payload(
    start: Start, stores: Stores, track: dict[str, Any]
) -> None:
    async with start() as captures:
        seen = await captures.track(track["music_id"])
        walk = await captures.walk_music(track["music_id"], limit=50)
        detail = await captures.video(walk.videos[0].aweme_id)
    assert seen.title == track["title"]
    assert isinstance(detail, Video)
    rows = stores.rows(
        """
        select c.*, p.body from raw.captures c left join raw.payloads p
        on p.sha256 = c.payload_sha256 order by c.observed_at
        """
    )
    assert [(row["surface"], row["outcome"], row["sequence"]) for row in rows[:2]] == [
        ("music_info", "ok", 1),
        ("music_list", "ok", 1),
    ]
    assert all(row["job_id"] == JOB for row in rows)
    assert track["music_id"].encode() in unpack_bytes(rows[0]["body"])
    items = stores.rows("select aweme_id from raw.capture_items order by position")
    assert [item["aweme_id"] for item in items] == [video.aweme_id for video in walk.videos]
    observed = stores.rows("select * from seen.videos where statistics_complete")
    assert [row["aweme_id"] for row in observed] == [detail.aweme_id]


async def test_walk_ends_with_a_reason_and_adds_up(start: Start, track: dict[str, Any]) -> None:
    async with start() as captures:
        walk = await captures.walk_music(track["music_id"], limit=5000)
        assert walk.coverage.stop_reason == "exhausted"
        assert walk.coverage.requests == captures.requests_used >= walk.coverage.pages
    assert walk.coverage.new_items == len({video.aweme_id for video in walk.videos})
    assert walk.error is None


WORLD = SandboxWorld(11, 0.1)
LONG_LIST = WORLD.sounds.row(
    max(range(len(WORLD.sounds)), key=lambda index: len(WORLD.music_list(index)))
).music_id


@pytest.mark.parametrize("empty", [pytest.param(1, marks=pytest.mark.soak), 3])
async def test_every_list_and_the_search_go_on_behind_empty_pages(
    start: Start, track: dict[str, Any], sandbox: Any, switches: Callable[..., Any], empty: int
) -> None:
    tags = [one["ch_id"] for one in ask_control(sandbox, "/_world/hashtags?limit=20")["hashtags"]]
    tag = next(name for name in tags if not repeats_cursor(name))
    link = f"http://share.vidplat.localhost{trends_path(LONG_LIST)}".partition("&music_id")[0]

    async def read() -> list[tuple[str, list[str]]]:
        async with start() as captures:
            walks = [
                await captures.walk_music(LONG_LIST, limit=5000),
                await captures.walk_hashtag(tag, limit=5000),
            ]
            assert await captures.resolve(link) == LONG_LIST
            search = await captures.search([track["title"]], limits=SearchLimits(page_limit=50))
        found = [(one.coverage.stop_reason, [v.aweme_id for v in one.videos]) for one in walks]
        return [*found, (search.terms[0].stop_reason, [v.aweme_id for v in search.videos])]

    without = await read()
    switches(f"empty_pages={empty}")
    assert await read() == without
    assert all(len(videos) > 20 for _, videos in without[:2])


async def test_a_trend_whose_first_page_is_empty_is_read_from_the_next(
    start: Start, faults: Callable[..., Any]
) -> None:
    faults(surface="trends_list", kind="empty_but_more", times=1)
    link = f"http://share.vidplat.localhost{trends_path(LONG_LIST)}".partition("&music_id")[0]
    async with start() as captures:
        assert await captures.resolve(link) == LONG_LIST


async def test_a_fourth_empty_page_in_a_row_ends_a_list_as_stalled(
    start: Start, switches: Callable[..., Any]
) -> None:
    switches("empty_pages=4")
    async with start() as captures:
        walk = await captures.walk_music(LONG_LIST, limit=5000)
    assert (walk.coverage.stop_reason, walk.coverage.pages) == ("cursor_stalled", 5)
    assert (len(walk.videos), walk.has_more) == (20, True)


async def test_author_screen_is_walked(start: Start, track: dict[str, Any]) -> None:
    async with start() as captures:
        detail = cast("Video", await captures.video(track["aweme_id"]))
        assert detail.author is not None
        walk = await captures.walk_user_posts(detail.author.sec_uid)
        account = await captures.account(detail.author.sec_uid)
    assert track["aweme_id"] in {video.aweme_id for video in walk.videos}
    assert (walk.coverage.pages, account.sec_uid) == (1, detail.author.sec_uid)


async def test_fresh_detail_is_served_from_the_warehouse(
    start: Start, track: dict[str, Any]
) -> None:
    async with start() as captures:
        read = await captures.video(track["aweme_id"])
    async with start() as captures:
        again = await captures.video(track["aweme_id"], max_age_s=3600)
        assert captures.requests_used == 0
        anew = await captures.video(track["aweme_id"])
        assert captures.requests_used > 0
    assert isinstance(read, Video)
    assert isinstance(again, Video)
    assert isinstance(anew, Video)
    assert again == replace(read, sound=None)
    assert anew.sound is not None
    assert anew.sound.urls


async def test_sound_arrives_under_its_hash(
    start: Start, track: dict[str, Any], tmp_path: Path
) -> None:
    async with start() as captures:
        detail = cast("Video", await captures.video(track["aweme_id"]))
        file = await captures.sound(detail)
    assert file.path.name.startswith(file.sha256)
    assert file.path.stat().st_size == file.size_bytes > 1000
    assert list((tmp_path / "sounds").iterdir()) == [file.path]


async def test_sound_of_a_stored_detail_is_read_anew(start: Start, track: dict[str, Any]) -> None:
    async with start() as captures:
        await captures.video(track["aweme_id"])
    async with start() as captures:
        stored = await captures.video(track["aweme_id"], max_age_s=3600)
        file = await captures.sound(cast("Video", stored))
        assert file.path.exists()


async def test_deleted_work_is_unavailable_and_kept_as_such(
    start: Start, stores: Stores, faults: Any, track: dict[str, Any]
) -> None:
    faults(surface="slides_info", kind="empty", times=0)
    faults(surface="video_page", kind="gone", times=0)
    async with start() as captures:
        detail = await captures.video(track["aweme_id"])
    assert isinstance(detail, Unavailability)
    assert stores.rows("select outcome from raw.captures") == [{"outcome": "unavailable"}]


@pytest.mark.parametrize(
    ("kind", "type_"),
    [
        ("empty", "upstream_empty"),
        ("blocked", "upstream_empty"),
        ("challenge", "upstream_verification"),
        ("captcha", "upstream_verification"),
        ("403", "upstream_forbidden"),
        ("500", "upstream_unreachable"),
        ("reset", "upstream_unreachable"),
        ("region", "upstream_region_blocked"),
        ("structure", "upstream_structure_changed"),
        ("huge", "upstream_structure_changed"),
    ],
)
async def test_refusal_of_a_list_is_its_stop_reason_and_its_row(
    kind: str, type_: str, start: Start, stores: Stores, faults: Any, track: dict[str, Any]
) -> None:
    for surface in ("music_list", "trends_list"):
        faults(surface=surface, kind=kind, times=0)
    async with start() as captures:
        walk = await captures.walk_music(track["music_id"], limit=50)
    assert (walk.coverage.stop_reason, walk.videos) == (type_, ())
    assert walk.error is not None
    row = stores.rows("select * from raw.captures")[0]
    assert (row["outcome"], row["request_count"]) == (type_, walk.coverage.requests)


@pytest.mark.parametrize("kind", ["empty", "403", "structure"])
async def test_withheld_detail_is_read_from_the_share_page(
    kind: str, start: Start, stores: Stores, faults: Any, track: dict[str, Any]
) -> None:
    faults(surface="slides_info", kind=kind, times=0)
    async with start() as captures:
        detail = await captures.video(track["aweme_id"])
    assert isinstance(detail, Video)
    assert detail.statistics_complete
    assert [row["surface"] for row in stores.rows("select surface from raw.captures")] == [
        "video_page"
    ]


async def test_sound_is_asked_for_with_the_page_that_named_it(
    start: Start, switches: Any, track: dict[str, Any]
) -> None:
    switches("media_needs_referer", "media_other_host", "page_shells=1")
    async with start() as captures:
        detail = cast("Video", await captures.video(track["aweme_id"]))
        file = await captures.sound(detail)
    assert file.size_bytes > 1000
    assert "slidesinfo" in str(detail.sound)


async def test_sound_that_the_host_altered_is_named_and_not_kept(
    start: Start, switches: Any, track: dict[str, Any], tmp_path: Path
) -> None:
    switches("media_altered")
    async with start() as captures:
        detail = cast("Video", await captures.video(track["aweme_id"]))
        with pytest.raises(AudioUnavailableError) as caught:
            await captures.sound(detail)
    assert caught.value.reason == "altered_by_host"
    assert list((tmp_path / "sounds").iterdir()) == []


async def test_expired_address_of_a_sound_is_named(
    start: Start, faults: Any, track: dict[str, Any]
) -> None:
    async with start() as captures:
        detail = cast("Video", await captures.video(track["aweme_id"]))
        faults(surface="media", kind="403", times=0)
        faults(surface="play", kind="403", times=0)
        with pytest.raises(AudioUnavailableError):
            await captures.sound(detail)


async def test_capture_of_a_body_that_is_not_a_sound_is_refused_and_deleted(
    start: Start, faults: Any, track: dict[str, Any], tmp_path: Path
) -> None:
    async with start() as captures:
        detail = cast("Video", await captures.video(track["aweme_id"]))
        faults(surface="*", kind="captcha", times=0)
        with pytest.raises(AudioUnavailableError):
            await captures.sound(detail)
    assert list((tmp_path / "sounds").iterdir()) == []


async def test_work_that_another_replaces_is_rejected(
    start: Start, stores: Stores, faults: Any, track: dict[str, Any]
) -> None:
    faults(surface="slides_info", kind="substitution", times=0)
    async with start() as captures:
        with pytest.raises(SubstitutionError):
            await captures.video(track["aweme_id"])
    assert stores.rows("select * from raw.videos") == []


async def test_platform_that_asks_to_wait_is_asked_again_after_it(
    start: Start, stores: Stores, faults: Any, track: dict[str, Any], clock: FakeClock
) -> None:
    faults(surface="music_list", kind="429", times=1, retry_after=20)
    async with start() as captures:
        walk = await captures.walk_music(track["music_id"], limit=50)
    assert (walk.coverage.stop_reason, walk.error) == ("exhausted", None)
    assert clock.monotonic() >= 20
    assert stores.rows("select request_count from raw.captures")[0] == {"request_count": 2}


async def test_platform_that_is_down_is_unreachable(
    start: Start, faults: Any, track: dict[str, Any]
) -> None:
    faults(surface="*", kind="reset", times=0)
    async with start() as captures:
        with pytest.raises(UnreachableError):
            await captures.track(track["music_id"])


async def test_cancelling_ends_a_hanging_request_and_keeps_what_was_read(
    start: Start, stores: Stores, faults: Any, track: dict[str, Any]
) -> None:
    looks = count()
    is_hanging = False

    def cancelled() -> bool:
        return is_hanging and next(looks) >= 2

    async with start(cancelled=cancelled) as captures:
        await captures.track(track["music_id"])
        faults(surface="music_list", kind="timeout", times=0, seconds=600)
        is_hanging = True
        with pytest.raises(RunCancelledError):
            await captures.walk_music(track["music_id"], limit=50)
    outcomes = stores.rows("select surface, outcome from raw.captures order by surface")
    assert [tuple(row.values()) for row in outcomes] == [
        ("music_info", "ok"),
        ("music_list", "cancelled"),
    ]


async def test_batches_are_committed_before_the_end(
    start: Start, stores: Stores, track: dict[str, Any]
) -> None:
    async with start(flush_every=1) as captures:
        await captures.track(track["music_id"])
        assert stores.rows("select count(*) as n from raw.captures") == [{"n": 1}]


async def test_same_body_is_stored_once_and_captures_are_numbered(
    start: Start, stores: Stores, track: dict[str, Any]
) -> None:
    async with start(flush_every=1) as captures:
        for _ in range(3):
            await captures.walk_music(track["music_id"], limit=5)
    sequences = stores.rows("select sequence from raw.captures order by sequence")
    assert [row["sequence"] for row in sequences] == list(range(1, len(sequences) + 1))
    hashes = stores.rows("select count(*) as n, count(distinct sha256) as d from raw.payloads")
    assert hashes[0]["n"] == hashes[0]["d"]


async def test_many_details_share_the_look_into_the_warehouse(
    start: Start, track: dict[str, Any]
) -> None:
    async with start() as captures:
        walk = await captures.walk_music(track["music_id"], limit=50)
        ids = [video.aweme_id for video in walk.videos]
        first = await asyncio.gather(
            *(captures.video(aweme_id) for aweme_id in ids), return_exceptions=True
        )
    assert not [error for error in first if isinstance(error, SametrackError)]
    shown = [replace(read, sound=None) for read in first if isinstance(read, Video)]
    async with start() as captures:
        again = await asyncio.gather(
            *(captures.video(video.aweme_id, max_age_s=3600) for video in shown)
        )
        assert captures.requests_used == 0
    assert [replace(read, sound=None) for read in again if isinstance(read, Video)] == shown
