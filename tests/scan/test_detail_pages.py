"""Reading the detail pages of a pool: what refuses, what is left unread, and what is reported."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import cast, override

import pytest

from pipelines.parameters.scan import ScanParameters
from pipelines.scan.collect import READS_IN_FLIGHT, read_details
from pipelines.scan.rules.candidate_pool import Sighting
from pipelines.scan.scan_run import ScanRun
from pipelines.scan.state.scan_state import ScanState
from tests.scan.scan_fakes import FakeScan
from warehouse.records.errors import (
    SURFACE_OFF,
    ForbiddenError,
    PageWithoutDataError,
    RefusedLatelyError,
    RunCancelledError,
    StructureChangedError,
    UpstreamError,
)
from warehouse.records.videos import Unavailability, Video

type Answer = UpstreamError | Unavailability | None
NOW = datetime(2026, 1, 1, tzinfo=UTC)
OFF = ForbiddenError("off", surface="video_page", reason=SURFACE_OFF)


class ReadingScan(FakeScan):
    """The part of a scan that detail pages need. `answers`: what is no ordinary page."""

    parameters = ScanParameters()
    keyword = None

    def __init__(self, names: list[str], answers: Mapping[str, Answer] | None = None) -> None:
        seen = {
            name: Sighting(aweme_id=name, surface="search", entity_id="term", same_music=False)
            for name in names
        }
        self.state = ScanState(pool=seen)
        self.captures = self.stopwatch = self
        self.requests_used = 0
        self.is_cancelled = False
        self._answers = answers or {}

    async def video(self, aweme_id: str, *, max_age_s: float) -> Video | Unavailability:
        assert max_age_s > 0
        found = self._answers.get(aweme_id)
        self.requests_used += not isinstance(found, RefusedLatelyError) and found is not OFF
        if isinstance(found, UpstreamError):
            raise found
        if found is not None:
            return found
        return Video(aweme_id=aweme_id, surface="video_page", observed_at=NOW)

    @override
    def check_cancelled(self) -> None:
        if self.is_cancelled:
            raise RunCancelledError("job")


def read(scan: ReadingScan) -> list[str]:
    return [video.aweme_id for video in read_details(cast("ScanRun", scan))]


def reported(scan: ReadingScan) -> tuple[int, int, int, str]:
    [entry] = scan.state.coverage_report
    assert entry.surface == "video_detail"
    assert entry.pages == entry.items, "a page that was refused was not read"
    return entry.requests, entry.items, entry.new_items, entry.stop_reason


def test_a_refusal_of_the_visitor_ends_the_reading() -> None:
    names = [str(number) for number in range(READS_IN_FLIGHT + 4)]
    scan = ReadingScan(names, {"1": ForbiddenError("no", surface="video_page")})
    assert read(scan) == ["0"]
    assert scan.state.outcomes["1"] == (ForbiddenError.type, "no")
    assert scan.state.not_reached == [f"video_detail:{name}" for name in names[1:]]
    assert {scan.state.outcomes[name] for name in names[2:]} == {
        ("not_reached", ForbiddenError.type)
    }
    assert reported(scan) == (2, 1, 1, ForbiddenError.type)


def test_a_page_that_cannot_be_read_costs_its_video_alone() -> None:
    gone = Unavailability(reason="deleted")
    scan = ReadingScan(
        ["0", "1", "2", "3"], {"1": StructureChangedError("odd", surface="video_page"), "2": gone}
    )
    assert read(scan) == ["0", "3"]
    assert scan.state.outcomes == {
        "1": (StructureChangedError.type, "odd"), "2": ("unavailable", "deleted"),
    }  # fmt: skip
    assert scan.state.not_reached == ["video_detail:1"]
    assert reported(scan) == (4, 3, 2, StructureChangedError.type)


def test_the_most_frequent_error_is_the_stop_reason() -> None:
    shell = PageWithoutDataError("shell", surface="video_page")
    odd = StructureChangedError("odd", surface="video_page")
    scan = ReadingScan(["0", "1", "2", "3"], {"0": odd, "1": shell, "3": shell})
    assert read(scan) == ["2"]
    assert scan.state.not_reached == ["video_detail:0", "video_detail:1", "video_detail:3"]
    assert reported(scan) == (4, 1, 1, PageWithoutDataError.type)


def test_a_refusal_of_the_visitor_is_the_stop_reason_whatever_came_more_often() -> None:
    shell = PageWithoutDataError("shell", surface="video_page")
    refusal = ForbiddenError("no", surface="video_page")
    scan = ReadingScan(["0", "1", "2"], {"0": shell, "1": shell, "2": refusal})
    assert read(scan) == []
    assert reported(scan) == (3, 0, 0, ForbiddenError.type)


def test_a_pool_of_which_every_page_is_read_or_gone_is_completed() -> None:
    scan = ReadingScan(["0", "1"], {"1": Unavailability(reason="deleted")})
    assert read(scan) == ["0"]
    assert scan.state.not_reached == []
    assert reported(scan) == (2, 2, 1, "completed")


def test_recently_refused_detail_pages_are_reported_as_not_reached() -> None:
    lately = RefusedLatelyError("refused lately", surface="video_page")
    scan = ReadingScan(["0", "1", "2"], {"1": lately})
    assert read(scan) == ["0", "2"]
    assert scan.state.outcomes == {"1": (RefusedLatelyError.type, "refused lately")}
    assert scan.state.not_reached == ["video_detail:1"]
    assert reported(scan) == (2, 2, 2, RefusedLatelyError.type)


def test_a_surface_that_a_patch_switches_off_is_no_refusal_of_the_platform() -> None:
    scan = ReadingScan(["0", "1"], {"0": OFF, "1": OFF})
    assert read(scan) == []
    assert scan.state.outcomes["1"] == ("not_reached", "surface_off")
    assert reported(scan) == (0, 0, 0, "surface_off")


def test_a_pool_that_is_read_is_not_read_again() -> None:
    scan = ReadingScan(["0", "1"], {"1": Unavailability(reason="deleted")})
    assert read(scan) == ["0"]
    assert read(scan) == []
    assert scan.requests_used == 2
    assert len(scan.state.coverage_report) == 1


def test_a_cancelled_scan_ends_with_that_error_itself() -> None:
    scan = ReadingScan(["0", "1"])
    scan.is_cancelled = True
    with pytest.raises(RunCancelledError):
        read(scan)
    assert scan.requests_used == 0
