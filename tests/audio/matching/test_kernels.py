"""The compiled inner loops do what their source says when Python itself runs it."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pipelines.audio.matching import kernels

INNER = ("_advance", "_best_window", "_overlap_value", "_count", "_scores_by_delay")
SEEDS = pytest.mark.parametrize("seed", range(3))


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Calls a kernel without the compiler, with all that it calls."""

    def call(name: str, *arguments: Any) -> Any:
        function = getattr(kernels, name).py_func
        with monkeypatch.context() as patch:
            for inner in INNER:
                compiled = getattr(kernels, inner)
                patch.setattr(kernels, inner, getattr(compiled, "py_func", compiled))
            return function(*arguments)

    return call


def unit(values: Any) -> Any:
    return (values / np.linalg.norm(values, axis=1, keepdims=True)).astype(np.float32)


def energies(frames: int) -> Any:
    """Sums of squares before each of so many frames of length one."""
    return np.arange(frames + 1, dtype=np.float32)


@SEEDS
def test_the_best_alignment_is_the_same_place_and_value(
    interpreted: Callable[..., Any], seed: int
) -> None:
    numbers = np.random.default_rng(seed)
    window, rows = 4, 18
    reference = unit(numbers.normal(size=(rows, 6)))
    candidate = unit(np.concatenate([numbers.normal(size=(5, 6)), reference[3:15]]))
    similarity = (reference @ candidate.T).astype(np.float32)
    columns = len(candidate)

    def scales(frames: int) -> Any:
        found = np.full(frames, 1 / np.sqrt(window), dtype=np.float32)
        found[: window - 1] = 0
        return found

    windows = (scales(rows), scales(rows), scales(columns), scales(columns))
    sums = (energies(rows), energies(rows), energies(columns), energies(columns))
    given = (similarity, similarity, windows, sums, window, 6)
    (local, row, column), whole = kernels.best_alignment(*given)
    slow_local, slow_whole = interpreted("best_alignment", *given)
    assert local == pytest.approx(slow_local[0], abs=1e-5)
    assert local == pytest.approx(2.0, abs=1e-5)
    assert row - column == 3 - 5  # where the copy begins in each
    assert slow_local[1] - slow_local[2] == row - column
    assert whole == pytest.approx(slow_whole, abs=1e-5)


def test_alignment_of_fewer_frames_than_required_finds_nothing(
    interpreted: Callable[..., Any],
) -> None:
    few = np.ones((3, 3), dtype=np.float32)
    scales, sums = np.zeros(3, dtype=np.float32), energies(3)
    given = (few, few, (scales,) * 4, (sums,) * 4, 5, 4)
    for found in (kernels.best_alignment(*given), interpreted("best_alignment", *given)):
        assert [value for value, _, _ in found] == [-9, -9]


@SEEDS
def test_the_path_in_a_band_is_the_same(interpreted: Callable[..., Any], seed: int) -> None:
    similarity = np.random.default_rng(seed).random((30, 7)).astype(np.float32)
    path = kernels.banded_path(similarity)
    assert path.tolist() == interpreted("banded_path", similarity).tolist()
    assert np.abs(np.diff(path)).max() <= 1


def peaks(seed: int, count: int) -> tuple[Any, Any]:
    numbers = np.random.default_rng(seed)
    frames = np.sort(numbers.integers(0, 60, count)).astype(np.int32)
    return frames, (100 * numbers.integers(3, 8, count)).astype(np.float32)


@SEEDS
def test_time_differences_are_counted_the_same(interpreted: Callable[..., Any], seed: int) -> None:
    drifts = np.array([-0.02, 0.0, 0.02])
    given = (*peaks(seed, 40), *peaks(seed + 10, 30), 2, 12, 1.0, drifts)
    counts = kernels.lag_histograms(*given)
    assert counts.tolist() == interpreted("lag_histograms", *given).tolist()
    frames, hertz, other_frames, other_hertz = given[:4]
    pairs = [
        int(frames[one]) - int(other_frames[other]) - 2
        for one in range(40)
        for other in range(30)
        if hertz[one] == other_hertz[other]
    ]
    assert counts[1].tolist() == [pairs.count(lag - 12) for lag in range(25)]


def test_lag_histograms_without_peaks_are_empty(interpreted: Callable[..., Any]) -> None:
    none = (np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.float32))
    given = (*peaks(1, 5), *none, 0, 3, 1.0, np.zeros(1))
    assert kernels.lag_histograms(*given).sum() == 0
    assert interpreted("lag_histograms", *given).sum() == 0


@SEEDS
def test_compiled_largest_certainty_equals_the_interpreted_one(
    interpreted: Callable[..., Any], seed: int
) -> None:
    numbers = np.random.default_rng(seed)
    tones = np.sort(numbers.integers(0, 5, 20))
    given = (
        numbers.uniform(0, 2 * np.pi, 20), numbers.uniform(300, 900, 20), tones, 0.01, 1e-4,
    )  # fmt: skip
    assert kernels.largest_certainty(*given) == pytest.approx(
        interpreted("largest_certainty", *given), rel=1e-5
    )


