"""What the end of a probe means, and which shapes its payload is compared with."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import cast

import pytest

from pipelines.doctor.probes import probe_round
from pipelines.doctor.probes.probe_result import (
    TIME_IS_UP,
    empty_list_error,
    probe_outcome,
    probe_reason,
)
from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.record_rows import pack_bytes
from warehouse.queries import surface_health
from warehouse.records.errors import (
    EmptyAnswerError,
    ForbiddenError,
    SametrackError,
    UnresolvedIdError,
    WarehouseUnavailableError,
)
from warehouse.records.videos import Unavailability, Video, VideoPage

VIDEO = Video(aweme_id="1", surface="music_list", observed_at=datetime(2026, 1, 31, tzinfo=UTC))
GONE = Unavailability(reason="deleted")


def page(*videos: Video, has_more: bool | None = False) -> VideoPage:
    return VideoPage(videos=videos, cursor=None, has_more=has_more)


@pytest.mark.parametrize("seen", [page(), page(has_more=True)], ids=["end", "more claimed"])
def test_a_list_that_is_empty_is_withheld(seen: VideoPage) -> None:
    error = empty_list_error(seen, "music_list")
    assert isinstance(error, EmptyAnswerError)
    assert (error.surface, error.reason) == ("music_list", "empty_list")
    assert probe_reason(seen, error) == "empty_list"


@pytest.mark.parametrize(
    "seen",
    [page(VIDEO), page(VIDEO, has_more=True), GONE, None],
    ids=["videos", "more to come", "no list", "nothing"],
)
def test_only_an_empty_page_is_an_empty_list_error(seen: object) -> None:
    assert empty_list_error(seen, "music_list") is None


@pytest.mark.parametrize(
    ("seen", "error", "reason"),
    [
        (page(VIDEO), None, None),
        (GONE, None, "canary_unavailable"),
        (None, UnresolvedIdError("no such account"), "unknown_id"),
        (None, ForbiddenError("refused", surface="media", reason="blocked"), "blocked"),
        (None, ForbiddenError("refused", surface="media"), "refused"),
        (None, WarehouseUnavailableError("l" * 300), "l" * 200),
    ],
    ids=["works", "gone", "unknown", "reason", "detail", "long"],
)
def test_a_probe_gives_the_reason_of_its_end(
    seen: object, error: SametrackError | None, reason: str | None
) -> None:
    assert probe_reason(seen, error) == reason


def test_a_probe_that_was_not_sent_in_time_says_nothing_about_its_surface() -> None:
    error = ForbiddenError("refused", surface="media")
    assert probe_outcome(None, None) == "works"
    assert probe_outcome(error, TIME_IS_UP) == "not_asked"
    assert probe_outcome(error, None) == "refused"


def test_a_surface_that_was_never_probed_is_compared_with_its_last_capture(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bodies = {"user_info": b'{"user": {"uid": 1}}', "media": b"no JSON at all"}
    asked: list[str] = []

    def good_bodies(_engine: object, surfaces: Iterable[str]) -> dict[str, bytes]:
        asked.extend(surfaces)
        return {name: pack_bytes(bodies[name]) for name in asked if name in bodies}

    monkeypatch.setattr(
        surface_health, "read_good_shapes", lambda _, **__: {"music_list": [("aweme_list",)]}
    )
    monkeypatch.setattr(surface_health, "read_good_bodies", good_bodies)
    engine = cast("Engine", None)
    shapes = probe_round.read_shapes(engine, ["music_list", "user_info", "media", "video_page"])
    assert asked == ["user_info", "media", "video_page"]
    assert shapes == {
        "music_list": [("aweme_list",)], "user_info": [("user", "user.uid")], "media": [],
    }  # fmt: skip
