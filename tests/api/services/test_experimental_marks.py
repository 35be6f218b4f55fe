"""What answers say of their source: tried out or not, by a device or not."""

from datetime import UTC, datetime
from typing import Any

import pytest

from api.services.reads.documents import provenance
from api.services.reads.sources import ReadOutcomes
from api.services.reads.videos import _is_from_app
from warehouse.records.videos import Unavailability, Video

NOW = datetime(2026, 11, 20, tzinfo=UTC)


def video(surface: str) -> Video:
    return Video(aweme_id="1", surface=surface, observed_at=NOW)


@pytest.mark.parametrize(
    ("source", "is_experimental"),
    [("vidplat-web", True), ("vidplat-public", False), ("mock", False), ("mobileapp-guest", False)],
)
def test_an_experimental_source_is_marked_in_what_it_answers(
    source: str, is_experimental: bool
) -> None:
    assert provenance(source, is_demo=False) == {
        "data_provider": source, "is_experimental": is_experimental, "is_demo_data": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("read", "stored", "is_from_app"),
    [
        (video("app_work"), None, True),
        (video("video_page"), "app_work", False),
        (None, "music_app", True),
        (None, "slides_info", False),
        (None, None, False),
        (Unavailability(reason="unavailable"), None, False),
    ],
)
def test_a_device_was_used_where_what_is_served_was_read_by_one(
    read: Any, stored: str | None, is_from_app: bool
) -> None:
    readings: ReadOutcomes[str, Any] = ReadOutcomes()
    if read is not None:
        readings.values["1"] = read
    listed = (
        {}
        if stored is None
        else {"1": Video(aweme_id="1", surface=stored, observed_at=NOW, first_observed_at=NOW)}
    )
    assert _is_from_app("1", listed, readings) is is_from_app
