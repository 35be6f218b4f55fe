"""What a run shows of its track in the orchestrator, and where its job is linked to."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from dagster import PathMetadataValue, UrlMetadataValue

from pipelines.orchestration.assets.decorators import track_metadata
from warehouse.records.videos import Track

TRACK = Track(music_id="70001", surface="music_info", observed_at=datetime(2026, 1, 31, tzinfo=UTC))


def scan(console_url: str | None) -> Any:
    profile = SimpleNamespace(address=lambda name, music_id: f"http://p/{name}/{music_id}")
    return SimpleNamespace(
        runtime=SimpleNamespace(
            profile=profile, settings=SimpleNamespace(console_url=console_url), is_demo=True
        ),
        job=SimpleNamespace(job_id="job-1"),
        job_path="/jobs/job-1",
    )


def test_a_track_is_shown_with_its_page_and_without_a_title_by_saying_so() -> None:
    shown = track_metadata(scan(None), TRACK)
    assert (shown["music_id"].text, shown["title"].text) == ("70001", "(no title)")
    assert shown["public_page"].url == "http://p/public_music/70001"
    assert shown["is_demo_data"] is True


@pytest.mark.parametrize("address", ["https://console.example", "https://console.example/"])
def test_the_job_is_linked_to_in_the_console(address: str) -> None:
    link = track_metadata(scan(address), TRACK)["job"]
    assert isinstance(link, UrlMetadataValue)
    assert link.url == "https://console.example/console#/job/job-1"


def test_without_a_console_the_path_of_the_job_is_named() -> None:
    link = track_metadata(scan(None), TRACK)["job"]
    assert isinstance(link, PathMetadataValue)
    assert link.path == "/jobs/job-1"
