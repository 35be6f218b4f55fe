"""Which of many references a clip carries, and that nothing is found for a clip of none."""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.audio.features.measurement import measure_features
from pipelines.audio.features.sound_features import Peaks
from pipelines.audio.features.sounds import MeasuredSound, NotComparable
from pipelines.audio.index.identify import MOST_TRIED, Identification, identify
from pipelines.audio.index.kernels import constellations, fullest_cells, most_at_places
from pipelines.audio.index.reference_index import BRIEF, INDEX_VERSION, IndexFolder, ReferenceIndex
from pipelines.catalog.sound_matches import LEAST_SURPRISE
from tests.audio.clips import Band
from tests.data.audio.synthesis import RATE, Samples
from tests.shared_files import SharedFolder
from warehouse.records.evidence import MatchThresholds

LIMITS = MatchThresholds()
SEEDS = (1, 2, 3, 4)


def measured(samples: Samples) -> MeasuredSound:
    features = measure_features(samples, RATE)
    return MeasuredSound(
        sha256="", features=features, duration_s=features.duration_s, sample_rate_hz=RATE,
        codec="", library_version="",
    )  # fmt: skip


@pytest.fixture(scope="module")
def band(shared_folder: SharedFolder) -> Band:
    return Band(shared_folder)


@pytest.fixture(scope="module")
def sounds(band: Band) -> list[MeasuredSound]:
    return [measured(band.track(seed)) for seed in SEEDS]


@pytest.fixture(scope="module")
def index(sounds: list[MeasuredSound]) -> ReferenceIndex:
    built = ReferenceIndex()
    built.add([sound.features.peaks for sound in sounds[:2]])
    built.add([sound.features.peaks for sound in sounds[2:]])
    return built


def looked_up(
    clip: Samples, index: ReferenceIndex, sounds: list[MeasuredSound]
) -> list[Identification]:
    return identify(measured(clip), index, sounds.__getitem__, limits=LIMITS)


@pytest.mark.parametrize("place", range(len(SEEDS)))
def test_a_clip_is_found_as_heard_whichever_batch_its_reference_is_in(
    band: Band, index: ReferenceIndex, sounds: list[MeasuredSound], place: int
) -> None:
    best = looked_up(band.track(SEEDS[place])[2 * RATE :], index, sounds)[0]
    assert (best.reference, best.evidence.verdict) == (place, "confirmed")


@pytest.mark.parametrize("factor", [0.62, 0.8, 1.25])
def test_a_clip_at_another_speed_is_found_with_its_speed(
    band: Band, index: ReferenceIndex, sounds: list[MeasuredSound], factor: float
) -> None:
    best = looked_up(band.resampled(band.track(3), factor), index, sounds)[0]
    assert (best.reference, best.evidence.verdict) == (2, "variant")
    assert best.evidence.speed == pytest.approx(factor, rel=0.005)


def test_the_index_tells_tempo_and_pitch_before_any_comparison(
    band: Band, index: ReferenceIndex
) -> None:
    clip = measured(band.resampled(band.track(2), 0.8)).features.peaks
    hit = index.search(clip, most=1)[0]
    assert hit.reference == 1
    assert hit.tempo == pytest.approx(0.8, rel=0.03)
    assert hit.semitones == pytest.approx(12 * np.log2(0.8), abs=0.5)


@pytest.mark.parametrize("factor", [0.8, 1.0])
def test_an_eighth_of_a_clip_is_enough_to_find_a_long_piece_of_a_reference(
    band: Band, index: ReferenceIndex, factor: float
) -> None:
    clip = measured(band.resampled(band.track(3), factor)).features.peaks
    best, other = index.search(clip, most=2, effort=BRIEF)
    assert best.reference == 2
    assert best.tempo == pytest.approx(factor, rel=0.03)
    assert best.surprise > LEAST_SURPRISE > other.surprise


def test_the_unchanged_clip_is_looked_for_even_where_chance_fills_other_tempos() -> None:
    votes = np.zeros((2, 6, 5), np.uint16)
    votes[:, 0, 3], votes[:, 4, 0] = 90, 80  # many by chance
    votes[1, 2:4, 2:4] = 3
    excess, cells = fullest_cells(votes, 3, (2, 2))
    assert (cells[:, -1] == (2, 2)).all()
    assert excess[1, -1] > excess[0, -1]
    assert (excess[:, 0] > excess[:, -1]).all()
    assert not (cells[:, :-1] == (2, 2)).all(axis=2).any()


