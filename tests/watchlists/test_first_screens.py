"""The first screen of a watched account or hashtag: refused it is an error, never a loss."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast, override

import pytest

from pipelines.captures.session import Captures
from pipelines.captures.walks import ListWalk
from pipelines.settings import Settings
from pipelines.watchlists import open_service
from pipelines.watchlists.changes import (
    to_account_observation,
    to_hashtag_observation,
    to_track_observation,
)
from pipelines.watchlists.open_service import EntryChecker
from tests.watchlists.simulated_songs import TRACKS, Clock, Songs
from warehouse.records.coverage import SourceCoverage
from warehouse.records.errors import ForbiddenError, UpstreamError
from warehouse.records.videos import Account, HashtagInfo, Statistics, Video
from warehouse.records.watchlists import WatchlistEntry

NOW = datetime(2026, 3, 2, tzinfo=UTC)
REFUSED = ForbiddenError("refused", surface="user_posts")
ACCOUNT = Account(sec_uid="sec", surface="user_info", observed_at=NOW, nickname="Mia")
HASHTAG = HashtagInfo(ch_id="77777", surface="hashtag_info", observed_at=NOW, view_count=7)
ENTRIES = [
    WatchlistEntry(kind="account", input="sec"),
    WatchlistEntry(kind="hashtag", input="77777"),
]
VIDEO = Video(aweme_id="1", surface="user_posts", observed_at=NOW)


class Screens:
    """Captures whose first screens show these videos, and end with this error."""

    def __init__(self, videos: tuple[Video, ...], error: UpstreamError | None) -> None:
        coverage = SourceCoverage(
            surface="user_posts", requests=1, pages=1, items=len(videos), new_items=len(videos),
            stop_reason="exhausted" if error is None else error.type,
        )  # fmt: skip
        self.walk = ListWalk(videos=videos, coverage=coverage, error=error)

    async def resolve_user(self, text: str) -> str:
        return text

    async def resolve_hashtag(self, text: str) -> str:
        return text

    async def account(self, sec_uid: str) -> Account:
        return replace(ACCOUNT, sec_uid=sec_uid)

    async def hashtag(self, ch_id: str) -> HashtagInfo:
        return replace(HASHTAG, ch_id=ch_id)

    async def walk_user_posts(self, sec_uid: str) -> ListWalk:
        assert sec_uid == "sec"
        return self.walk

    async def walk_hashtag(self, ch_id: str, *, limit: int, pages: int) -> ListWalk:
        assert (ch_id, limit, pages) == ("77777", open_service.SCREEN_LIMIT, 1)
        return self.walk


class Checker(EntryChecker):
    """Looks at these screens; nothing is stored."""

    _screens: Screens

    def __init__(self, *videos: Video, error: UpstreamError | None = None) -> None:
        nothing = cast("Any", None)
        super().__init__(
            settings=Settings(_env_file=None),
            profile=nothing,
            control=nothing,
            open_engine=nothing,
            sounds_dir=Path(),
        )
        object.__setattr__(self, "_screens", Screens(videos, error))

    @override
    @asynccontextmanager
    async def _captures(self, provider_name: str) -> AsyncIterator[Captures]:
        yield cast("Captures", self._screens)


@pytest.fixture(autouse=True)
def _own_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """No platform is asked for its time."""
    monkeypatch.setattr(open_service, "follow_sandbox_clock", lambda _profile: None)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: str(entry.kind))
def test_a_screen_that_was_refused_is_an_error(entry: WatchlistEntry) -> None:
    with pytest.raises(ForbiddenError) as met:
        Checker(error=REFUSED).observe(entry)
    assert met.value is REFUSED


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: str(entry.kind))
def test_first_screen_keeps_videos_shown_before_a_refusal(entry: WatchlistEntry) -> None:
    seen = Checker(VIDEO, error=REFUSED).observe(entry)
    assert (seen.kind, seen.subject) == (entry.kind, entry.input)
    assert [work.aweme_id for work in seen.works] == ["1"]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: str(entry.kind))
def test_a_screen_that_is_empty_shows_no_videos(entry: WatchlistEntry) -> None:
    assert Checker().observe(entry).works == ()


@pytest.mark.parametrize(
    ("text", "title"),
    [(None, None), ("x" * 80, "x" * 80), ("x" * 81, "x" * 79 + "…")],
    ids=["none", "fits", "longer"],
)
def test_a_long_description_is_cut(text: str | None, title: str | None) -> None:
    seen = to_account_observation(ACCOUNT, [replace(VIDEO, desc=text)])
    assert [work.title for work in seen.works] == [title]


def test_rounded_counts_of_a_scan_are_unknown() -> None:
    result = Songs(Clock()).result(TRACKS[0])
    rounded, exact = result["ranked"][:2]
    rounded["statistics_complete"], result["ranked"] = False, [rounded, exact]
    seen = to_track_observation(result, top=10, gone={})
    shown = {work.aweme_id: work for work in seen.works}
    assert shown[rounded["aweme_id"]].statistics == Statistics()
    assert shown[rounded["aweme_id"]].rank is None
    assert shown[exact["aweme_id"]].statistics.digg_count == 80_000
    assert seen.figures["hot_score_sum"] is None


def test_rounded_counts_are_unknown() -> None:
    counts = Statistics(digg_count=12_000)
    videos = [replace(VIDEO, statistics=counts, is_exact=exact) for exact in (True, False)]
    seen = to_hashtag_observation(replace(HASHTAG, is_exact=False), videos)
    assert [work.statistics.digg_count for work in seen.works] == [12_000, None]
    assert seen.figures == {"view_count": None, "user_count": None}
