"""What a scan makes of videos without a music id, of unlike videos of one id, and of references."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pipelines.audio.features.sounds import NotComparable
from pipelines.parameters.scan import ScanParameters
from pipelines.scan.confirm import confirm_videos
from pipelines.scan.rules.candidate_pool import Sighting
from pipelines.scan.scan_run import ScanRun
from pipelines.scan.state.scan_state import (
    ScanState,
    SoundWorkspace,
)
from tests.scan.scan_fakes import FakeScan
from warehouse.records.errors import RunCancelledError
from warehouse.records.evidence import Comparison, MatchThresholds, PairEvidence, Verdict
from warehouse.records.videos import Music, Unavailability, Video

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SHA256 = "a" * 64


def video_of(name: str, music_id: str | None) -> Video:
    music = None if music_id is None else Music(music_id=music_id)
    return Video(aweme_id=name, surface="video_detail", observed_at=NOW, music=music)


def details_of(videos: Iterable[Video]) -> dict[str, Video]:
    return {video.aweme_id: video for video in videos}


def compared(name: str, music_id: str, verdict: Verdict, reason: str) -> Comparison:
    return Comparison(
        comparison_id=name, reference_aweme_id="r", candidate_aweme_id=name,
        reference_music_id="own", candidate_music_id=music_id,
        pair=PairEvidence(verdict=verdict, reason=reason, score=0.5), limits=MatchThresholds(),
        algorithm="a", feature_version="f", library_version="l",
    )  # fmt: skip


class OneRound(FakeScan):
    """A scan that has read its candidates; all its videos of the platform are deleted."""

    music_id = "own"
    keyword = song_title = None
    parameters = ScanParameters()

    def __init__(
        self,
        state: ScanState,
        *,
        verifies_audio: bool = False,
        sounds: Sequence[dict[str, Any]] = (),
    ) -> None:
        self.state = state
        self.verifies_audio = verifies_audio
        self.sounds = SoundWorkspace()
        self.job = SimpleNamespace(job_id="job", kind="scan")
        self.asked: list[str] = []
        self.checkpoints: list[int | None] = []
        self.settings = SimpleNamespace(random_audit_size=20)
        self.home = SimpleNamespace(sounds_dir=SimpleNamespace(glob=lambda _pattern: ()))
        self.excerpts = SimpleNamespace(delete_surplus=lambda: None)
        self.progress = SimpleNamespace(audio_checked_count=0)
        self.requests_used = 0
        self._stored = sounds
        self.runtime = self.captures = self.engine = self.stopwatch = self

    def rows(self, sql: str, **params: Any) -> list[dict[str, Any]]:
        del sql
        return [row for row in self._stored if row["aweme_id"] in params["ids"]]

    async def video(self, aweme_id: str, *, max_age_s: float) -> Unavailability:
        del max_age_s
        self.asked.append(aweme_id)
        self.requests_used += 1
        return Unavailability(reason="deleted")

    def checkpoint(self, *, round_number: int | None = None) -> None:
        self.checkpoints.append(round_number)

    def is_cancelled(self) -> bool:
        return False

    def finish_appends(self) -> None:
        """Nothing is written."""


def confirm(scan: OneRound) -> ScanState:
    confirm_videos(cast("ScanRun", scan), expands=False)
    return scan.state


def test_a_video_without_a_music_id_is_rejected_and_others_are_not_verified() -> None:
    videos = [video_of("1", "own"), video_of("2", None), video_of("3", "m")]
    state = confirm(OneRound(ScanState(details=details_of(videos))))
    assert state.outcomes == {
        "1": ("confirmed", "same_music_id"),
        "2": ("rejected", "no_music_id"),
        "3": ("not_verified", "verify_audio_off"),
    }
    assert state.rounds == [((), 1)]


def test_a_video_that_was_not_heard_has_the_outcome_of_its_music_id() -> None:
    videos = [video_of("1", "m"), video_of("2", "m")]
    state = ScanState(details=details_of(videos), outcomes={"1": ("rejected", "tones_differ")})
    assert confirm(OneRound(state)).outcomes["2"] == ("rejected", "tones_differ")


def test_a_video_of_a_variant_id_that_sounds_otherwise_is_no_variant() -> None:
    proof = compared("1", "m", "variant", "speed_variant")
    other = compared("2", "m", "rejected", "distances_above_limits")
    state = ScanState(
        details=details_of([video_of("1", "m"), video_of("2", "m"), video_of("3", "m")]),
        comparisons=[proof, other],
        variant_ids={"m": proof},
        settled={"m"},
    )
    found = confirm(OneRound(state))
    assert found.variants.keys() == {"1", "3"}
    assert found.outcomes["3"] == ("variant", "speed_variant")
    assert found.outcomes["2"] == ("rejected", "distances_above_limits")


def test_a_video_of_a_verified_id_that_sounds_otherwise_is_not_confirmed() -> None:
    proof = compared("1", "m", "confirmed", "whole_rule_met")
    other = compared("2", "m", "rejected", "distances_above_limits")
    state = ScanState(
        details=details_of([video_of("1", "m"), video_of("2", "m")]),
        comparisons=[proof, other],
        verified={"m": proof},
        settled={"m"},
    )
    found = confirm(OneRound(state))
    assert found.confirmed.keys() == {"1"}
    assert found.outcomes["2"] == ("rejected", "distances_above_limits")


def after_rounds(*, references: Mapping[str, str] | None = None) -> ScanState:
    """A scan whose rounds are over, and that saw one video which is no candidate."""
    seen = Sighting(aweme_id="7", surface="search", entity_id="term", same_music=False)
    return ScanState(
        sightings=[seen], rounds=[((), 0)], settled={"m"}, references=dict(references or {})
    )


def test_a_search_for_references_that_found_none_is_not_repeated_for_the_audit() -> None:
    scan = OneRound(after_rounds(), verifies_audio=True)
    audit = confirm(scan).audit
    assert audit is not None
    assert (audit.population, audit.sample, audit.reason) == (1, (), "no_reference")
    assert (scan.asked, scan.checkpoints) == ([], [])


def test_a_later_run_takes_the_references_that_an_earlier_one_has_chosen() -> None:
    stored = {"aweme_id": "r", "sound_sha256": SHA256, "not_comparable_reason": "silent"}
    scan = OneRound(after_rounds(references={"r": SHA256}), verifies_audio=True, sounds=[stored])
    audit = confirm(scan).audit
    assert list(scan.sounds.references) == ["r"]
    assert scan.asked == ["7"]
    assert audit is not None
    assert [(one.aweme_id, one.verdict) for one in audit.videos] == [("7", "unavailable")]


def test_failed_round_finishes_its_excerpts_and_appends(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[str] = []
    scan = OneRound(ScanState(details=details_of([video_of("1", "own")])))
    monkeypatch.setattr(scan, "finish_appends", lambda: ended.append("appends"))
    monkeypatch.setattr(scan.excerpts, "delete_surplus", lambda: ended.append("excerpts"))

    def fail(*, round_number: int | None = None) -> None:
        raise ZeroDivisionError(round_number)

    monkeypatch.setattr(scan, "checkpoint", fail)
    with pytest.raises(ZeroDivisionError):
        confirm(scan)
    assert ended == ["excerpts", "appends"]


def test_a_cancel_noticed_in_one_group_ends_the_others_before_their_files_are_deleted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended: list[str] = []
    videos = [video_of("1", "m"), video_of("2", "n")]
    scan = OneRound(ScanState(details=details_of(videos)), verifies_audio=True)
    scan.sounds.references = {"1": NotComparable(sha256=None, reason="silent")}
    monkeypatch.setattr(scan.excerpts, "delete_surplus", lambda: ended.append("files deleted"))

    async def verify(_scan: object, music_id: str, *_: object) -> None:
        if music_id == "n":
            raise RunCancelledError("cancelled")
        try:
            await asyncio.Event().wait()  # a download
        finally:
            ended.append("group ended")

    monkeypatch.setattr("pipelines.scan.confirm._verify_group", verify)
    monkeypatch.setattr(
        "pipelines.scan.rules.expansion.verification_order", lambda groups, **_: sorted(groups)
    )
    with asyncio.Runner() as runner:
        monkeypatch.setattr(scan, "wait_for", runner.run)
        with pytest.raises(RunCancelledError):
            confirm(scan)
    assert ended == ["group ended", "files deleted"]


@pytest.mark.parametrize(
    ("refusals", "stop"),
    [
        ({}, "completed"),
        ({"audio_unavailable": 3}, "completed"),
        ({"audio_unavailable": 3, "upstream_rate_limited": 2}, "upstream_rate_limited"),
    ],
)
def test_sounds_that_were_refused_are_the_reason_although_others_were_read(
    monkeypatch: pytest.MonkeyPatch, refusals: dict[str, int], stop: str
) -> None:
    scan = OneRound(ScanState(), verifies_audio=True)

    async def verify(run: ScanRun) -> list[str]:
        run.state.sounds_read += 1
        run.state.sound_refusals.update(refusals)
        return []

    monkeypatch.setattr("pipelines.scan.confirm._verify_music_ids", verify)
    [media] = confirm(scan).coverage_report
    assert (media.surface, media.stop_reason) == ("media", stop)