def test_references_that_are_not_searched_come_last() -> None:
    votes = np.zeros((2, 6, 5), np.uint16)
    votes[0, :, 0] = 9  # none for the unchanged clip
    excess, _ = fullest_cells(votes, 3, (2, 2))
    assert (excess[1] < excess[0]).all()


def test_only_references_from_a_number_on_are_searched(
    index: ReferenceIndex, sounds: list[MeasuredSound]
) -> None:
    found = index.search(sounds[0].features.peaks, most=4, since=2)
    assert not any(hit.votes for hit in found if hit.reference < 2)
    assert any(hit.votes for hit in found if hit.reference >= 2)
    assert index.search(sounds[0].features.peaks, most=4, since=4) == []


def test_a_clip_of_no_reference_has_no_match(
    band: Band, index: ReferenceIndex, sounds: list[MeasuredSound]
) -> None:
    assert not any(one.is_match for one in looked_up(band.track(9), index, sounds))


def test_a_reference_that_is_gone_is_not_compared(
    band: Band, index: ReferenceIndex, sounds: list[MeasuredSound]
) -> None:
    found = identify(
        measured(band.track(1)), index, lambda place: sounds[place] if place else None,
        limits=LIMITS,
    )  # fmt: skip
    assert 0 not in {one.reference for one in found}


def test_references_that_were_replaced_do_not_hide_the_present_one(
    band: Band, sounds: list[MeasuredSound]
) -> None:
    """A file that is written anew is another reference, with the votes of the one before."""
    gone_count = MOST_TRIED + 1
    renewed = ReferenceIndex()
    renewed.add([sounds[0].features.peaks] * (gone_count + 1))
    found = identify(
        measured(band.track(SEEDS[0])), renewed,
        lambda number: sounds[0] if number == gone_count else None,
        limits=LIMITS, gone_count=gone_count,
    )  # fmt: skip
    assert [(one.reference, one.is_match) for one in found] == [(gone_count, True)]


def test_no_more_references_are_compared_because_others_are_gone(
    band: Band, sounds: list[MeasuredSound]
) -> None:
    read: list[int] = []

    def read_sound(number: int) -> MeasuredSound | None:
        read.append(number)
        return sounds[1]

    many = ReferenceIndex()
    many.add([sounds[1].features.peaks] * (MOST_TRIED + 5))
    identify(measured(band.track(9)), many, read_sound, limits=LIMITS, gone_count=5)
    assert len(read) == MOST_TRIED


def test_identify_finds_nothing_for_a_clip_that_is_not_comparable(index: ReferenceIndex) -> None:
    clip = NotComparable(sha256=None, reason="silent")
    assert identify(clip, index, lambda _: None, limits=LIMITS) == []


def test_a_sound_without_peaks_finds_nothing(index: ReferenceIndex) -> None:
    none = Peaks(np.empty(0, np.int32), np.empty(0, np.float32), np.empty(0, np.uint8))
    assert index.search(none, most=3) == []


def test_an_empty_index_finds_nothing(sounds: list[MeasuredSound]) -> None:
    assert ReferenceIndex().search(sounds[0].features.peaks, most=3) == []


def test_a_kept_index_finds_the_same_and_lacks_new_references_alone(
    tmp_path: Path, sounds: list[MeasuredSound]
) -> None:
    peaks = [sound.features.peaks for sound in sounds]
    first = IndexFolder(tmp_path / "index")
    first.add(["a", "b"], peaks[:2])
    first.add(["c"], peaks[2:3])
    again = IndexFolder(tmp_path / "index")
    assert again.keys == ["a", "b", "c"]
    assert again.index.search(peaks[2], most=3) == first.index.search(peaks[2], most=3)
    read: list[str] = []

    def read_sounds(keys: Sequence[str]) -> list[MeasuredSound]:
        read.extend(keys)
        return sounds[3:4]

    again.add_missing(["d", "b", "d"], read_sounds, lambda *_: None, at_once=5)
    assert read == ["d"]


def test_small_batches_are_kept_as_one_so_that_a_search_stays_fast(
    tmp_path: Path, sounds: list[MeasuredSound]
) -> None:
    peaks = [sound.features.peaks for sound in sounds]
    for key, one in zip("abcd", peaks, strict=True):
        IndexFolder(tmp_path).add([key], [one])
    assert [file.name for file in tmp_path.glob("*.npy")] == ["entries-0-4.npy"]
    whole = ReferenceIndex()
    whole.add(peaks)
    kept = IndexFolder(tmp_path)
    assert kept.keys == list("abcd")
    assert kept.index.search(peaks[2], most=4) == whole.search(peaks[2], most=4)


