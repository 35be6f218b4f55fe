"""The random audit of a scan: what it draws, reads and compares, and what it leaves as it was."""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pipelines.audio.features.sounds import MeasuredSound, NotComparable, pack_features
from pipelines.parameters.scan import ScanParameters
from pipelines.scan.confirm import audit_videos, draw_audit
from pipelines.scan.marts import audit_rows
from pipelines.scan.rules.candidate_pool import Sighting
from pipelines.scan.scan_run import ScanRun
from pipelines.scan.state.scan_state import ReferenceSounds, ScanState, SoundWorkspace
from tests.audio.clips import Band, ClipMeasurer
from tests.shared_files import SharedFolder
from warehouse.records.coverage import RandomAudit
from warehouse.records.errors import ForbiddenError, UpstreamError
from warehouse.records.videos import Music, SoundAddresses, Unavailability, Video

NOW = datetime(2026, 1, 1, tzinfo=UTC)
type Row = dict[str, Any]


@dataclass
class Songs:
    """References, and the stored rows of two sounds."""

    references: ReferenceSounds
    rows: Mapping[str, Row]


@pytest.fixture(scope="session")
def songs(shared_folder: SharedFolder) -> Songs:
    """The song of the track and another one."""
    band, measure = Band(shared_folder), ClipMeasurer(shared_folder)
    sounds = {"song": measure(band.track(1)), "other song": measure(band.track(2))}
    return Songs(
        references={"99": sounds["song"]},
        rows={name: _row(sound) for name, sound in sounds.items()},
    )


def _row(sound: MeasuredSound) -> Row:
    return {
        "not_comparable_reason": None, "sound_sha256": sound.sha256,
        "features": pack_features(sound.features), "duration_s": sound.duration_s,
        "sample_rate_hz": sound.sample_rate_hz, "codec": sound.codec,
        "feature_version": sound.feature_version, "library_version": sound.library_version,
    }  # fmt: skip


def video_of(name: str) -> Video:
    return Video(
        aweme_id=name, surface="video_detail", observed_at=NOW, music=Music(music_id=f"7{name}")
    )


class AuditSession:
    """The part of a scan that its audit needs; the platform shows the videos of `details`."""

    music_id = "1"
    parameters = ScanParameters()
    verifies_audio = True

    def __init__(
        self,
        seen: Sequence[str],
        *,
        details: Mapping[str, Video | Unavailability | UpstreamError] | None = None,
        sounds: Mapping[str, Row] | None = None,
        size: int = 20,
        kind: str = "scan",
    ) -> None:
        sightings = [
            Sighting(aweme_id=name, surface="search", entity_id="term", same_music=False)
            for name in seen
        ]
        self.state = ScanState(sightings=sightings)
        self.sounds = SoundWorkspace()
        self.job = SimpleNamespace(job_id="job", kind=kind)
        self.journal = SimpleNamespace(has=lambda _key: False)
        self.excerpts = SimpleNamespace(max_bytes=0)
        self.settings = SimpleNamespace(random_audit_size=size)
        self.runtime = self.engine = self.captures = self.stopwatch = self
        self.requests_used = 0
        self._details, self._sounds = dict(details or {}), dict(sounds or {})

    async def video(self, aweme_id: str, *, max_age_s: float) -> Video | Unavailability:
        """Answer for the platform, with one request."""
        assert max_age_s >= 0
        self.requests_used += 1
        found = self._details[aweme_id]
        if isinstance(found, UpstreamError):
            raise found
        return found

    def rows(self, sql: str, **params: Any) -> list[Row]:
        """Answer for the warehouse with the stored sounds."""
        del sql
        return [
            self._sounds[name] | {"aweme_id": name}
            for name in params["ids"]
            if name in self._sounds
        ]

    def wait_for[T](self, coroutine: Coroutine[object, object, T]) -> T:
        return asyncio.run(coroutine)

    def waiting(self, kind: str) -> AbstractContextManager[None]:
        del kind
        return nullcontext()

    def check_cancelled(self) -> None:
        """Nobody cancels."""

    def update_progress(self, *, audio_checked: int = 0) -> None:
        """Nobody watches the progress."""


def drawn(session: AuditSession) -> RandomAudit:
    found = draw_audit(cast("ScanRun", session))
    assert found is not None
    session.state.audit = found
    return found


def audited(session: AuditSession, references: ReferenceSounds) -> RandomAudit:
    drawn(session)
    audit_videos(cast("ScanRun", session), references)
    assert session.state.audit is not None
    return session.state.audit


