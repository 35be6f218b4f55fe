"""What must hold for every sound: the same recording is found, nothing else is, never a NaN."""

from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from pipelines.audio.features.sounds import MeasuredSound
from pipelines.audio.matching.verify import compare_pair
from tests.audio.clips import Band, ClipMeasurer
from tests.data.audio.synthesis import Samples
from tests.shared_files import SharedFolder
from warehouse.records.evidence import MatchThresholds

LIMITS = MatchThresholds()
RATE = 44_100


def test_identical_sounds_have_distance_zero_and_score_one(reference: MeasuredSound) -> None:
    evidence = compare_pair(reference, reference, limits=LIMITS)
    assert evidence.verdict == "confirmed"
    assert evidence.chroma_distance == pytest.approx(0, abs=1e-6)
    assert evidence.mfcc_distance == pytest.approx(0, abs=1e-6)
    assert evidence.score == pytest.approx(1, abs=1e-6)
    assert evidence.segment == "whole"
    assert (evidence.reference_start_s, evidence.candidate_start_s) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("ending", "encoding"),
    [
        (".m4a", {"bit_rate": 64_000}),
        (".mp4", {"bit_rate": 96_000, "channels": 2}),
        (".mp3", {"bit_rate": 64_000}),
        (".wav", {"channels": 2}),
        (".flac", {}),
    ],
)
def test_encoding_again_stays_the_same_recording(
    measure_clip: ClipMeasurer,
    song: Samples,
    reference: MeasuredSound,
    ending: str,
    encoding: dict[str, int],
) -> None:
    evidence = compare_pair(reference, measure_clip(song, ending, **encoding), limits=LIMITS)
    assert evidence.verdict == "confirmed"
    assert evidence.segment == "whole"
    assert (evidence.score or 0) > 0.95


@pytest.mark.parametrize("rate", [16_000, 22_050, 24_000, 32_000, 48_000, 37_800])
def test_sample_rate_does_not_matter(
    band: Band, measure_clip: ClipMeasurer, song: Samples, reference: MeasuredSound, rate: int
) -> None:
    other_rate = band.resampled(band.low_passed(song, 0.45 * rate), RATE / rate)
    evidence = compare_pair(reference, measure_clip(other_rate, ".wav", rate=rate), limits=LIMITS)
    assert evidence.verdict == "confirmed"
    assert (evidence.score or 0) > 0.95


def test_common_edits_of_a_sound_are_confirmed_as_the_same_recording(
    band: Band, measure_clip: ClipMeasurer, song: Samples, reference: MeasuredSound
) -> None:
    changed = {
        "voice -6 dB": band.mix(song, band.speech(5), other_db=-6),
        "voice 0 dB": band.mix(song, band.speech(5), other_db=0),
        "bass boost": band.equalise(song, low_db=12, high_db=-12),
        "thin speaker": band.equalise(song, low_db=-24, high_db=6),
        "noise 10 dB": band.mix(song, band.noise(3), other_db=-10),
        "quiet": song * np.float32(0.02),
        "late start": np.concatenate([band.speech(8, seconds=5.0), song[: 8 * RATE]]),
        "medley": np.concatenate(
            [band.track(2)[: 5 * RATE], song[4 * RATE : 12 * RATE], band.track(3)[: 4 * RATE]]
        ),
        "room": band.reverberated(song, 0.6),
        "hall": band.reverberated(song, 1.5),
        "seven seconds": song[4 * RATE : 11 * RATE],
    }
    verdicts = {
        name: compare_pair(reference, measure_clip(samples), limits=LIMITS).verdict
        for name, samples in changed.items()
    }
    assert verdicts == dict.fromkeys(changed, "confirmed")