def test_two_processes_do_not_write_one_batch(tmp_path: Path, sounds: list[MeasuredSound]) -> None:
    peaks = [sound.features.peaks for sound in sounds]
    one, other = IndexFolder(tmp_path), IndexFolder(tmp_path)
    one.add(["a"], peaks[:1])
    with pytest.raises(OSError, match="changed by another process"):
        other.add(["b"], peaks[1:2])
    assert IndexFolder(tmp_path).keys == ["a"]


def test_an_index_of_another_version_is_built_again(
    tmp_path: Path, sounds: list[MeasuredSound]
) -> None:
    IndexFolder(tmp_path).add(["a"], [sounds[0].features.peaks])
    stored = tmp_path / "references.json"
    stored.write_text(stored.read_text().replace('"version": "', '"version": "0'))
    opened = IndexFolder(tmp_path)
    assert opened.keys == []
    opened.add(["b"], [sounds[1].features.peaks])
    assert IndexFolder(tmp_path).keys == ["b"]


@pytest.mark.parametrize(
    "stored",
    ["[]", "1", "{}", "{", f'{{"version": "{INDEX_VERSION}"}}',
     f'{{"version": "{INDEX_VERSION}", "keys": ["a"], "batches": [1], "checksums": []}}'],
)  # fmt: skip
def test_keys_that_are_damaged_are_written_anew(
    tmp_path: Path, sounds: list[MeasuredSound], stored: str
) -> None:
    (tmp_path / "references.json").write_text(stored)
    opened = IndexFolder(tmp_path)
    assert opened.keys == []
    opened.add(["b"], [sounds[1].features.peaks])
    assert IndexFolder(tmp_path).keys == ["b"]


@given(
    pairs=st.lists(st.tuples(st.integers(0, 60), st.integers(0, 30)), max_size=40),
    factors=st.lists(st.sampled_from([0.5, 1.0, 1.07, 2.0]), min_size=1, max_size=4),
)
@settings(max_examples=60)
def test_the_most_peaks_at_one_place_are_counted_each_once(
    pairs: list[tuple[int, int]], factors: list[float]
) -> None:
    pairs.sort(key=lambda pair: pair[1])
    there, here = (np.array([pair[part] for pair in pairs], np.float64) for part in (0, 1))
    peaks_at = [
        Counter(
            place
            for place, _ in {
                (math.floor((one - other * factor) / 4), other) for one, other in pairs
            }
        )
        for factor in factors
    ]
    counts = [max(places.values(), default=0) for places in peaks_at]
    both = np.tile(np.array(factors), (2, 1))
    ranges = np.array([[0, len(pairs)], [0, 0]])
    most, trials = most_at_places(there, here, ranges, both, 4.0)
    assert (most[0], trials[0]) == (max(counts), counts.index(max(counts)))
    assert (most[1], trials[1]) == (0, 0)  # a square without constellations


def codes(frames: list[int], cents: list[int], spans: tuple[int, int], *, blurred: int) -> set[int]:
    found = np.empty((100, 4), np.int32)
    count = constellations(
        np.array(frames), np.array(cents), spans, (10, 50), 1, 1 << 20, blurred, found
    )
    return set(found[:count, 0].tolist())


@given(
    start=st.integers(0, 1),
    gaps=st.lists(st.integers(5, 18), min_size=3, max_size=3),
    steps=st.lists(st.integers(0, 24), min_size=4, max_size=4, unique=True),
)
def test_a_clip_twice_as_fast_has_the_codes_of_its_reference_although_times_are_rounded(
    start: int, gaps: list[int], steps: list[int]
) -> None:
    frames, cents = list(accumulate(gaps, initial=start)), [100 * step for step in steps]
    fast = [frame // 2 for frame in frames]
    in_reference = codes(frames, cents, (24, 56), blurred=0)
    assert in_reference <= codes(fast, cents, (12, 28), blurred=40)
    assert codes(fast, cents, (12, 28), blurred=0) <= codes(fast, cents, (12, 28), blurred=40)


def test_constellations_end_where_there_is_no_room_for_more() -> None:
    found = np.empty((1, 4), np.int32)
    frames, cents = np.arange(0, 60, 7), np.arange(0, 900, 100)
    assert constellations(frames, cents, (12, 56), (10, 50), 1, 1 << 20, 56, found) == 1
