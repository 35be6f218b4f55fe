"""A run that follows another meets what that one read, refusals too; what another release wrote is
read again.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from pipelines.captures.capture import Capture, CaptureRequest, pack_capture
from pipelines.captures.journal import ScanJournal
from pipelines.captures.session import Captures
from tests.captures.conftest import video
from tests.captures.test_redirected_links import GONE, VIDEO_ID, OneVideo
from warehouse.records.errors import AudioUnavailableError, ForbiddenError
from warehouse.records.videos import Track, Video

pytestmark = pytest.mark.full

JOB = "a job"
NOW = datetime(2026, 11, 20, 8, tzinfo=UTC)
TRACK = Track(music_id="12345", surface="music_info", observed_at=NOW)
REQUEST = CaptureRequest(kind="track", surface="music_info", entity_id="12345")

Begin = Callable[..., Captures]


@pytest.fixture
def source() -> OneVideo:
    return OneVideo()


@pytest.fixture
def run(begin: Begin, stores: Any) -> Callable[[int], Captures]:
    """The captures of one run of the job."""

    def run(number: int) -> Captures:
        journal = ScanJournal(stores.control, JOB, run_number=number, checkpoint=0)
        return begin(job_id=JOB, journal=journal)

    return run


def of_another_release(document: bytes) -> bytes:
    changed = document.replace(b'"revision":"', b'"revision":"x')
    assert changed != document
    return changed


async def test_a_refusal_is_met_again_without_asking_and_with_its_cost(
    run: Callable[[int], Captures], source: OneVideo, stores: Any
) -> None:
    source.error = ForbiddenError("no", surface="music_info", status=403)
    async with run(1) as first:
        with pytest.raises(ForbiddenError):
            await first.track("12345")
    async with run(2) as second:
        with pytest.raises(ForbiddenError) as met:
            await second.track("12345")
        assert second.requests_used == first.requests_used == 1
    assert met.value.to_document() == source.error.to_document()
    assert len(source.asked) == 1
    assert stores.rows("select outcome from raw.captures") == [{"outcome": "upstream_forbidden"}]


async def test_journal_gives_unshared_reads_to_the_next_run(
    run: Callable[[int], Captures], source: OneVideo
) -> None:
    source.found = GONE
    detail = video(VIDEO_ID, "video_page")
    for number in (1, 2):
        async with run(number) as captures:
            with pytest.raises(AudioUnavailableError, match="no longer available"):
                await captures.sound(detail)
            assert captures.requests_used == 1
    assert source.asked == [("video_page", VIDEO_ID)]


async def test_a_video_that_the_store_had_is_the_stored_one_in_the_next_run_too(
    run: Callable[[int], Captures], begin: Begin, source: OneVideo
) -> None:
    """Its sound was read from a newer page, which the store has by then."""
    source.found = video("7361234567890123456", "video_page")
    async with begin() as earlier:
        await earlier.video(VIDEO_ID)
    source.found = GONE
    read: list[Any] = []
    for number in (1, 2):
        async with run(number) as captures:
            read.append(await captures.video(VIDEO_ID, max_age_s=3600))
            assert captures.requests_used == 0
            with pytest.raises(AudioUnavailableError, match="no longer available"):
                await captures.sound(read[-1])
            assert captures.requests_used == 1
    assert isinstance(read[0], Video)
    assert read[1] == read[0]
    assert source.asked == [("video_page", VIDEO_ID)] * 2


async def test_a_refusal_of_what_is_read_without_sharing_is_met_again_too(
    run: Callable[[int], Captures], source: OneVideo
) -> None:
    """The call that a run would have made is not begun: one never awaited would be a warning."""
    source.error = ForbiddenError("no", surface="video_page", status=403)
    detail = video(VIDEO_ID, "video_page")
    for number in (1, 2):
        async with run(number) as captures:
            with pytest.raises(ForbiddenError):
                await captures.sound(detail)
    assert source.asked == [("video_page", VIDEO_ID)]


async def test_a_list_that_an_earlier_run_began_goes_on_with_the_source_of_its_cursor(
    run: Callable[[int], Captures], source: OneVideo
) -> None:
    source.list_surface = "trends_list"
    async with run(1) as first:
        walk = await first.walk_music("12345", limit=2)
    assert source.resumed == []
    async with run(2) as second:
        assert (await second.walk_music("12345", limit=2)).videos == walk.videos
    assert source.resumed == [("trends_list", "12345")]


async def test_a_call_that_another_release_recorded_is_made_again(
    run: Callable[[int], Captures], source: OneVideo, stores: Any
) -> None:
    journal = ScanJournal(stores.control, JOB, run_number=1, checkpoint=0)
    known = pack_capture(
        Capture(
            request=REQUEST, surface=REQUEST.surface, observed_at=NOW, request_count=7, value=TRACK
        )
    )
    await journal.record(REQUEST.key, of_another_release(known))
    async with run(2) as captures:
        assert (await captures.track("12345")).music_id == "12345"
        assert captures.requests_used == 1
    assert source.asked == [("music_info", "12345")]


async def test_lost_captures_are_restored_but_those_of_another_release(
    run: Callable[[int], Captures], source: OneVideo, stores: Any
) -> None:
    journal = ScanJournal(stores.control, JOB, run_number=1, checkpoint=0)
    lost: list[Capture[Any]] = [
        Capture(
            request=replace(REQUEST, entity_id=name),
            surface="music_info",
            observed_at=NOW,
            request_count=1,
        )
        for name in ("read", "foreign")
    ]
    for capture in lost:
        document = pack_capture(capture)
        if capture.request.entity_id == "foreign":
            document = of_another_release(document)
        await journal.record(capture.request.entity_id, document, capture_id=capture.capture_id)
    async with run(2) as captures:
        assert captures.requests_used == 0
    rows = stores.rows("select entity_id, capture_id from raw.captures")
    assert [row["entity_id"] for row in rows] == ["read"]
    assert rows[0]["capture_id"] != lost[0].capture_id
    assert source.asked == []