def test_start_times_say_where_the_recording_lies(
    band: Band, measure_clip: ClipMeasurer, song: Samples, reference: MeasuredSound
) -> None:
    late = np.concatenate([band.speech(8, seconds=5.0), song[3 * RATE :]])
    evidence = compare_pair(reference, measure_clip(late), limits=LIMITS)
    assert evidence.reference_start_s is not None
    assert evidence.candidate_start_s is not None
    offset = evidence.candidate_start_s - evidence.reference_start_s
    assert offset == pytest.approx(2.0, abs=0.1)


def test_other_recordings_are_rejected_with_their_reason(
    band: Band, measure_clip: ClipMeasurer, reference: MeasuredSound
) -> None:
    for seed in range(2, 6):
        evidence = compare_pair(reference, measure_clip(band.track(seed)), limits=LIMITS)
        assert evidence.verdict == "rejected"
        assert evidence.reason in {"distances_above_limits", "score_below_threshold"}
        assert (evidence.score or 0) < 0.5


def test_covers_in_the_same_key_and_tempo_are_rejected(
    band: Band, measure_clip: ClipMeasurer
) -> None:
    for seed, other_band in ((1, 61), (3, 50), (3, 61)):
        cover = measure_clip(band.track(seed, band=other_band))
        evidence = compare_pair(measure_clip(band.track(seed)), cover, limits=LIMITS)
        assert evidence.verdict == "rejected"
        assert evidence.reason == "score_below_threshold"


def test_changed_tempo_is_rejected_without_search(
    band: Band, measure_clip: ClipMeasurer, song: Samples, reference: MeasuredSound
) -> None:
    for tempo in (0.9, 0.95, 1.07):
        evidence = compare_pair(
            reference, measure_clip(band.stretched(song, tempo)), limits=LIMITS, search=False
        )
        assert (evidence.verdict, evidence.reason) in {
            ("rejected", "tempo_drifts"),
            ("rejected", "distances_above_limits"),
        }


def test_a_tenth_of_a_percent_of_tempo_is_still_the_same(
    band: Band, measure_clip: ClipMeasurer, song: Samples, reference: MeasuredSound
) -> None:
    evidence = compare_pair(reference, measure_clip(band.resampled(song, 1.001)), limits=LIMITS)
    assert evidence.verdict == "confirmed"


def test_speech_tone_noise_and_clicks_score_low_and_finite(
    band: Band, measure_clip: ClipMeasurer, reference: MeasuredSound
) -> None:
    time = np.arange(12 * RATE) / RATE
    sounds = [
        measure_clip(band.speech(5)),
        measure_clip(band.normal(np.sin(2 * np.pi * 440 * time)), ".wav"),
        measure_clip(band.noise(4), ".wav"),
        measure_clip(band.normal(np.sign(np.sin(2 * np.pi * 0.5 * time))), ".wav"),
    ]
    pairs = [pair for sound in sounds for pair in ((reference, sound), (sound, reference))]
    for first, second in [*pairs, (sounds[0], sounds[1]), (sounds[2], sounds[3])]:
        evidence = compare_pair(first, second, limits=LIMITS)
        numbers = [value for value in asdict(evidence).values() if isinstance(value, float)]
        assert np.all(np.isfinite(numbers))
        assert (evidence.score or 0) < 0.2
        assert evidence.verdict == "rejected"


def test_same_inputs_give_the_same_numbers(
    measure_clip: ClipMeasurer, song: Samples, reference: MeasuredSound, tmp_path: Path
) -> None:
    again = ClipMeasurer(SharedFolder(tmp_path))
    first = compare_pair(reference, measure_clip(song), limits=LIMITS)
    second = compare_pair(reference, again(song), limits=LIMITS)
    assert first == second


def test_threshold_is_the_callers(
    band: Band, measure_clip: ClipMeasurer, song: Samples, reference: MeasuredSound
) -> None:
    voiced = measure_clip(band.mix(song, band.speech(5), other_db=0))
    strict = compare_pair(reference, voiced, limits=MatchThresholds(match_threshold=0.99))
    assert strict.verdict == "rejected"
    assert strict.reason == "score_below_threshold"
