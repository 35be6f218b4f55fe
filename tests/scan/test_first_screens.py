"""First screens of authors and hashtags: which are read, and which are reported as not reached."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import cast

from pipelines.captures.walks import ListWalk
from pipelines.parameters.scan import ScanParameters
from pipelines.scan.collect import read_author_screens, read_hashtag_screens
from pipelines.scan.discover import read_first_authors
from pipelines.scan.scan_run import ScanRun
from pipelines.scan.state.scan_state import ScanState
from tests.scan.scan_fakes import FakeScan
from warehouse.records.coverage import SourceCoverage
from warehouse.records.errors import ForbiddenError, RefusedLatelyError, UpstreamError
from warehouse.records.videos import Author, Hashtag, Music, Video

NOW = datetime(2026, 1, 1, tzinfo=UTC)


class ScreenScan(FakeScan):
    """The part of a scan that screens need. `error`: what each screen is refused with."""

    music_id, song_title = "own", "Boats"
    discovery = SimpleNamespace(author_limit=1)

    def __init__(self, *, candidate_limit: int = 150) -> None:
        self.state = ScanState(verified={"own": None})
        self.parameters = ScanParameters(candidate_limit=candidate_limit)
        self.captures = self.stopwatch = self
        self.error: UpstreamError | None = None
        self.asked: list[str] = []

    async def walk_user_posts(self, sec_uid: str) -> ListWalk:
        return self._walk("user_posts", sec_uid)

    async def walk_hashtag(self, ch_id: str, *, limit: int, pages: int) -> ListWalk:
        assert (limit, pages) == (self.parameters.candidate_limit, 1)
        return self._walk("hashtag_list", ch_id)

    def _walk(self, surface: str, name: str) -> ListWalk:
        self.asked.append(name)
        stop = "exhausted" if self.error is None else self.error.type
        coverage = SourceCoverage(
            surface=surface, requests=1, pages=1, items=0, new_items=0, stop_reason=stop
        )
        return ListWalk(videos=(), coverage=coverage, error=self.error)

    @property
    def session(self) -> ScanRun:
        return cast("ScanRun", self)


def video_of(sec_uid: str, *, music_id: str = "own", tags: tuple[str, ...] = ()) -> Video:
    return Video(
        aweme_id=f"of {sec_uid}", surface="video_page", observed_at=NOW,
        author=Author(sec_uid=sec_uid), music=Music(music_id=music_id),
        hashtags=tuple(Hashtag(ch_id=tag, name=tag) for tag in tags),
    )  # fmt: skip


def test_a_screen_that_is_refused_again_is_reported_once_and_one_that_is_read_not_at_all() -> None:
    scan = ScreenScan()
    videos = [video_of(name) for name in ("a", "b")]
    scan.error = ForbiddenError("no", surface="user_posts")
    read_author_screens(scan.session, videos)
    scan.error = RefusedLatelyError("no", surface="user_posts")
    read_author_screens(scan.session, videos)
    assert sorted(scan.state.not_reached) == sorted(set(scan.state.not_reached)) != []
    left = {name.partition(":")[2] for name in scan.state.not_reached}
    scan.error, scan.asked = None, []
    scan.state.scanned_authors -= left
    read_author_screens(scan.session, videos)
    assert set(scan.asked) == left
    assert scan.state.not_reached == []


def test_hashtags_beyond_the_limit_are_left() -> None:
    scan = ScreenScan(candidate_limit=30)
    videos = [video_of(name, tags=("1", "2", "3", "4")) for name in ("a", "b")]
    read_hashtag_screens(scan.session, videos)
    assert (scan.asked, scan.state.hashtags_left) == (["1", "2"], ("3", "4"))


def test_a_discovery_reads_screens_of_authors_that_use_the_exact_track() -> None:
    scan = ScreenScan()
    details = [video_of("a", music_id="another"), video_of("b")]
    scan.state.details = {one.aweme_id: one for one in details}
    read_first_authors(scan.session)
    assert scan.asked == ["b"]
