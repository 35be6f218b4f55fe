"""Waveforms of a compared pair: the loudness of both sounds on the time axis of the song.

Computed from stored features, so nothing is decoded. Not here: drawing.
"""

from math import ceil

import numpy as np

from api.schemas.extensions.exports import WaveformDocument
from pipelines.audio.features.sound_features import Features
from warehouse.records.evidence import ExcerptRole, PairEvidence

MOST_COLUMNS = 240
LOUDEST = 100


def song_time(pair: PairEvidence, role: ExcerptRole, own_s: float) -> float:
    """Return the second of the song that a sound plays at one of its own seconds.

    Seconds of the song are those of the reference. Sounds that were not aligned begin together.
    """
    if role == "reference":
        return own_s
    speed = pair.speed or 1.0
    first_s, second_s = pair.reference_start_s, pair.candidate_start_s
    offset_s = 0.0 if first_s is None or second_s is None else first_s - second_s * speed
    return offset_s + own_s * speed


def waveform_of(features: Features, pair: PairEvidence, role: ExcerptRole) -> WaveformDocument:
    """Return the loudness of a sound over the time of the song."""
    # Amplitude of each frame, from the energies of its bands.
    energies = np.power(10.0, features.mel_db.astype(np.float32) / 10.0).sum(axis=1)
    amplitudes = np.sqrt(energies)
    loudest = amplitudes.max(initial=0.0) or 1.0
    # The loudest frame of each column, so that a short sound stays visible.
    starts = np.arange(0, len(amplitudes), max(1, ceil(len(amplitudes) / MOST_COLUMNS)))
    columns = np.maximum.reduceat(amplitudes, starts)
    start_s, end_s = (song_time(pair, role, own_s) for own_s in (0.0, features.duration_s))
    return {
        "start_s": round(start_s, 3),
        "duration_s": round(end_s - start_s, 3),
        "levels": [int(level) for level in np.rint(LOUDEST * columns / loudest)],
    }