def test_candidates_are_never_drawn_and_no_more_videos_than_stated() -> None:
    session = AuditSession([str(number) for number in range(50)] * 2, size=7)
    for seen in session.state.sightings[:30]:
        session.state.pool[seen.aweme_id] = seen
    found = drawn(session)
    assert (found.population, len(found.sample), found.reason) == (20, 7, None)
    assert session.state.pool.keys().isdisjoint(found.sample)


def test_a_run_that_goes_on_draws_the_same_videos() -> None:
    names = [str(number) for number in range(50)]
    assert drawn(AuditSession(names)) == drawn(AuditSession(names[::-1]))


def test_random_audit_without_a_draw_gives_its_reason() -> None:
    off, complete, silent = AuditSession(["1"], size=0), AuditSession([]), AuditSession(["1"])
    silent.verifies_audio = False
    reasons = [drawn(one).reason for one in (off, complete, silent)]
    assert reasons == ["switched_off", "nothing_left", "not_compared"]
    assert draw_audit(cast("ScanRun", AuditSession(["1"], kind="discovery"))) is None


def test_drawn_videos_are_compared_and_bound_those_that_were_not_drawn(songs: Songs) -> None:
    names = [str(number) for number in range(1, 7)]
    details = {name: video_of(name) for name in names}
    sounds = {name: songs.rows["song" if name == "3" else "other song"] for name in names}
    session = AuditSession(names, details=details, sounds=sounds)
    found = audited(session, songs.references)
    carrying = [video for video in found.videos if video.verdict == "confirmed"]
    assert [(video.aweme_id, video.music_id) for video in carrying] == [("3", "73")]
    assert (found.compared, found.carrying, found.reason) == (6, 1, None)
    assert found.bound is not None
    assert found.bound.count == 1
    evidence = {one.comparison_id: one for one in session.state.comparisons}
    assert evidence[carrying[0].comparison_id or ""].candidate_aweme_id == "3"
    assert {one.candidate_aweme_id for one in evidence.values()} == set(names)


def test_a_drawn_video_with_the_recording_is_neither_a_candidate_nor_confirmed(
    songs: Songs,
) -> None:
    session = AuditSession(["1"], details={"1": video_of("1")}, sounds={"1": songs.rows["song"]})
    assert audited(session, songs.references).carrying == 1
    state = session.state
    changed = (state.pool, state.details, state.confirmed, state.verified, state.outcomes)
    assert not any(changed)


def test_random_audit_excludes_videos_that_cannot_be_compared(songs: Songs) -> None:
    silent = replace(video_of("3"), sound=SoundAddresses(is_silent_placeholder=True))
    details: dict[str, Video | Unavailability | UpstreamError] = {
        "1": video_of("1"),
        "2": Unavailability(reason="deleted"),
        "3": silent,
    }
    session = AuditSession(["1", "2", "3"], details=details, sounds={"1": songs.rows["other song"]})
    found = audited(session, songs.references)
    verdicts = {video.aweme_id: (video.verdict, video.reason) for video in found.videos}
    assert verdicts["2"] == ("unavailable", "deleted")
    assert verdicts["3"] == ("not_comparable", "silent_placeholder")
    assert found.bound is not None
    assert (found.population, found.compared, found.bound.count) == (3, 1, 0)


def test_a_refusal_ends_the_reading_and_is_reported() -> None:
    refusal = ForbiddenError("refused", surface="video_detail")
    names = [str(number) for number in range(40)]
    session = AuditSession(names, details=dict.fromkeys(names, refusal), size=40)
    found = audited(session, {"99": NotComparable(sha256=None, reason="unused")})
    assert (found.reason, found.bound) == ("none_comparable", None)
    assert {(video.verdict, video.reason) for video in found.videos} == {
        ("not_read", ForbiddenError.type)
    }
    assert session.requests_used < 40
    (entry,) = session.state.coverage_report
    assert (entry.surface, entry.stop_reason) == ("random_audit", ForbiddenError.type)


def test_without_references_no_drawn_video_is_read() -> None:
    session = AuditSession(["1"])
    found = audited(session, {})
    assert (found.reason, found.videos, session.requests_used) == ("no_reference", (), 0)


def test_an_audit_has_a_row_and_a_job_without_one_has_none() -> None:
    session = AuditSession(["1"])
    assert audit_rows(cast("ScanRun", session)) == []
    audited(session, {})
    [row] = audit_rows(cast("ScanRun", session))
    assert (row["population_count"], row["drawn_count"]) == (1, 0)
    assert (row["upper_count"], row["not_audited_reason"]) == (None, "no_reference")
