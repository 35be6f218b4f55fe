"""What a run has read is given to the next one: each call once, in order, with its cost."""

import asyncio
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from pipelines.captures.capture import Capture, CaptureRequest, pack_capture, unpack_capture
from pipelines.captures.journal import ScanJournal
from pipelines.platform.sources.table import SoundFile
from warehouse.control import ControlStore, open_control, scan_journal
from warehouse.records.errors import RateLimitedError, UnresolvedIdError
from warehouse.records.search import SearchPosition
from warehouse.records.videos import SoundAddresses, Unavailability, Video, VideoPage

NOW = datetime(2026, 11, 20, 12, 30, 15, 123456, tzinfo=UTC)
VIDEO = Video(aweme_id="1", surface="video_page", observed_at=NOW, desc="早安")
JOB = "a job"
NAMES = TypeAdapter(list[str])


@pytest.fixture
def control(tmp_path: Path) -> ControlStore:
    return open_control(f"sqlite:///{tmp_path / 'control.sqlite'}", world="sandbox")


def journal_of(control: ControlStore, run_number: int, *, checkpoint: int = 0) -> ScanJournal:
    return ScanJournal(control, JOB, run_number=run_number, checkpoint=checkpoint)


def documents(journal: ScanJournal, key: str) -> list[bytes]:
    found = []
    while (row := journal.take(key)) is not None:
        found.append(row.document)
    return found


def test_the_next_run_is_given_everything_once_and_in_order(control: ControlStore) -> None:
    first = journal_of(control, 1)
    for document in (b"1", b"2"):
        asyncio.run(first.record("a", document, body=b"body"))
    asyncio.run(journal_of(control, 2).record("a", b"3"))
    third = journal_of(control, 3)
    assert third.has("a")
    assert documents(third, "a") == [b"1", b"2", b"3"]
    assert not third.has("a")
    assert documents(third, "b") == []


def test_journal_gives_only_reads_after_the_checkpoint(control: ControlStore) -> None:
    first = journal_of(control, 1)
    asyncio.run(first.record("a", b"before"))
    first.advance(1)
    asyncio.run(first.record("a", b"after"))
    assert documents(journal_of(control, 2, checkpoint=1), "a") == [b"after"]
    early = journal_of(control, 2)
    early.advance(1)
    assert documents(early, "a") == [b"after"]


def test_a_query_is_made_once(control: ControlStore) -> None:
    assert journal_of(control, 1).once("names", NAMES, lambda: ["a"]) == ["a"]
    assert journal_of(control, 2).once("names", NAMES, lambda: ["a", "b"]) == ["a"]


def test_captures_that_the_lake_lacks_come_back_under_other_ids(control: ControlStore) -> None:
    first = journal_of(control, 1)
    asyncio.run(first.record("a", b"1", body=b"body", capture_id="old"))
    first.advance(1)
    second = journal_of(control, 2, checkpoint=1)
    assert second.captures() == ["old"]
    (row,) = second.rename_captures({"old": "new"})
    assert (row.capture_id, row.document, row.body) == ("new", b"1", b"body")
    assert second.captures() == ["new"]


def test_the_journal_goes_with_the_end_of_its_job(control: ControlStore) -> None:
    asyncio.run(journal_of(control, 1).record("a", b"1"))
    scan_journal.drop(control, JOB)
    assert not journal_of(control, 2).has("a")


REQUEST = CaptureRequest(
    kind="work",
    surface="video_page",
    entity_id="1",
    place=SearchPosition(cursor=10, search_id="s"),
)


def capture_of(**facts: Any) -> Capture[Any]:
    return Capture(request=REQUEST, surface="video_page", observed_at=NOW, **facts)


CAPTURES = [
    capture_of(value=replace(VIDEO, sound=SoundAddresses(urls=("u",))), capture_id=None),
    capture_of(value=VideoPage(videos=(VIDEO,), cursor=7, has_more=True)),
    capture_of(value=Unavailability(reason="deleted"), is_shared=True),
    capture_of(
        request_count=3,
        verdicts=Counter({("detail", "slides_info", "answered"): 2}),
        is_fallback=True,
        file=SoundFile(
            path=Path("a/b"), sha256="c", size_bytes=1, content_type=None, request_count=3
        ),
    ),
    capture_of(value=VIDEO, payload=b"<html>", content_type="text/html", http_status=200),
]


@pytest.mark.parametrize("capture", CAPTURES, ids=range(len(CAPTURES)))
def test_a_capture_comes_back_as_it_was(capture: Capture[Any]) -> None:
    again = unpack_capture(
        pack_capture(capture), body=capture.payload, capture_id=capture.capture_id
    )
    assert again == capture


@pytest.mark.parametrize(
    "error",
    [
        RateLimitedError(
            "slow down", surface="media", reason="busy", status=429, hint="wait", retry_after=3.5
        ),
        UnresolvedIdError("no such account", hint="check it"),
    ],
    ids=["refusal", "unknown"],
)
def test_an_error_comes_back_as_it_was(error: RateLimitedError | UnresolvedIdError) -> None:
    packed = pack_capture(capture_of(error=error))
    again = unpack_capture(packed, body=None, capture_id=None).error
    assert type(again) is type(error)
    assert again.to_document() == error.to_document()


def test_a_capture_of_another_release_is_not_read() -> None:
    with pytest.raises(ValueError, match="another schema"):
        unpack_capture(
            pack_capture(CAPTURES[0]).replace(b'"revision":"', b'"revision":"x'),
            body=None,
            capture_id=None,
        )
