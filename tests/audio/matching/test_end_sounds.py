"""A sound at the same end of two different songs is no excerpt of either, nor is less than 2 s."""

import numpy as np
import pytest

from pipelines.audio.features.sound_features import FINE_HOP_S, Peaks
from pipelines.audio.manifest import deviations, recompute
from pipelines.audio.matching.shared_parts import common_piece, end_sound
from pipelines.audio.matching.verify import compare_pair
from tests.audio.clips import Band, ClipMeasurer
from tests.data.audio.synthesis import RATE, Samples
from warehouse.records.evidence import MatchThresholds, PairEvidence

LIMITS = MatchThresholds()


def part(song: Samples, start_s: float, seconds: float) -> Samples:
    return song[round(start_s * RATE) : round((start_s + seconds) * RATE)]


@pytest.fixture(scope="module")
def jingle(band: Band) -> Samples:
    """Four seconds of a third song."""
    return part(band.track(4), 3, 4)


def compare(measure_clip: ClipMeasurer, *sounds: list[Samples]) -> PairEvidence:
    first, second = (measure_clip(np.concatenate(pieces)) for pieces in sounds)
    evidence = compare_pair(first, second, limits=LIMITS)
    again = recompute(first.features, second.features, evidence, limits=LIMITS)
    assert deviations(evidence, again) == {}
    return evidence


@pytest.mark.parametrize("seconds", [2.5, 4.0])
def test_songs_that_end_with_one_jingle_share_a_closing_sound(
    band: Band, measure_clip: ClipMeasurer, jingle: Samples, seconds: float
) -> None:
    closing = part(jingle, 0, seconds)
    first, second = [part(band.track(1), 0, 9), closing], [part(band.track(2), 0, 7), closing]
    evidence = compare(measure_clip, first, second)
    assert (evidence.verdict, evidence.reason) == ("rejected", "closing_sound")
    assert evidence.shared_part == "closing_sound"
    assert (evidence.score or 0) < LIMITS.match_threshold


def test_a_closing_sound_that_is_too_short_for_an_excerpt_is_named_too(
    band: Band, measure_clip: ClipMeasurer, jingle: Samples
) -> None:
    closing = part(jingle, 0, 1.5)
    first, second = [part(band.track(1), 0, 9), closing], [part(band.track(2), 0, 7), closing]
    evidence = compare(measure_clip, first, second)
    assert (evidence.verdict, evidence.shared_part) == ("rejected", "closing_sound")


def test_songs_that_begin_with_one_jingle_share_an_opening_sound(
    band: Band, measure_clip: ClipMeasurer, jingle: Samples
) -> None:
    first, second = [jingle, part(band.track(1), 0, 9)], [jingle, part(band.track(2), 0, 7)]
    evidence = compare(measure_clip, first, second)
    assert (evidence.verdict, evidence.shared_part) == ("rejected", "opening_sound")


def test_a_piece_that_ends_one_sound_and_is_inside_the_other_is_an_excerpt(
    band: Band, measure_clip: ClipMeasurer, song: Samples
) -> None:
    evidence = compare(measure_clip, [song], [part(band.track(2), 0, 7), part(song, 4, 4)])
    assert (evidence.verdict, evidence.shared_part) == ("variant", None)


def test_a_clip_that_is_nothing_but_the_end_of_the_song_is_an_excerpt(
    measure_clip: ClipMeasurer, song: Samples
) -> None:
    end = part(song, song.size / RATE - 4, 4)
    evidence = compare(measure_clip, [song], [end])
    assert (evidence.verdict, evidence.shared_part) == ("variant", None)


def test_a_second_and_a_half_in_common_is_not_rounded_up_to_an_excerpt(
    band: Band, measure_clip: ClipMeasurer, song: Samples
) -> None:
    between = [part(band.track(2), 0, 5), part(song, 5, 1.5), part(band.track(3), 0, 5)]
    evidence = compare(measure_clip, [song], between)
    assert evidence.verdict == "rejected"


def peaks(seed: int) -> Peaks:
    rng = np.random.default_rng(seed)
    return Peaks(
        np.sort(rng.integers(0, 800, 1400)).astype(np.int32),
        rng.uniform(215, 4_500, 1400).astype(np.float32),
        np.zeros(1400, dtype=np.uint8),
    )


def spliced(first: Peaks, second: Peaks, start: int, end: int) -> Peaks:
    """The first sound, with the frames start..end of the second in their place."""
    inside = [(one.frames >= start) & (one.frames < end) for one in (first, second)]
    frames = np.concatenate([first.frames[~inside[0]], second.frames[inside[1]]])
    hertz = np.concatenate([first.hertz[~inside[0]], second.hertz[inside[1]]])
    order = np.argsort(frames, kind="stable")
    return Peaks(frames[order], hertz[order], np.zeros(len(frames), dtype=np.uint8))


@pytest.mark.parametrize("length", [60, 86, 120])
def test_the_length_of_a_common_piece_is_that_of_its_agreeing_peaks(length: int) -> None:
    whole = peaks(1)
    other = spliced(peaks(2), whole, 300, 300 + length)
    piece = common_piece(whole, other, lag=0, first_frame=300, last_frame=380)
    assert piece is not None
    assert piece.first_frame == pytest.approx(300, abs=4)
    assert piece.seconds_within(400, 400) == pytest.approx(length * FINE_HOP_S, abs=0.15)


def test_peaks_that_never_agree_make_no_piece() -> None:
    assert common_piece(peaks(1), peaks(2), lag=5000, first_frame=300, last_frame=390) is None


@pytest.mark.parametrize(
    ("start", "end", "shared"),
    [(640, 800, "closing_sound"), (0, 160, "opening_sound"), (300, 460, None)],
)
def test_only_a_piece_at_the_same_end_of_both_is_an_end_sound(
    start: int, end: int, shared: str | None
) -> None:
    whole = peaks(1)
    other = spliced(peaks(2), whole, start, end)
    piece = common_piece(whole, other, lag=0, first_frame=start, last_frame=end)
    assert piece is not None
    assert end_sound(whole, other, piece) == shared
