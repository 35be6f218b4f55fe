"""Reading the profiles of accounts: in which order, what ends it, and what is reported."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import cast

import pytest

from pipelines.parameters.scan import ScanParameters
from pipelines.scan import collect
from pipelines.scan.collect import PROFILE_MAX_AGE, read_profiles
from pipelines.scan.rules.expansion import TrackLink, accounts_by_likes
from pipelines.scan.scan_run import ScanRun
from pipelines.scan.state.scan_state import ScanState
from tests.scan.scan_fakes import FakeScan
from warehouse.records.errors import (
    ForbiddenError,
    SametrackError,
    StructureChangedError,
    UnresolvedIdError,
)
from warehouse.records.videos import Account, Author, Statistics, Video

NOW = datetime(2026, 1, 31, tzinfo=UTC)
REFUSED = ForbiddenError("refused", surface="user_info")


def video_of(sec_uid: str | None, *, likes: int | None = None) -> Video:
    return Video(
        aweme_id=f"of {sec_uid} with {likes}", surface="video_page", observed_at=NOW,
        author=None if sec_uid is None else Author(sec_uid=sec_uid),
        statistics=Statistics(digg_count=likes),
    )  # fmt: skip


def profile_of(sec_uid: str, *, age: timedelta = timedelta(0)) -> Account:
    return Account(sec_uid=sec_uid, surface="user_info", observed_at=NOW - age)


class ProfileScan(FakeScan):
    """The part of a scan that profiles need; `answers`: what is no profile."""

    def __init__(
        self, *names: str, answers: Mapping[str, SametrackError] | None = None, limit: int = 30
    ) -> None:
        self.state = ScanState(
            details={name: video_of(name) for name in names},
            confirmed={
                name: TrackLink(link_type="exact_music_id", expansion_round=0) for name in names
            },
        )
        self.parameters = replace(ScanParameters(), account_profile_limit=limit)
        self.captures = self.stopwatch = self.journal = self
        self.runtime = SimpleNamespace(engine=None)
        self.requests_used = 0
        self._answers = answers or {}

    def clock(self) -> datetime:
        return NOW

    def once[T](self, key: str, kind: object, compute: Callable[[], T]) -> T:
        del key, kind
        return compute()

    async def account(self, sec_uid: str) -> Account:
        self.requests_used += 1
        if sec_uid in self._answers:
            raise self._answers[sec_uid]
        return profile_of(sec_uid)


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> dict[str, Account]:
    """The profiles that are stored already."""
    stored: dict[str, Account] = {}
    monkeypatch.setattr(collect, "read_latest_accounts", lambda *_: stored)
    return stored


def read(scan: ProfileScan) -> list[str]:
    assert read_profiles(cast("ScanRun", scan)) == len(scan.state.profiles)
    return sorted(scan.state.profiles)


def reported(scan: ProfileScan) -> tuple[int, int, str]:
    [entry] = scan.state.coverage_report
    assert entry.surface == "user_info"
    assert entry.stop_reason == scan.state.profiles_end
    return entry.requests, entry.new_items, entry.stop_reason


def test_a_refusal_of_the_visitor_ends_the_reading() -> None:
    scan = ProfileScan("a", "b", "c", answers={"b": REFUSED})
    assert read(scan) == ["a"]
    assert scan.state.not_reached == ["user_info:b", "user_info:c"]
    assert reported(scan) == (2, 1, ForbiddenError.type)


def test_a_profile_that_cannot_be_read_costs_its_account_alone() -> None:
    odd = StructureChangedError("odd", surface="user_info")
    scan = ProfileScan("a", "b", "c", answers={"b": odd})
    assert read(scan) == ["a", "c"]
    assert scan.state.not_reached == ["user_info:b"]
    assert reported(scan) == (3, 2, StructureChangedError.type)


def test_the_error_that_ended_the_reading_is_the_reason_whatever_came_before() -> None:
    odd = StructureChangedError("odd", surface="user_info")
    scan = ProfileScan("a", "b", "c", answers={"a": odd, "b": REFUSED})
    assert read(scan) == []
    assert reported(scan) == (2, 0, ForbiddenError.type)


def test_an_account_that_is_gone_has_no_profile_and_is_not_left_out() -> None:
    scan = ProfileScan("a", "b", answers={"a": UnresolvedIdError("gone")})
    assert read(scan) == ["b"]
    assert scan.state.not_reached == []
    assert reported(scan) == (2, 1, "completed")


def test_a_refreshed_scan_reads_every_profile_anew(known: dict[str, Account]) -> None:
    known["a"] = profile_of("a")
    scan = ProfileScan("a")
    scan.parameters = replace(scan.parameters, refresh=True)
    assert read(scan) == ["a"]
    assert reported(scan) == (1, 1, "completed")


def test_a_recent_profile_is_not_read_again_and_an_older_one_is(known: dict[str, Account]) -> None:
    known["a"] = profile_of("a", age=PROFILE_MAX_AGE)
    known["b"] = profile_of("b", age=PROFILE_MAX_AGE + timedelta(seconds=1))
    scan = ProfileScan("a", "b")
    assert read(scan) == ["a", "b"]
    assert scan.state.profiles["b"].observed_at == NOW
    assert reported(scan) == (1, 1, "completed")


def test_accounts_beyond_the_limit_are_left_out_and_the_report_says_so() -> None:
    scan = ProfileScan("c", "a", "b", limit=2)
    assert read(scan) == ["a", "b"]
    assert reported(scan) == (2, 2, "account_profile_limit")


def test_accounts_with_most_likes_come_first_and_a_video_without_one_counts_for_nobody() -> None:
    videos = [
        video_of("b", likes=3), video_of(None, likes=99), video_of("a"), video_of("c", likes=2),
        video_of("c", likes=4), video_of("d", likes=3),
    ]  # fmt: skip
    assert accounts_by_likes(videos) == ("c", "b", "d", "a")
