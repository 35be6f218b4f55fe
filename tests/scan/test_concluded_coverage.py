"""What a scan concludes about its coverage: which sources ended, what was read and compared."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import cast

import pytest

from pipelines.captures.walks import FinishedSearch, TermWalk
from pipelines.parameters.scan import ScanParameters
from pipelines.scan.conclude import coverage_document, coverage_estimates, exhausted_sources
from pipelines.scan.rules.candidate_pool import Sighting
from pipelines.scan.rules.expansion import TrackLink
from pipelines.scan.scan_run import ScanRun
from pipelines.scan.state.scan_state import ScanState
from warehouse.records.coverage import SourceCoverage, SourceDecision
from warehouse.records.evidence import Comparison, MatchThresholds, PairEvidence
from warehouse.records.videos import Music, Video

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TRACK, OTHER = "7361234567890123456", "7360000000000000000"
LISTED = tuple(f"v{number}" for number in range(30))
"""What the list of the track shows."""


class ConcludingScan:
    """A scan of `LISTED`, of which every page was read but those of `unread`."""

    verifies_audio = True

    def __init__(
        self,
        *,
        unread: Sequence[str] = (),
        parameters: ScanParameters | None = None,
        keyword: str | None = None,
        stops: Sequence[str] | None = None,
        music_id: str = TRACK,
    ) -> None:
        self.music_id, self.keyword = TRACK, keyword
        self.parameters = parameters or ScanParameters()
        self.captures = self
        seen = {name: _listed(name, music_id) for name in LISTED}
        shown = [replace(seen[name], surface="search", entity_id="term") for name in LISTED[:10]]
        shown += [replace(seen[name], surface="hashtag_list", entity_id="tag") for name in LISTED]
        self.state = ScanState(
            verified={TRACK: None},
            screened={TRACK},
            sightings=[*seen.values(), *shown],
            pool=dict(seen),
            coverage_report=[
                SourceCoverage(
                    surface="music_list", requests=2, pages=2, items=30, new_items=30,
                    stop_reason="exhausted",
                )
            ],
        )  # fmt: skip
        for name in LISTED:
            if name in unread:
                self.state.not_reached.append(f"video_detail:{name}")
                continue
            video = Video(
                aweme_id=name, surface="slides_info", observed_at=NOW,
                music=Music(music_id=music_id),
            )  # fmt: skip
            self.state.details[name] = video
            self.state.confirmed[name] = TrackLink(link_type="exact_music_id", expansion_round=0)
        if stops is not None:
            self.state.search = FinishedSearch(
                terms=tuple(map(_term, stops)), videos=(), shown_by={}, requests_used=1,
                request_budget=180,
            )  # fmt: skip

    def music_of(self, video: Video) -> str:
        assert video.music is not None
        return video.music.music_id

    def read_decisions(self) -> list[SourceDecision]:
        return []

    @property
    def run(self) -> ScanRun:
        return cast("ScanRun", self)


def _listed(name: str, music_id: str) -> Sighting:
    return Sighting(
        aweme_id=name, surface="music_list", entity_id=music_id, same_music=True, music_id=music_id
    )


def _term(stop: str) -> TermWalk:
    return TermWalk(
        term="song", pages=1, items=10, new_items=10, last_cursor=10, finished=False,
        stop_reason=stop, requests=1,
    )  # fmt: skip


def _comparison(name: str) -> Comparison:
    pair = PairEvidence(verdict="confirmed", reason="local_match", score=0.9)
    return Comparison(
        comparison_id="c", pair=pair, reference_aweme_id="r", reference_music_id=TRACK,
        candidate_aweme_id=name, candidate_music_id=OTHER, limits=MatchThresholds(),
        algorithm="a", feature_version="f", library_version="l",
    )  # fmt: skip


def test_the_feed_of_a_track_ended_where_every_candidate_was_read() -> None:
    assert exhausted_sources(ConcludingScan().run) == {"music": True, "accounts": True}


@pytest.mark.parametrize("number", [1, 30])
def test_the_feed_of_a_track_has_not_ended_while_a_candidate_is_unread(number: int) -> None:
    assert not exhausted_sources(ConcludingScan(unread=LISTED[:number]).run)["music"]


@pytest.mark.parametrize(
    ("stop", "has_ended"), [("audio_unavailable", True), ("upstream_rate_limited", False)]
)
def test_a_round_whose_sounds_cannot_be_had_leaves_the_feed_ended_unless_they_were_refused(
    stop: str, *, has_ended: bool
) -> None:
    scan = ConcludingScan()
    scan.state.coverage_report.append(
        SourceCoverage(surface="media", requests=1, pages=0, items=0, new_items=0, stop_reason=stop)
    )
    assert exhausted_sources(scan.run)["music"] is has_ended


@pytest.mark.parametrize("left", ["authors_left", "hashtags_left"])
def test_screens_that_a_limit_left_unread_are_reported_and_the_feed_has_not_ended(
    left: str,
) -> None:
    scan = ConcludingScan()
    setattr(scan.state, left, ("one",))
    assert not exhausted_sources(scan.run)["music"]
    surface = {"authors_left": "user_posts", "hashtags_left": "hashtag_list"}[left]
    assert coverage_document(scan.run)["not_reached"] == [f"{surface}:one"]


@pytest.mark.parametrize(
    ("stops", "has_ended"),
    [
        (["exhausted"], True),
        (["exhausted", "no_new_items"], True),
        (["search_page_limit"], False),
        (["exhausted", "search_page_limit"], False),
        (["search_candidate_limit"], False),
    ],
)
def test_a_search_ended_where_no_limit_ended_a_term(stops: list[str], *, has_ended: bool) -> None:
    assert exhausted_sources(ConcludingScan(stops=stops).run)["search"] is has_ended


@pytest.mark.parametrize("keyword", [None, "song"])
def test_a_search_with_a_limit_of_none_was_ended_by_it(keyword: str | None) -> None:
    none = ScanParameters(search_candidate_limit=0)
    ended = exhausted_sources(ConcludingScan(parameters=none, keyword=keyword).run)
    assert ended["search"] is False


def test_a_search_by_name_is_one_whatever_the_switch_says() -> None:
    off = ScanParameters(search_enabled=False, search_candidate_limit=0)
    ended = exhausted_sources(ConcludingScan(parameters=off, keyword="song").run)
    assert ended == {"search": False}


@pytest.mark.parametrize(
    "parameters",
    [ScanParameters(search_enabled=False, search_candidate_limit=0), ScanParameters()],
)
def test_a_search_that_is_off_or_has_no_term_has_nothing_to_read(
    parameters: ScanParameters,
) -> None:
    assert "search" not in exhausted_sources(ConcludingScan(parameters=parameters).run)


def test_unread_candidates_that_a_list_showed_count_as_listed() -> None:
    _, videos = coverage_estimates(ConcludingScan(unread=LISTED[20:]).run)
    assert (videos.observed, videos.listed, videos.lower) == (20, 10, 20)
    assert videos.point == 30
    # the sources showed 20 confirmed videos of one id: 30 / (1 - 3.689 / 20) = 36.8
    assert videos.upper == 37


def test_another_unread_candidate_may_carry_the_recording() -> None:
    scan = ConcludingScan()
    _, before = coverage_estimates(scan.run)
    other = replace(_listed("other", OTHER), surface="search", entity_id="term", same_music=False)
    scan.state.sightings.append(other)
    scan.state.pool["other"] = other
    _, videos = coverage_estimates(scan.run)
    assert (videos.observed, videos.listed, videos.point) == (30, 0, before.point)
    # 30 / (1 - 3.689 / 30) = 34.2; with one more beside the thirty of the sample 31/30 of it, 35.3
    assert (before.upper, videos.upper) == (35, 36)


def test_only_rows_that_were_compared_themselves_are_counted_as_matched_by_audio() -> None:
    scan = ConcludingScan(music_id=OTHER)
    for name, link in scan.state.confirmed.items():
        scan.state.confirmed[name] = replace(
            link, link_type="verified_music_id_graph", comparison=_comparison("v0")
        )
    scan.state.comparisons.append(_comparison("v0"))
    shares = coverage_document(scan.run)["list_genuine_share"]
    assert shares == [{"music_id": OTHER, "rows": 30, "own_rows": 30, "audio_rows": 1}]


def test_rows_of_the_tracks_own_id_that_matched_a_song_count_as_matched_by_audio() -> None:
    scan = ConcludingScan()
    scan.state.comparisons += [
        replace(_comparison("v1"), reference_aweme_id="song", candidate_music_id=TRACK),
        replace(_comparison("v2"), reference_aweme_id="v3"),
    ]
    shares = coverage_document(scan.run)["list_genuine_share"]
    assert [share["audio_rows"] for share in shares] == [3]
