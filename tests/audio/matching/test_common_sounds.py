"""A sound that unrelated tracks share is learnt as a common one, and makes no excerpt."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from pipelines.audio.features.sounds import MeasuredSound
from pipelines.audio.manifest import deviations, recompute
from pipelines.audio.matching.common_sounds import CommonSound
from pipelines.audio.matching.verify import compare_pair, verify_group
from pipelines.scan.rules.common_sound_learning import (
    LEAST_TRACKS,
    LearntSound,
    TrackExcerpt,
    learn_common_sound,
)
from tests.audio.clips import Band, ClipMeasurer
from tests.data.audio.synthesis import RATE, Samples
from warehouse.records.evidence import MatchThresholds

LIMITS = MatchThresholds()
JINGLE_S = 3.0
JINGLE = 9
"""The song that the jingle is cut from."""


def part(song: Samples, start_s: float, seconds: float) -> Samples:
    return song[round(start_s * RATE) : round((start_s + seconds) * RATE)]


@pytest.fixture(scope="module")
def jingle(band: Band) -> Samples:
    return part(band.track(JINGLE), 1, JINGLE_S)


def with_inside(song: Samples, inside: Samples, *, at_s: float = 6.0) -> Samples:
    """The song with another sound inside, as somebody has put it there."""
    return np.concatenate([part(song, 0, at_s), inside, part(song, at_s, 12 - at_s)])


@pytest.fixture(scope="module")
def references(band: Band, measure_clip: ClipMeasurer, jingle: Samples) -> list[MeasuredSound]:
    """References of four songs that have the jingle inside."""
    return [measure_clip(with_inside(band.track(seed), jingle)) for seed in range(1, 5)]


def excerpts_at(
    sounds: Sequence[MeasuredSound], *, start_s: float = 6.0, overlap_s: float = JINGLE_S
) -> list[TrackExcerpt]:
    """The same excerpt of the references of as many tracks."""
    return [
        TrackExcerpt(track_music_id=str(place), sound=sound, start_s=start_s, overlap_s=overlap_s)
        for place, sound in enumerate(sounds)
    ]


def learnt_from(excerpts: Sequence[TrackExcerpt]) -> LearntSound | None:
    return learn_common_sound(excerpts[-1], excerpts[:-1], limits=LIMITS)


@pytest.fixture(scope="module")
def common_sound(references: list[MeasuredSound]) -> CommonSound:
    learnt = learnt_from(excerpts_at(references))
    assert learnt is not None
    return CommonSound(peaks=learnt.features.peaks)


def test_four_unrelated_tracks_teach_the_sound_that_they_share(
    references: list[MeasuredSound],
) -> None:
    learnt = learnt_from(excerpts_at(references))
    assert learnt is not None
    assert learnt.start_s == pytest.approx(6, abs=0.25)
    assert learnt.features.duration_s == pytest.approx(JINGLE_S, abs=0.3)
    assert {entry.track_music_id for entry in learnt.others} == {"0", "1", "2"}


def test_fewer_tracks_teach_nothing(references: list[MeasuredSound]) -> None:
    assert learnt_from(excerpts_at(references[: LEAST_TRACKS - 1])) is None
    same_track = [replace(entry, track_music_id="x") for entry in excerpts_at(references)]
    assert learnt_from([*same_track[:-1], replace(same_track[-1], track_music_id="y")]) is None


def test_uploads_of_one_song_teach_nothing(
    band: Band, measure_clip: ClipMeasurer, jingle: Samples, references: list[MeasuredSound]
) -> None:
    louder = measure_clip(0.8 * with_inside(band.track(1), jingle))
    assert learnt_from(excerpts_at([*references[:3], louder])) is None
    assert learnt_from(excerpts_at([louder, *references])) is not None, "four others are left"


def test_quotes_of_a_song_that_are_cut_elsewhere_teach_nothing(
    band: Band, measure_clip: ClipMeasurer
) -> None:
    song = band.track(JINGLE)
    quotes = [(3.0, 3.0), (2.5, 4.0), (2.8, 4.4), (2.0, 4.2)]
    sounds = [
        measure_clip(with_inside(band.track(seed), part(song, *quote)))
        for seed, quote in zip(range(1, 5), quotes, strict=True)
    ]
    for last in range(4):
        order = [*sounds[:last], *sounds[last + 1 :], sounds[last]]
        assert learnt_from(excerpts_at(order)) is None


def test_a_sound_at_the_end_of_a_reference_teaches_nothing(
    band: Band, measure_clip: ClipMeasurer, jingle: Samples, references: list[MeasuredSound]
) -> None:
    at_end = measure_clip(np.concatenate([part(band.track(5), 0, 6), jingle]))
    assert learnt_from(excerpts_at([*references[:3], at_end])) is None


def test_a_common_sound_is_no_excerpt_and_keeps_its_evidence(
    band: Band, measure_clip: ClipMeasurer, jingle: Samples, references: list[MeasuredSound],
    common_sound: CommonSound,
) -> None:  # fmt: skip
    video = measure_clip(with_inside(band.track(5), jingle))
    accepted = compare_pair(references[0], video, limits=LIMITS)
    assert (accepted.verdict, accepted.reason) == ("variant", "excerpt_variant")

    evidence = compare_pair(references[0], video, limits=LIMITS, common_sounds=[common_sound])
    assert (evidence.verdict, evidence.reason) == ("rejected", "common_sound")
    assert (evidence.shared_part, evidence.relation) == ("common_sound", "shares_part")
    assert (evidence.score or 0) < LIMITS.match_threshold
    same = ("overlap_s", "reference_start_s", "candidate_start_s", "chroma_distance")
    assert [getattr(evidence, name) for name in same] == [getattr(accepted, name) for name in same]
    again = recompute(references[0].features, video.features, evidence, limits=LIMITS)
    assert deviations(evidence, again) == {}

    group = verify_group([references[0]], [video], limits=LIMITS, common_sounds=[common_sound])
    assert (group.verdict, group.reason) == ("rejected", "common_sound")


def test_a_dismissed_sound_makes_excerpts_again(
    band: Band, measure_clip: ClipMeasurer, jingle: Samples, references: list[MeasuredSound],
    common_sound: CommonSound,
) -> None:  # fmt: skip
    video = measure_clip(with_inside(band.track(5), jingle))
    dismissed = replace(common_sound, is_dismissed=True)
    evidence = compare_pair(references[0], video, limits=LIMITS, common_sounds=[dismissed])
    assert evidence.verdict == "variant"


def test_an_excerpt_of_the_song_counts_beside_a_common_sound(
    band: Band, measure_clip: ClipMeasurer, jingle: Samples, references: list[MeasuredSound],
    common_sound: CommonSound,
) -> None:  # fmt: skip
    with_both = np.concatenate(
        [part(band.track(6), 0, 3), jingle, part(band.track(6), 3, 3), part(band.track(1), 1, 4),
         part(band.track(6), 6, 3)]
    )  # fmt: skip
    evidence = compare_pair(
        references[0], measure_clip(with_both), limits=LIMITS, common_sounds=[common_sound]
    )
    assert evidence.verdict == "variant"
    assert evidence.reference_start_s == pytest.approx(1, abs=0.6)


def test_an_excerpt_that_is_longer_than_the_common_sound_counts(
    band: Band, measure_clip: ClipMeasurer, song: Samples
) -> None:
    piece = measure_clip(part(song, 4, 2.0))
    short = CommonSound(peaks=piece.features.peaks)
    video = measure_clip(
        np.concatenate([part(band.track(2), 0, 5), part(song, 4, 5), part(band.track(3), 0, 4)])
    )
    evidence = compare_pair(measure_clip(song), video, limits=LIMITS, common_sounds=[short])
    assert (evidence.verdict, evidence.shared_part) == ("variant", None)


def test_excerpts_of_other_music_are_no_common_sound(
    measure_clip: ClipMeasurer, song: Samples, reference: MeasuredSound, common_sound: CommonSound
) -> None:
    clip = measure_clip(part(song, 4.0, 3.0))
    evidence = compare_pair(reference, clip, limits=LIMITS, common_sounds=[common_sound])
    assert (evidence.verdict, evidence.reason) == ("variant", "excerpt_variant")