@SEEDS
def test_repeated_phases_are_those_of_the_formula(
    interpreted: Callable[..., Any], seed: int
) -> None:
    numbers = np.random.default_rng(seed)
    notes = np.sort(numbers.integers(0, 12, 30))
    tones = notes // 4
    given = (numbers.uniform(0, 2 * np.pi, 30), tones, notes)
    found = kernels.repeated_phases(*given)
    assert found == pytest.approx(interpreted("repeated_phases", *given), rel=1e-9)
    excess, repeats = 0.0, 0
    for tone in np.unique(tones):
        sums = [
            np.exp(1j * given[0][notes == note]).sum() for note in np.unique(notes[tones == tone])
        ]
        vectors = np.array(sums) / np.abs(sums)
        excess += len(vectors) * abs(vectors.mean()) ** 2 - 1
        repeats += len(vectors) - 1
    assert found[:2] == pytest.approx((excess, repeats))


@SEEDS
def test_matching_peaks_are_the_same_and_one_frame_apart_at_most(
    interpreted: Callable[..., Any], seed: int
) -> None:
    given = (*peaks(seed, 40), *peaks(seed + 10, 30), 2, 1.0)
    pairs = kernels.matching_peaks(*given)
    assert pairs.tolist() == interpreted("matching_peaks", *given).tolist()
    frames, hertz, other_frames, other_hertz = given[:4]
    expected = {
        (one, other)
        for one in range(40)
        for other in range(30)
        if abs(int(frames[one]) - int(other_frames[other]) - 2) <= 1
        and hertz[one] == other_hertz[other]
    }
    assert set(map(tuple, pairs.tolist())) == expected


@SEEDS
@pytest.mark.parametrize("wanted", [1, 3])
def test_steady_peaks_are_the_same_and_have_as_many_others_as_asked_for(
    interpreted: Callable[..., Any], seed: int, wanted: int
) -> None:
    frames, hertz = peaks(seed, 40)
    given = (frames, hertz, 2, 8, 1.0, wanted)
    found = kernels.steady_peaks(*given)
    assert found.tolist() == interpreted("steady_peaks", *given).tolist()
    expected = [
        sum(
            2 <= abs(int(frames[other]) - int(frames[peak])) <= 8 and hertz[other] == hertz[peak]
            for other in range(40)
        )
        >= wanted
        for peak in range(40)
    ]
    assert found.tolist() == expected


@SEEDS
def test_scores_of_delays_are_those_of_the_formula(
    interpreted: Callable[..., Any], seed: int
) -> None:
    numbers = np.random.default_rng(seed)
    phases, hertz = numbers.uniform(0, 2 * np.pi, 12), numbers.uniform(300, 900, 12)
    tones = numbers.integers(0, 4, 12)
    windows = np.array([[0, 8], [4, 12], [12, 12]])
    given = (phases, hertz, tones, windows, 0.002, 1e-3)
    scores, counts = kernels.delay_scores(*given)
    slow_scores, slow_counts = interpreted("delay_scores", *given)
    np.testing.assert_allclose(scores, slow_scores, rtol=1e-4)
    assert counts.tolist() == slow_counts.tolist()
    assert counts[0] == len(np.unique(tones[:8]))
    expected = np.zeros((3, 5))
    for window, (first, end) in enumerate(windows[:2]):
        inside = slice(first, end)
        for number, delay in enumerate(np.arange(-2, 3) * 1e-3):
            turned = np.exp(1j * (phases[inside] + 2 * np.pi * hertz[inside] * delay))
            means = [turned[tones[inside] == tone].mean() for tone in np.unique(tones[inside])]
            expected[window, number] = abs(sum(means)) ** 2 / np.square(np.abs(means)).sum()
    np.testing.assert_allclose(scores, expected, rtol=1e-4)


@SEEDS
def test_the_best_path_of_delays_pays_for_its_jumps(
    interpreted: Callable[..., Any], seed: int
) -> None:
    scores = np.random.default_rng(seed).random((4, 5)).astype(np.float32)
    path, total = kernels.best_path(scores, 1, 0.3)
    slow_path, slow_total = interpreted("best_path", scores, 1, 0.3)
    assert path.tolist() == slow_path.tolist()
    totals = {
        states: sum(float(scores[window, state]) for window, state in enumerate(states))
        - 0.3 * sum(abs(after - before) > 1 for before, after in itertools.pairwise(states))
        for states in itertools.product(range(5), repeat=4)
    }
    assert total == pytest.approx(max(totals.values()), rel=1e-5)
    assert slow_total == pytest.approx(total, rel=1e-5)
    assert totals[tuple(path.tolist())] == pytest.approx(total, rel=1e-5)


@SEEDS
def test_votes_for_edits_are_the_same_counts(interpreted: Callable[..., Any], seed: int) -> None:
    numbers = np.random.default_rng(seed)
    pitches = [np.sort(numbers.uniform(0, 12, 40)).astype(np.float32) for _ in range(2)]
    frames = [np.sort(numbers.integers(0, 90, 40)).astype(np.int32) for _ in range(2)]
    tempos = np.array([0.5, 0.8, 1.0, 1.25, 2.0], dtype=np.float32)
    grid = (4, 47, 47 + 90 // 4 + 2)
    sounds = (frames[0], pitches[0], frames[1], pitches[1])
    for name, given in (
        ("ratio_votes", (*sounds, -2, tempos, *grid)),
        ("tempo_votes", (*sounds, 0.5, tempos, *grid)),
    ):
        votes = getattr(kernels, name)(*given)
        assert votes.sum() > 0
        np.testing.assert_array_equal(votes, interpreted(name, *given))
        rows = (votes, tempos, 90, 90, 20, *grid[:2])
        np.testing.assert_allclose(
            kernels.strongest_lags(*rows), interpreted("strongest_lags", *rows), rtol=1e-4
        )
