"""Recall over the range of edits: clips are edited, measured and compared with themselves.

The edited sound is not encoded again, because codecs are measured by the labelled pairs. Nothing
here is part of these pairs, so the figures at their thresholds stay what they are.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from pipelines.audio.decode.decoding import decode_sound
from pipelines.audio.decode.limits import DecodeLimits
from pipelines.audio.features.measurement import measure_features
from pipelines.audio.features.sounds import MeasuredSound
from pipelines.audio.matching.verify import compare_pair
from tests.bench.accuracy.tracks import Track
from tests.bench.accuracy.transforms import Step, apply
from tests.bench.running import counted
from warehouse.records.evidence import MatchThresholds, PairEvidence

Edit = tuple[str, str, tuple[Step, ...]]
"""Family, value as shown, and the steps."""
_TRACKS = 12
_FACTORS = (0.51, 0.62, 0.71, 0.83, 1.21, 1.42, 1.67, 1.97)
_SEMITONES = (-9.0, -7.0, -5.0, -4.0, 4.0, 5.0, 7.0, 9.0, 12.0)
_BOTH = ((0.68, 5.0), (0.8, -4.0), (0.9, 2.5), (1.15, -7.0), (1.3, 3.0), (1.48, 9.0))
_VOICES_DB = (0.0, 3.0, 6.0, 9.0)
_TOO_FAST = (0.45, 2.2)
_LIMITS = MatchThresholds()
_TEMPO_TOLERANCE = 0.01


def list_edits() -> list[Edit]:
    """Every edit of the grid."""
    slowed: tuple[Step, ...] = (("speed", 0.8), ("reverb", 1.5))
    nightcore: tuple[Step, ...] = (("speed", 1.25), ("voice", -6.0))
    return [
        *(("speed", f"{one:g}", (("speed", one),)) for one in _FACTORS),
        *(("tempo", f"{one:g}", (("tempo", one),)) for one in _FACTORS),
        *(("pitch", f"{one:+g}", (("pitch", one),)) for one in _SEMITONES),
        *(
            ("tempo and pitch", f"{tempo:g} / {pitch:+g}", (("tempo", tempo), ("pitch", pitch)))
            for tempo, pitch in _BOTH
        ),
        ("slowed + reverb", "0.8 / 1.5 s", slowed),
        ("nightcore + voice", "1.25 / -6 dB", nightcore),
        *(("voice over music", f"{one:+g} dB", (("voice", one),)) for one in _VOICES_DB),
        *(("beyond the range: speed", f"{one:g}", (("speed", one),)) for one in _TOO_FAST),
    ]


def measure_edits(
    tracks: list[Track], clips: Path, *, has_espeak: bool
) -> dict[str, dict[str, list[int]]]:
    """Return accepted and all comparisons by family and value."""
    chosen = [track for track in tracks if track.part == "reported"]
    chosen = chosen[:: max(1, len(chosen) // _TRACKS)][:_TRACKS]
    found: dict[str, dict[str, list[int]]] = {}
    work = [(track, edit) for track in chosen for edit in list_edits()]
    judged = _judged(chosen, clips, has_espeak=has_espeak)
    for (_, (family, value, _steps)), is_right in counted(
        zip(work, judged, strict=True), what="comparing edits", total=len(work)
    ):
        counts = found.setdefault(family, {}).setdefault(value, [0, 0])
        counts[0] += is_right
        counts[1] += 1
    return found


def _judged(tracks: list[Track], clips: Path, *, has_espeak: bool) -> Iterator[bool]:
    for track in tracks:
        file = next(clips.joinpath(track.name).glob("clean*"))
        decoded = decode_sound(file, DecodeLimits())
        samples = decoded.samples.astype(np.float32)
        reference = _measured(samples, decoded.rate)
        for number, (_, _, steps) in enumerate(list_edits()):
            rng = np.random.default_rng((track.number, number))
            edited = apply(samples, steps, rng, has_espeak=has_espeak)
            candidate = _measured(edited, decoded.rate)
            yield _is_found(compare_pair(reference, candidate, limits=_LIMITS), steps)


def _is_found(evidence: PairEvidence, steps: tuple[Step, ...]) -> bool:
    """Whether the pair is accepted, and with the right tempo."""
    if evidence.verdict not in {"confirmed", "variant"} or evidence.speed is None:
        return False
    tempos = [value for name, value in steps if name in {"speed", "tempo"}]
    tempo = tempos[0] if tempos else 1.0
    return abs(evidence.speed / tempo - 1) < _TEMPO_TOLERANCE


def _measured(samples: "np.ndarray[tuple[int], np.dtype[np.float32]]", rate: int) -> MeasuredSound:
    return MeasuredSound(
        sha256="",
        features=measure_features(samples, rate),
        duration_s=len(samples) / rate,
        sample_rate_hz=rate,
        codec="",
        library_version="",
    )
