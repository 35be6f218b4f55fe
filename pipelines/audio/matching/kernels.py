"""Inner loops that are too slow in NumPy, compiled by numba and cached on disk.

On a 21 s pair the alignment is about seven times faster than in NumPy. Inputs are finite by
construction: `measurement.py` and `sound_features.py` guard every division.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

Matrix = NDArray[np.float32]
Vector = NDArray[np.float32]
Quartet = tuple[Vector, Vector, Vector, Vector]
BestCell = tuple[float, int, int]

_loop = njit(cache=True, error_model="numpy")
_fast_loop = njit(cache=True, error_model="numpy", fastmath=True)
"""Sums in another order are allowed: all numbers are finite."""
_BLOCK = 32  # delays: a whole number of the widest registers


@_fast_loop
def best_alignment(
    chroma_map: Matrix,
    mfcc_map: Matrix,
    windows: Quartet,
    energies: Quartet,
    window: int,
    least_overlap: int,
) -> tuple[BestCell, BestCell]:
    """Search all offsets and windows in one pass, row by row along the diagonals.

    Args:
        chroma_map: Dot products of reference and candidate frames (frames, frames).
        mfcc_map: The same for MFCC.
        windows: 1 / norm of the window that ends at each frame: chroma and MFCC of the reference,
            chroma and MFCC of the candidate; 0 where no window ends or the window is empty.
        energies: Sums of squares before each frame, one longer than the frames; same order.
        window: Window length in frames.
        least_overlap: Minimum frames of a whole comparison.

    Returns:
        The best window and the best whole overlap, each as c + m and its last frame in the
        reference and in the candidate; c + m is -9 if there is none.
    """
    rows, columns = chroma_map.shape
    runs = np.zeros((4, columns + 1), dtype=np.float32)
    fresh = np.zeros((4, columns + 1), dtype=np.float32)
    best, best_row, best_column = -9.0, 0, 0
    whole, whole_row, whole_column = -9.0, 0, 0
    for row in range(rows):
        _advance(fresh, runs, chroma_map, mfcc_map, row, window)
        runs, fresh = fresh, runs
        if row >= window - 1:
            value, column = _best_window(runs, windows, row, window, best)
            if value > best:
                best, best_row, best_column = value, row, column
        # A whole overlap ends in the last row or in the last column.
        first = 0 if row == rows - 1 else columns - 1
        for column in range(first, columns):
            if min(row, column) + 1 >= least_overlap:
                value = _overlap_value(runs, energies, row, column)
                if value > whole:
                    whole, whole_row, whole_column = value, row, column
    return (best, best_row, best_column), (whole, whole_row, whole_column)


@_fast_loop
def _advance(
    fresh: Matrix, runs: Matrix, chroma_map: Matrix, mfcc_map: Matrix, row: int, window: int
) -> None:
    """Update the diagonal sums from the row above: two over the window, two since the start."""
    columns = chroma_map.shape[1]
    for column in range(columns):
        fresh[0, column + 1] = runs[0, column] + chroma_map[row, column]
        fresh[1, column + 1] = runs[1, column] + mfcc_map[row, column]
        fresh[2, column + 1] = runs[2, column] + chroma_map[row, column]
        fresh[3, column + 1] = runs[3, column] + mfcc_map[row, column]
    # Take away what has left the window.
    if row >= window:
        for column in range(window, columns):
            fresh[0, column + 1] -= chroma_map[row - window, column - window]
            fresh[1, column + 1] -= mfcc_map[row - window, column - window]


@_fast_loop
def _best_window(
    runs: Matrix, windows: Quartet, row: int, window: int, best: float
) -> tuple[float, int]:
    """Return the best window that ends in this row; locate it only if it beats `best`."""
    # A loop that only keeps the maximum is vectorized; one that keeps its place, too, is not.
    chroma_scale, mfcc_scale = windows[0][row], windows[1][row]
    top = np.float32(-9)
    for column in range(window - 1, runs.shape[1] - 1):
        chroma = runs[0, column + 1] * chroma_scale * windows[2][column]
        top = max(top, chroma + runs[1, column + 1] * mfcc_scale * windows[3][column])
    place = 0
    if top > best:
        nearest = np.float32(9)
        for column in range(window - 1, runs.shape[1] - 1):
            chroma = runs[0, column + 1] * chroma_scale * windows[2][column]
            away = top - (chroma + runs[1, column + 1] * mfcc_scale * windows[3][column])
            if away < nearest:
                nearest, place = away, column
    return float(top), place


@_fast_loop
def _overlap_value(runs: Matrix, energies: Quartet, row: int, column: int) -> float:
    """Return c + m of the complete diagonal that ends at this cell."""
    length = min(row, column) + 1
    value = 0.0
    for kind in range(2):
        reference = energies[kind][row + 1] - energies[kind][row + 1 - length]
        other = energies[kind + 2]
        power = reference * (other[column + 1] - other[column + 1 - length])
        if power > 0:
            value += runs[kind + 2, column + 1] / np.sqrt(power)
    return value


@_fast_loop
def banded_path(similarity: Matrix) -> NDArray[np.int64]:
    """Dynamic time warping inside a Sakoe-Chiba band.

    Args:
        similarity: Frame similarity (frames, 2 radius + 1): column d compares reference frame k
            with candidate frame k + d - radius, counted from a rigid alignment.

    Returns:
        The column of the path at each frame; adjacent frames differ by at most one.
    """
    frames, width = similarity.shape
    came_from = np.zeros((frames, width), dtype=np.int64)
    total = similarity[0].astype(np.float64)
    for frame in range(1, frames):
        fresh = np.empty(width, dtype=np.float64)
        for state in range(width):
            choice = state  # staying wins ties, so a rigid match is left rigid
            for other in (state - 1, state + 1):
                if 0 <= other < width and total[other] > total[choice]:
                    choice = other
            came_from[frame, state] = choice
            fresh[state] = total[choice] + similarity[frame, state]
        total = fresh
    path = np.empty(frames, dtype=np.int64)
    state = width // 2
    for other in range(width):
        if total[other] > total[state]:
            state = other
    for frame in range(frames - 1, -1, -1):
        path[frame] = state
        state = came_from[frame, state]
    return path


@_loop
def lag_histograms(
    reference_frames: NDArray[np.int32],
    reference_hertz: Vector,
    candidate_frames: NDArray[np.int32],
    candidate_hertz: Vector,
    lag: int,
    reach: int,
    tolerance_hz: float,
    drifts: NDArray[np.float64],
) -> NDArray[np.int64]:
    """Count pairs of peaks of equal frequency by their time difference, for each drift.

    Both lists are in time order. Row d, entry k counts pairs with reference frame - candidate
    frame = lag + k - reach + drifts[d] (candidate frame - middle of the candidate's frames).
    """
    counts = np.zeros((len(drifts), 2 * reach + 1), dtype=np.int64)
    if len(candidate_frames) == 0:
        return counts
    middle = 0.5 * (candidate_frames[0] + candidate_frames[-1])
    furthest = reach + int(np.abs(drifts).max() * (candidate_frames[-1] - middle)) + 1
    first = 0
    for peak in range(len(candidate_frames)):
        expected = candidate_frames[peak] + lag
        from_middle = candidate_frames[peak] - middle
        # Both lists ascend, so the first peak within reach only moves on.
        while first < len(reference_frames) and reference_frames[first] < expected - furthest:
            first += 1
        other = first
        while other < len(reference_frames) and reference_frames[other] <= expected + furthest:
            if abs(reference_hertz[other] - candidate_hertz[peak]) < tolerance_hz:
                _count(counts, drifts, reference_frames[other] - expected + reach, from_middle)
            other += 1
    return counts


@_loop
def _count(
    counts: NDArray[np.int64], drifts: NDArray[np.float64], place: int, from_middle: float
) -> None:
    for drift in range(len(drifts)):
        entry = round(place - drifts[drift] * from_middle)
        if 0 <= entry < counts.shape[1]:
            counts[drift, entry] += 1


@_fast_loop
def largest_certainty(
    phases: NDArray[np.float64],
    hertz: NDArray[np.float64],
    tones: NDArray[np.int64],
    reach_s: float,
    step_s: float,
) -> float:
    """Return the largest |sum m| / sqrt(sum |m|^2) over delays d within `reach_s`.

    m is the mean of exp(i (phase + 2 pi f d)) over the pairs of one tone.

    Args:
        phases: Phase differences in radians (n,).
        hertz: Their frequencies (n,).
        tones: Number of the tone of each pair, in ascending order (n,).
        reach_s: Maximum delay in either direction.
        step_s: Step between delays.
    """
    scores, _ = _scores_by_delay(phases, hertz, tones, reach_s, step_s)
    return float(np.sqrt(scores.max()))


@_fast_loop
def _scores_by_delay(
    phases: NDArray[np.float64],
    hertz: NDArray[np.float64],
    tones: NDArray[np.int64],
    reach_s: float,
    step_s: float,
) -> tuple[Vector, int]:
    """Return |sum m|^2 / sum |m|^2 at each delay, and the number of tones, in ascending order.

    A phase turns by the delay of its block's start, then by that within the block, which is one
    product for each delay: a processor computes several of them at once.
    """
    count = int(2 * reach_s / step_s) + 1
    blocks = (count + _BLOCK - 1) // _BLOCK
    total = np.zeros((2, blocks * _BLOCK), dtype=np.float32)
    mean = np.zeros_like(total)
    energy = np.full(blocks * _BLOCK, 1e-12, dtype=np.float32)
    turned = np.empty((2, _BLOCK), dtype=np.float32)
    tone_count, first = 0, 0
    for end in range(1, len(tones) + 1):
        if end < len(tones) and tones[end] == tones[first]:
            continue
        for pair in range(first, end):
            turn, step = 1 + 0j, np.exp(2j * np.pi * hertz[pair] * step_s)
            for place in range(_BLOCK):
                turned[0, place], turned[1, place] = turn.real, turn.imag
                turn *= step
            start = np.exp(1j * (phases[pair] - 2 * np.pi * hertz[pair] * reach_s)) / (end - first)
            for block in range(blocks):
                real, imaginary = np.float32(start.real), np.float32(start.imag)
                for place in range(_BLOCK):
                    cosine, sine = turned[0, place], turned[1, place]
                    mean[0, _BLOCK * block + place] += real * cosine - imaginary * sine
                    mean[1, _BLOCK * block + place] += real * sine + imaginary * cosine
                start *= turn
        for delay in range(blocks * _BLOCK):
            real, imaginary = mean[0, delay], mean[1, delay]
            total[0, delay] += real
            total[1, delay] += imaginary
            energy[delay] += real * real + imaginary * imaginary
            mean[0, delay] = mean[1, delay] = 0
        tone_count, first = tone_count + 1, end
    scores: Vector = (total[0] ** 2 + total[1] ** 2) / energy
    return scores[:count], tone_count


@_fast_loop
def repeated_phases(
    phases: NDArray[np.float64], tones: NDArray[np.int64], notes: NDArray[np.int64]
) -> tuple[float, int, float]:
    """Compare the phase differences of separate notes of each tone.

    Args:
        phases: Phase differences in radians (n,).
        tones: Number of the tone of each, in ascending order (n,).
        notes: Number of the note of each, in ascending order; a note has one tone (n,).

    Returns:
        The sums over tones of n R^2 - 1, of n - 1 and of (n - 1) / n, with n notes of a tone, each
        a unit vector, and R the length of their mean.
    """
    excess, repeats, variance, pair = 0.0, 0, 0.0, 0
    while pair < len(phases):
        tone, count, total = tones[pair], 0, 0j
        while pair < len(phases) and tones[pair] == tone:
            note, mean = notes[pair], 0j
            while pair < len(phases) and notes[pair] == note:
                mean += complex(np.cos(phases[pair]), np.sin(phases[pair]))
                pair += 1
            total += mean / max(abs(mean), 1e-9)
            count += 1
        excess += (total.real**2 + total.imag**2) / count - 1
        repeats += count - 1
        variance += (count - 1) / count
    return excess, repeats, variance


@_fast_loop
def delay_scores(
    phases: NDArray[np.float64],
    hertz: NDArray[np.float64],
    tones: NDArray[np.int64],
    windows: NDArray[np.int64],
    reach_s: float,
    step_s: float,
) -> tuple[Matrix, NDArray[np.int64]]:
    """Return how well each delay explains the phases in each window, and how many tones there are.

    The score is |sum m|^2 / sum |m|^2, with m the mean of exp(i (phase + 2 pi f delay)) over the
    pairs of one tone: at most the number of tones.

    Args:
        phases: Phase differences in radians (n,), in time order.
        hertz: Their frequencies (n,).
        tones: Numbers of their tones (n,).
        windows: First pair of each window and the one after its last (windows, 2).
        reach_s: Maximum delay in either direction.
        step_s: Step between delays.

    Returns:
        Scores (windows, delays) and numbers of tones (windows,).
    """
    tone_counts = np.zeros(len(windows), dtype=np.int64)
    scores = np.zeros((len(windows), int(2 * reach_s / step_s) + 1), dtype=np.float32)
    for window in range(len(windows)):
        first, end = windows[window]
        order = first + np.argsort(tones[first:end])
        scores[window], tone_counts[window] = _scores_by_delay(
            phases[order], hertz[order], tones[order], reach_s, step_s
        )
    return scores, tone_counts


@_fast_loop
def best_path(scores: Matrix, free: int, jump_cost: float) -> tuple[NDArray[np.int64], float]:
    """Return the path of states with the largest sum of scores, and that sum less its jumps' cost.

    Args:
        scores: Score of each state in each window (windows, states).
        free: By how many states the path may move between two windows at no cost.
        jump_cost: Cost of any larger move.
    """
    windows, states = scores.shape
    # The total of the best path to each state, with room for moves beyond the first and the last.
    padded = np.full((windows, states + 2 * free), -1e9, dtype=np.float32)
    totals = padded[:, free : free + states]
    totals[0] = scores[0]
    best = np.empty(states, dtype=np.float32)
    for window in range(1, windows):
        best[:] = totals[window - 1].max() - np.float32(jump_cost)
        for move in range(2 * free + 1):
            moved = padded[window - 1, move : move + states]
            for state in range(states):
                best[state] = max(best[state], moved[state])
        for state in range(states):
            totals[window, state] = best[state] + scores[window, state]
    path = np.empty(windows, dtype=np.int64)
    path[-1] = np.argmax(totals[-1])
    for window in range(windows - 2, -1, -1):
        before = path[window + 1]
        top = np.argmax(totals[window])
        near = before - free + np.argmax(padded[window, before : before + 2 * free + 1])
        has_jumped = totals[window, top] - np.float32(jump_cost) > totals[window, near]
        path[window] = top if has_jumped else near
    return path, float(totals[-1, path[-1]])


@_loop
def matching_peaks(
    reference_frames: NDArray[np.int32],
    reference_hertz: Vector,
    candidate_frames: NDArray[np.int32],
    candidate_hertz: Vector,
    lag: int,
    tolerance_hz: float,
) -> NDArray[np.int64]:
    """Return index pairs (n, 2) of peaks of equal frequency, `lag` +- 1 frame apart."""
    pairs = np.empty((4 * len(candidate_frames), 2), dtype=np.int64)
    count, first = 0, 0
    for peak in range(len(candidate_frames)):
        expected = candidate_frames[peak] + lag
        while first < len(reference_frames) and reference_frames[first] < expected - 1:
            first += 1
        other = first
        while other < len(reference_frames) and reference_frames[other] <= expected + 1:
            is_near = abs(reference_hertz[other] - candidate_hertz[peak]) < tolerance_hz
            if is_near and count < len(pairs):
                pairs[count, 0], pairs[count, 1] = other, peak
                count += 1
            other += 1
    return pairs[:count]


@_loop
def steady_peaks(
    frames: NDArray[np.int32],
    hertz: Vector,
    least_gap: int,
    most_gap: int,
    tolerance_hz: float,
    repeats: int,
) -> NDArray[np.bool_]:
    """Return a mask (n,) of peaks with at least `repeats` others of equal frequency nearby."""
    is_steady = np.zeros(len(frames), dtype=np.bool_)
    first = 0
    for peak in range(len(frames)):
        while frames[first] < frames[peak] - most_gap:
            first += 1
        again = 0
        for other in range(first, len(frames)):
            gap = abs(frames[other] - frames[peak])
            if frames[other] - frames[peak] > most_gap or again == repeats:
                break
            if gap >= least_gap and abs(hertz[other] - hertz[peak]) < tolerance_hz:
                again += 1
        is_steady[peak] = again == repeats
    return is_steady


@_loop
def foreign_peaks(
    frames: NDArray[np.int32],
    hertz: Vector,
    other_frames: NDArray[np.int32],
    other_hertz: Vector,
    lag: int,
    reach: int,
    tolerance_hz: float,
) -> NDArray[np.bool_]:
    """Return a mask (n,) of peaks at whose frequency the other sound has none within `reach`."""
    is_foreign = np.ones(len(frames), dtype=np.bool_)
    first = 0
    for peak in range(len(frames)):
        expected = frames[peak] + lag
        while first < len(other_frames) and other_frames[first] < expected - reach:
            first += 1
        other = first
        while other < len(other_frames) and other_frames[other] <= expected + reach:
            if abs(other_hertz[other] - hertz[peak]) < tolerance_hz:
                is_foreign[peak] = False
                break
            other += 1
    return is_foreign


@_loop
def louder_shares(
    reference_db: Matrix,
    candidate_db: Matrix,
    clearly_db: float,
    loud: float,
    fewest: int,
    most: float,
) -> tuple[float, float]:
    """Return in which share of the cells each sound is clearly louder than the other explains.

    Args:
        reference_db: Band levels of the reference (frames, bands).
        candidate_db: Those of the candidate at the same moments.
        clearly_db: How much louder a cell must be, after the difference that the band has while
            both sounds are loud in it, as by an equalizer, and the one that most bands have at this
            moment, as by a gate.
        loud: Quantile of a band above which a sound is loud in it.
        fewest: Loud frames that tell the difference of a band.
        most: Share of the bands that tell the one of a moment.
    """
    frames, bands = reference_db.shape
    differences = reference_db - candidate_db
    highs, lows = np.empty(bands, np.float32), np.empty(bands, np.float32)
    for band in range(bands):
        first, second = reference_db[:, band], candidate_db[:, band]
        is_loud = (first > np.quantile(first, loud)) & (second > np.quantile(second, loud))
        while_loud = differences[:, band][is_loud]
        middle = np.median(differences[:, band])
        usual = np.median(while_loud) if len(while_loud) >= fewest else middle
        highs[band], lows[band] = max(usual, middle), min(usual, middle)
        differences[:, band] -= usual

    above, below, cells = 0, 0, 0
    for frame in range(1, frames - 1):
        # What most bands gain or lose at this moment.
        ordered = np.sort(differences[frame])
        gain = max(0, ordered[int((1 - most) * (bands - 1))])
        loss = max(0, -ordered[int(most * (bands - 1))])
        for band in range(bands):
            first, second = reference_db[frame, band], candidate_db[frame, band]
            # A note may begin a frame earlier in one of them.
            near_first = max(reference_db[frame - 1, band], first, reference_db[frame + 1, band])
            near_second = max(candidate_db[frame - 1, band], second, candidate_db[frame + 1, band])
            above += first - near_second > clearly_db + highs[band] + gain
            below += second - near_first > clearly_db - lows[band] + loss
            cells += 1
    return above / max(1, cells), below / max(1, cells)


@_loop
def peak_votes(
    reference_frames: NDArray[np.int32],
    reference_hertz: Vector,
    candidate_frames: NDArray[np.int32],
    candidate_hertz: Vector,
    tolerance_hz: float,
    stretch: int,
) -> NDArray[np.int32]:
    """Count pairs of peaks of equal frequency by time difference and candidate time.

    Args:
        reference_frames: Frames of the reference's peaks, in the order of their frequencies.
        reference_hertz: Their frequencies, ascending.
        candidate_frames: Frames of the candidate's peaks, ascending.
        candidate_hertz: Their frequencies.
        tolerance_hz: Largest difference of equal frequencies.
        stretch: Frames of the candidate in one column.

    Returns:
        Counts (differences, columns); row k is reference minus candidate frame = k - last candidate
        frame - 1. The first and the last row stay empty.
    """
    last = candidate_frames[-1]
    rows = reference_frames.max() + last + 3
    votes = np.zeros((rows, last // stretch + 1), dtype=np.int32)
    first = np.searchsorted(reference_hertz, candidate_hertz - np.float32(tolerance_hz))
    for peak in range(len(candidate_frames)):
        column = candidate_frames[peak] // stretch
        row = last + 1 - candidate_frames[peak]
        top = candidate_hertz[peak] + tolerance_hz
        other = first[peak]
        while other < len(reference_hertz) and reference_hertz[other] < top:
            votes[row + reference_frames[other], column] += 1
            other += 1
    return votes


@_fast_loop
def ratio_votes(
    reference_frames: NDArray[np.int32],
    reference_pitches: Vector,
    candidate_frames: NDArray[np.int32],
    candidate_pitches: Vector,
    lowest: int,
    tempos: Vector,
    column_frames: int,
    zero: int,
    columns: int,
) -> NDArray[np.int32]:
    """Count pairs of peaks by their frequency ratio and time difference, any with any.

    Args:
        reference_frames: Frames of the reference's peaks, in the order of their pitches.
        reference_pitches: Their log frequencies in rows, ascending.
        candidate_frames: Frames of the candidate's peaks.
        candidate_pitches: Their log frequencies in rows.
        lowest: How many rows higher the candidate is in row 0.
        tempos: Candidate tempo over reference tempo in each row.
        column_frames: Frames of a column.
        zero: Column of equal times.
        columns: Number of columns.

    Returns:
        Counts (rows, columns); the time difference is reference minus undone candidate frame.
    """
    rows = len(tempos)
    votes = np.zeros((rows, columns), dtype=np.int32)
    scales = tempos / np.float32(column_frames)
    places = reference_frames.astype(np.float32) / np.float32(column_frames) + np.float32(zero)
    shifted = candidate_pitches - np.float32(lowest - 0.5)
    first = np.searchsorted(reference_pitches, shifted - np.float32(rows))
    for peak in range(len(candidate_frames)):
        frame, pitch = np.float32(candidate_frames[peak]), shifted[peak]
        for other in range(first[peak], len(places)):
            above = pitch - reference_pitches[other]
            if above < 0:
                break
            row = min(int(above), rows - 1)
            votes[row, int(places[other] - scales[row] * frame)] += 1
    return votes


@_fast_loop
def tempo_votes(
    reference_frames: NDArray[np.int32],
    reference_hertz: Vector,
    candidate_frames: NDArray[np.int32],
    candidate_hertz: Vector,
    tolerance_hz: float,
    tempos: Vector,
    column_frames: int,
    zero: int,
    columns: int,
) -> NDArray[np.int32]:
    """Count pairs of peaks of equal frequency by time difference, at each tempo.

    Arguments and result are those of `ratio_votes`, but for the frequencies, which are in hertz.
    """
    votes = np.zeros((len(tempos), columns), dtype=np.int32)
    scales = tempos / np.float32(column_frames)
    places = reference_frames.astype(np.float32) / np.float32(column_frames) + np.float32(zero)
    first = np.searchsorted(reference_hertz, candidate_hertz - np.float32(tolerance_hz))
    for peak in range(len(candidate_frames)):
        top = candidate_hertz[peak] + tolerance_hz
        other = first[peak]
        while other < len(places) and reference_hertz[other] < top:
            for row in range(len(tempos)):
                votes[row, int(places[other] - scales[row] * candidate_frames[peak])] += 1
            other += 1
    return votes


@_fast_loop
def strongest_lags(
    votes: NDArray[np.int32],
    tempos: Vector,
    reference_end: int,
    candidate_end: int,
    least_overlap: int,
    column_frames: int,
    zero: int,
) -> NDArray[np.float32]:
    """Return the time difference of each row that has the most votes beyond chance.

    Chance spreads the votes of a row evenly over what overlaps. Two neighbouring columns count as
    one, because a time difference may lie between them.

    Args:
        votes: What `ratio_votes` or `tempo_votes` returned.
        tempos: Candidate tempo over reference tempo in each row.
        reference_end: Frames of the reference.
        candidate_end: Frames of the candidate.
        least_overlap: Shortest overlap in frames of the reference.
        column_frames: Frames of a column.
        zero: Column of equal times.

    Returns:
        Excess over the root of what chance gives, and the time difference in frames, (rows, 2).
    """
    rows, columns = votes.shape
    best = np.zeros((rows, 2), dtype=np.float32)
    overlap = np.empty(columns, dtype=np.float32)
    for row in range(rows):
        end, total = np.float32(tempos[row] * candidate_end), 0
        for column in range(columns):
            lag = np.float32((column - zero) * column_frames)
            common = min(np.float32(reference_end), end + lag) - max(np.float32(0), lag)
            overlap[column] = max(np.float32(0), common)
            total += votes[row, column]
        scale = np.float32(2 * total / (overlap.sum() + 1e-9))
        for column in range(1, columns):
            if overlap[column] >= least_overlap:
                expected = scale * overlap[column]
                near = votes[row, column - 1] + votes[row, column]
                excess = (near - expected) / np.sqrt(expected + 2)
                if excess > best[row, 0]:
                    best[row, 0], best[row, 1] = excess, (column - zero) * column_frames
    return best


@_fast_loop
def strongest_runs(
    votes: NDArray[np.int32], chance: Vector, columns: int, count: int, apart: int
) -> NDArray[np.float32]:
    """Return the `count` runs of columns with the most votes beyond chance, the strongest first.

    Args:
        votes: What `peak_votes` returned.
        chance: Votes of three neighbouring rows expected by chance in each column.
        columns: Columns of a run.
        count: Number of runs; no two are closer than `apart` rows.
        apart: Rows between two runs.

    Returns:
        Excess over the root of what chance gives, row and first column of each run (count, 3).
    """
    best = np.zeros((count, 3), dtype=np.float32)
    expected = np.empty(votes.shape[1] - columns + 1, dtype=np.float32)
    for column in range(len(expected)):
        expected[column] = chance[column : column + columns].sum()
    scale = 1 / np.sqrt(expected + 2)
    near = np.empty(votes.shape[1], dtype=np.int32)
    for row in range(1, votes.shape[0] - 1):
        for column in range(len(near)):
            near[column] = votes[row - 1, column] + votes[row, column] + votes[row + 1, column]
        top, place = np.float32(0), 0
        for column in range(len(expected)):
            run = 0
            for step in range(columns):
                run += near[column + step]
            value = (run - expected[column]) * scale[column]
            if value > top:
                top, place = value, column
        if top > best[count - 1, 0]:
            _insert_run(best, float(top), row, place, apart)
    return best


@_loop
def _insert_run(best: Matrix, value: float, row: int, column: int, apart: int) -> None:
    """Insert a run in order; of two runs that are close only the stronger stays."""
    last = len(best) - 1
    for rank in range(len(best)):
        if best[rank, 0] > 0 and abs(best[rank, 1] - row) < apart:
            if best[rank, 0] >= value:
                return
            last = rank
            break
    while last > 0 and best[last - 1, 0] < value:
        best[last] = best[last - 1]
        last -= 1
    best[last, 0], best[last, 1], best[last, 2] = value, row, column
