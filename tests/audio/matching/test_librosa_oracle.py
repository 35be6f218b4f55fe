"""librosa, which shares no code with the matcher, finds a clip at the same place of its song."""

from pathlib import Path

import librosa
import numpy as np
import pytest
from numpy.typing import NDArray

from pipelines.audio.decode.decoder_pool import DecoderPool
from pipelines.audio.features.sounds import MeasuredSound
from pipelines.audio.matching.verify import compare_pair
from tests.audio.clips import Band
from tests.data.audio.synthesis import RATE
from warehouse.records.evidence import MatchThresholds

pytestmark = pytest.mark.soak

ORACLE_RATE, HOP = 22_050, 512
SONG_S, START_S, END_S = 21.0, 6.0, 16.0


def chroma(samples: NDArray[np.floating]) -> NDArray[np.float32]:
    resampled = librosa.resample(samples, orig_sr=RATE, target_sr=ORACLE_RATE)
    frames = librosa.feature.chroma_cqt(y=resampled, sr=ORACLE_RATE, hop_length=HOP)
    return np.asarray(frames + 1e-6, dtype=np.float32)  # a frame of zeros has no cosine


def test_librosa_and_the_matcher_place_a_clip_equally(
    band: Band, pool: DecoderPool, tmp_path: Path
) -> None:
    song = band.track(1, seconds=SONG_S)
    clip = song[round(START_S * RATE) : round(END_S * RATE)]
    costs, path = librosa.sequence.dtw(chroma(clip), chroma(song), metric="cosine", subseq=True)
    clip_frames, song_frames = path[::-1].T
    offset_s = float(np.median(song_frames - clip_frames)) * HOP / ORACLE_RATE
    tempo = np.polyfit(song_frames, clip_frames, 1)[0]

    band.write_sound(tmp_path / "song.m4a", song)
    band.write_sound(tmp_path / "clip.m4a", clip)
    sounds = [pool.submit(tmp_path / name).result() for name in ("song.m4a", "clip.m4a")]
    assert all(isinstance(sound, MeasuredSound) for sound in sounds)
    pair = compare_pair(*sounds, limits=MatchThresholds())

    assert pair.verdict == "confirmed"
    assert pair.reference_start_s is not None
    assert pair.candidate_start_s is not None
    assert offset_s == pytest.approx(START_S, abs=0.1)
    assert pair.reference_start_s - pair.candidate_start_s == pytest.approx(offset_s, abs=0.1)
    assert pair.speed == pytest.approx(1.0)
    assert tempo == pytest.approx(1.0, abs=0.01)
    assert costs[-1].min() / len(path) < 0.05
