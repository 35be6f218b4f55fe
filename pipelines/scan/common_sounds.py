"""The common sounds of a store: read, learn and dismiss them.

A scan needs them only once a pair was accepted by an excerpt; until then nothing is read. The rules
are in `pipelines.audio.matching` and `pipelines.scan.rules`; the compiled loops of both are
imported with the first such pair.
"""

import threading
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pipelines.audio.features.sound_features import FEATURE_VERSION
from pipelines.audio.features.sounds import (
    MeasuredSound,
    pack_features,
    sound_from_row,
    unpack_features,
)
from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.store import Lake
from warehouse.queries.results import read_common_sounds, read_excerpts, read_sounds
from warehouse.records.errors import InputError
from warehouse.records.evidence import MatchThresholds, PairEvidence, variant_kind
from warehouse.records.values import Row

if TYPE_CHECKING:
    from pipelines.audio.matching.common_sounds import CommonSound
    from pipelines.scan.rules.common_sound_learning import LearntSound, TrackExcerpt
    from pipelines.scan.scan_run import ScanRun

TABLE = "marts.common_sounds"
LEARNT, DISMISSED = "learnt", "dismissed"


class CommonSoundUnknownError(InputError):
    """The store has no common sound of this id."""


def is_excerpt(pair: PairEvidence) -> bool:
    """Whether nothing but a few common seconds made the pair a match."""
    return pair.verdict == "variant" and variant_kind(pair) == "excerpt"


def load_common_sounds(engine: Engine) -> "list[CommonSound]":
    """Return the stored common sounds, dismissed ones too."""
    from pipelines.audio.matching.common_sounds import CommonSound  # noqa: PLC0415 -- see the docstring

    return [
        CommonSound(
            peaks=unpack_features(row["features"]).peaks, is_dismissed=row["status"] == DISMISSED
        )
        for row in read_common_sounds(engine)
        if row["feature_version"] == FEATURE_VERSION
    ]


def dismiss(lake: Lake, engine: Engine, common_sound_id: str) -> None:
    """Make a common sound count no more, and never be learnt again.

    Raises:
        CommonSoundUnknownError: There is no such sound.
        WarehouseUnavailableError: The lake cannot be read or written.
    """
    rows = {row["common_sound_id"]: row for row in read_common_sounds(engine)}
    if common_sound_id not in rows:
        raise CommonSoundUnknownError(
            f"no common sound has the id {common_sound_id!r}",
            hint="`sametrack audio common-sounds` lists them",
        )
    row = {**rows[common_sound_id], "status": DISMISSED}
    del row["committed_at"]
    lake.append(TABLE, [row])


class CommonSoundList:
    """The common sounds that a scan knows. It judges several groups at the same time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sounds: list[CommonSound] | None = None
        self._excerpts: list[TrackExcerpt] | None = None
        self._tried: set[tuple[str, int]] = set()

    def after_excerpt(
        self,
        run: "ScanRun",
        reference: tuple[str, MeasuredSound],
        candidate: MeasuredSound,
        pair: PairEvidence,
    ) -> "Sequence[CommonSound]":
        """Return the list, after it has grown by what an accepted excerpt teaches, if anything.

        Args:
            run: The scan.
            reference: The reference: the id of its video or song, and its sound.
            candidate: The candidate.
            pair: Their evidence.
        """
        from pipelines.audio.matching import common_sounds  # noqa: PLC0415 -- see the docstring
        from pipelines.scan.rules import common_sound_learning  # noqa: PLC0415 -- see the docstring

        reference_id, sound = reference
        assert pair.reference_start_s is not None, "an accepted pair was measured"
        assert pair.overlap_s is not None, "an accepted pair was measured"
        own = common_sound_learning.TrackExcerpt(
            track_music_id=run.music_id,
            sound=sound,
            start_s=pair.reference_start_s,
            overlap_s=pair.overlap_s,
        )
        # Many videos may have the same excerpt of a reference.
        stretch = (reference_id, round(pair.reference_start_s))
        with self._lock:
            engine = run.runtime.engine
            if self._sounds is None:
                self._sounds = load_common_sounds(engine)
            piece = common_sounds.excerpt_piece(sound.features, candidate.features, pair)
            peaks = candidate.features.peaks
            is_stored = any(
                common_sounds.covers(entry.peaks, peaks, piece) for entry in self._sounds
            )
            if is_stored or stretch in self._tried:
                return self._sounds
            self._tried.add(stretch)
            if self._excerpts is None:
                self._excerpts = _load_excerpts(engine, run.music_id)
            learnt = common_sound_learning.learn_common_sound(
                own, self._excerpts, limits=MatchThresholds()
            )
            if learnt is not None:
                run.append_later(TABLE, [_to_row(run, reference_id, own, learnt)])
                # Not changed in place: another group may be judged by the present list.
                known = common_sounds.CommonSound(peaks=learnt.features.peaks)
                self._sounds = [*self._sounds, known]
            return self._sounds


def _to_row(run: "ScanRun", reference_id: str, own: "TrackExcerpt", learnt: "LearntSound") -> Row:
    others = learnt.others
    return {
        "common_sound_id": str(uuid.uuid4()),
        "status": LEARNT,
        "learnt_at": run.clock(),
        "aweme_id": reference_id,
        "sound_sha256": own.sound.sha256,
        "start_s": learnt.start_s,
        "duration_s": learnt.features.duration_s,
        "track_music_ids": [own.track_music_id, *(entry.track_music_id for entry in others)],
        "comparison_ids": [entry.comparison_id for entry in others],
        "first_seen_at": min(entry.stored_at for entry in others if entry.stored_at is not None),
        "features": pack_features(learnt.features),
        "feature_version": FEATURE_VERSION,
    }


def _load_excerpts(engine: Engine, music_id: str) -> "list[TrackExcerpt]":
    """Return excerpts of other tracks whose sounds are stored, the newest first."""
    from pipelines.scan.rules.common_sound_learning import TrackExcerpt  # noqa: PLC0415 -- see the docstring

    rows = read_excerpts(engine, without_track=music_id)
    stored = read_sounds(engine, [row["reference_sha256"] for row in rows], FEATURE_VERSION)
    sounds = {sha256: sound_from_row(row) for sha256, row in stored.items()}
    return [
        TrackExcerpt(
            comparison_id=row["comparison_id"],
            stored_at=row["committed_at"],
            track_music_id=row["track_music_id"],
            sound=sound,
            start_s=row["reference_start_s"],
            overlap_s=row["overlap_s"],
        )
        for row in rows
        if isinstance(sound := sounds.get(row["reference_sha256"]), MeasuredSound)
    ]
