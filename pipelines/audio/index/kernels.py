"""Inner loops of the index, compiled by numba and cached on disk: constellations and votes."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

Whole = NDArray[np.int64]
_MOST_CENTS = 2_400
_MOST_STEPS = 128
_LEAST_GAP = 2  # frames between two peaks: a chord is no order
_BLUR = 0.5  # frames: a time is rounded to one
_loop = njit(cache=True, error_model="numpy")


@_loop
def first_of_tones(frames: Whole, cents: Whole, gap: int) -> NDArray[np.bool_]:
    """Mark the peaks without a peak of their tone (40 cents) in the `gap` frames before.

    Args:
        frames: Times in ascending order, (n,).
        cents: Frequencies, (n,).
        gap: Frames.
    """
    is_first = np.ones(len(frames), np.bool_)
    for place in range(len(frames)):
        before = place - 1
        # Peaks of one frame do not precede each other.
        while before >= 0 and frames[place] - frames[before] <= gap:
            is_same_tone = abs(cents[place] - cents[before]) < 40  # noqa: PLR2004
            if is_same_tone and frames[before] < frames[place]:
                is_first[place] = False
                break
            before -= 1
    return is_first


@_loop
def _mixed(value: int) -> np.uint64:
    """Return the bits of a number well mixed (the finalizer of MurmurHash3, A. Appleby)."""
    # All constants are unsigned too: numba makes a float of int64 with uint64.
    mixed = np.uint64(value)
    mixed ^= mixed >> np.uint64(33)
    mixed *= np.uint64(0xFF51AFD7ED558CCD)
    mixed ^= mixed >> np.uint64(33)
    mixed *= np.uint64(0xC4CEB9FE1A85EC53)
    return mixed ^ (mixed >> np.uint64(33))


@_loop
def constellations(
    frames: Whole,
    cents: Whole,
    spans: tuple[int, int],
    grid: tuple[int, int],
    sampled: int,
    code_count: int,
    blurred: int,
    output: NDArray[np.int32],
) -> int:
    """Write the constellations of four peaks whose outer shape is in the sample; return how many.

    Args:
        frames: Times in ascending order, (n,).
        cents: Frequencies, (n,).
        spans: Fewest and most frames from the first peak to the last.
        grid: Parts of the span that times are rounded to, and cents of one step of an interval.
        sampled: One of so many shapes of three peaks is used; the shape alone decides.
        code_count: Number of different codes, a power of two.
        blurred: In spans up to this one, a time near the edge of a part is in both parts: the
            constellation is written with each of its codes.
        output: Rows of code, first frame, span, cents of the first peak; (most, 4).
    """
    count = 0
    for first in range(len(frames)):
        for last in range(first + 1, len(frames)):
            span = frames[last] - frames[first]
            if span > spans[1]:
                break
            outer = _interval(cents, first, last, grid[1])
            if span < spans[0] or outer == 0:
                continue
            count = _write_between(
                (outer, _BLUR if span <= blurred else 0.0),
                frames,
                cents,
                (first, last),
                grid,
                (sampled, code_count),
                output,
                count,
            )
    return count


@_loop
def _interval(cents: Whole, first: int, other: int, step: int) -> int:
    """Return the interval of two peaks in steps, rounded; 0 if there is none or it is too wide."""
    interval = cents[other] - cents[first]
    if abs(interval) > _MOST_CENTS:
        return 0
    return int((interval + _MOST_CENTS + step // 2) // step - _MOST_CENTS // step)


@_loop
def _inner_interval(frames: Whole, cents: Whole, places: tuple[int, int, int], step: int) -> int:
    """Return the interval of a further peak to the first; 0 if it adds nothing to a shape.

    `places` are the first peak, the further one and the last. One of the same tone or the same
    time as an outer peak adds nothing.
    """
    first, further, last = places
    is_beside = frames[further] - frames[first] < _LEAST_GAP
    is_beside |= frames[last] - frames[further] < _LEAST_GAP
    interval = _interval(cents, first, further, step)
    return 0 if is_beside or interval == _interval(cents, first, last, step) else interval


@_loop
def _parts(gap: int, span: int, blur: float, parts: int) -> tuple[int, int]:
    """Return the first and last part of a span in which a time may lie, `blur` frames around."""
    low = int(parts * max(0.0, gap - blur) / (span + blur))
    return low, min(parts - 1, int(parts * (gap + blur) / (span - blur)))


@_loop
def _extended(shape: int, interval: int, part: int, parts: int) -> int:
    """Return a shape with a further peak: where in the span, at which interval."""
    return int(((shape + _MOST_STEPS) * 2 * _MOST_STEPS + interval + _MOST_STEPS) * parts + part)


@_loop
def _write_between(
    outer: tuple[int, float],
    frames: Whole,
    cents: Whole,
    ends: tuple[int, int],
    grid: tuple[int, int],
    codes: tuple[int, int],
    output: NDArray[np.int32],
    count: int,
) -> int:
    """Write the constellations of two peaks and two between them, where the sample has them.

    `outer` is the interval of the two, and by how many frames times may be off.
    """
    first, last = ends
    span = frames[last] - frames[first]
    for second in range(first + 1, last):
        places = (first, second, last)
        interval = _inner_interval(frames, cents, places, grid[1])
        if interval == 0:
            continue
        low, high = _parts(frames[second] - frames[first], span, outer[1], grid[0])
        for part in range(low, high + 1):
            shape = _extended(outer[0], interval, part, grid[0])
            if _mixed(shape) % np.uint64(codes[0]) == 0:
                count = _write_wholes(
                    (shape, outer[1]), frames, cents, places, grid, codes[1], output, count
                )
    return count


@_loop
def _write_wholes(
    shape: tuple[int, float],
    frames: Whole,
    cents: Whole,
    places: tuple[int, int, int],
    grid: tuple[int, int],
    code_count: int,
    output: NDArray[np.int32],
    count: int,
) -> int:
    """Write each constellation of these three peaks and one between the last two of them.

    `shape` is that of the three, and by how many frames times may be off.
    """
    first, second, last = places
    span = frames[last] - frames[first]
    for third in range(second + 1, last):
        is_same = abs(cents[third] - cents[second]) < grid[1]
        if is_same or frames[third] - frames[second] < _LEAST_GAP:
            continue
        interval = _inner_interval(frames, cents, (first, third, last), grid[1])
        if interval == 0:
            continue
        low, high = _parts(frames[third] - frames[first], span, shape[1], grid[0])
        # No more than there are rows in the output.
        for part in range(low, min(high, low + len(output) - count - 1) + 1):
            whole = _extended(shape[0], interval, part, grid[0])
            output[count, 0] = np.int32(_mixed(whole) % np.uint64(code_count))
            output[count, 1] = frames[first]
            output[count, 2] = span
            output[count, 3] = cents[first]
            count += 1
    return count


@_loop
def cast_votes(
    starts: NDArray[np.int32],
    entries: NDArray[np.void],
    shapes: NDArray[np.int32],
    octaves: NDArray[np.float32],
    cells: tuple[float, float, float, float],
    votes: NDArray[np.uint16],
    voters: NDArray[np.uint16],
) -> None:
    """Count, for each reference and change, the peaks of the clip that begin an agreeing shape.

    Args:
        starts: First entry of each code, and the number of entries.
        entries: Entries of the references by code; see `reference_index.ENTRY`.
        shapes: Constellations of the clip in order of their first frame.
        octaves: Logarithm to base 2 of each span in frames.
        cells: Least tempo in octaves, cells per octave, least pitch in cents, cents of a cell.
        votes: Counts (references, tempos, pitches), added to.
        voters: The last peak that voted in each cell, so that each counts once; same shape.
    """
    low, fineness, bottom, width = cells
    for row in range(len(shapes)):
        code, frame, span, cents = shapes[row]
        for place in range(starts[code], starts[code + 1]):
            entry = entries[place]
            tempo = int(np.floor((octaves[entry["span"]] - octaves[span] - low) * fineness))
            pitch = int(np.floor((cents - int(entry["cents"]) - bottom) / width))
            if 0 <= tempo < votes.shape[1] and 0 <= pitch < votes.shape[2]:
                reference = entry["reference"]
                # Plus one, since 0 in `voters` means that no peak has voted yet.
                if voters[reference, tempo, pitch] != frame + 1:
                    voters[reference, tempo, pitch] = frame + 1
                    votes[reference, tempo, pitch] += 1


@_loop
def fullest_cells(
    votes: NDArray[np.uint16], kept: int, always: tuple[int, int]
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return per reference the squares of two by two cells that stand out most, and how much.

    A square is compared with the mean of its tempos: a clip has more constellations of long spans
    than of short ones, so chance alone fills the cells of low tempos. It fills them unevenly, too,
    where the clip repeats itself, so one square is always kept.

    Args:
        votes: Counts (references, tempos, pitches).
        kept: How many squares.
        always: Tempo and pitch of the square that is always kept.

    Returns:
        Excess over that mean in standard deviations of a Poisson count (references, kept), and
        tempo and pitch of the squares (references, kept, 2). All but the last one are in descending
        order and at least two tempos apart; the last one is `always`.
    """
    excess = np.full((len(votes), kept), -np.inf, np.float32)
    cells = np.zeros((len(votes), kept, 2), np.int64)
    rows = votes.shape[1] - 1
    scores, pitches = np.zeros(rows, np.float32), np.zeros(rows, np.int64)
    for reference in range(len(votes)):
        if not votes[reference].any():  # not searched
            continue
        for tempo in range(rows):
            pair = votes[reference, tempo : tempo + 2].astype(np.float32).sum(axis=0)
            squares = pair[:-1] + pair[1:]
            pitches[tempo] = np.argmax(squares)
            mean = squares.mean()
            scores[tempo] = (squares[pitches[tempo]] - mean) / np.sqrt(mean + 1)
            if tempo == always[0]:
                excess[reference, -1] = (squares[always[1]] - mean) / np.sqrt(mean + 1)
        cells[reference, -1] = always
        # Neighbours of a square share its votes, so they are taken out with it.
        for place in range(kept - 1):
            best = int(np.argmax(scores))
            excess[reference, place] = scores[best]
            cells[reference, place, 0] = best
            cells[reference, place, 1] = pitches[best]
            scores[max(0, best - 1) : best + 2] = -1
    return excess, cells


@_loop
def collect_pairs(
    starts: NDArray[np.int32],
    entries: NDArray[np.void],
    shapes: NDArray[np.int32],
    octaves: NDArray[np.float32],
    cells: tuple[float, float, float, float],
    chosen: NDArray[np.int64],
    is_chosen: NDArray[np.bool_],
    output: NDArray[np.float32],
) -> int:
    """Write the agreeing constellations of some references at their change; return how many.

    Args:
        starts: As in `cast_votes`; so are `entries`, `shapes`, `octaves` and `cells`.
        entries: As above.
        shapes: As above.
        octaves: As above.
        cells: As above.
        chosen: Tempo and pitch of the squares of each reference, (references, squares, 2).
        is_chosen: Whether a reference is looked at, (references,).
        output: Rows of number of the square over all references, tempo in octaves, frame there,
            frame here, cents; (most, 5).
    """
    count = 0
    low, fineness, bottom, width = cells
    for row in range(len(shapes)):
        code, frame, span, cents = shapes[row]
        for place in range(starts[code], starts[code + 1]):
            entry = entries[place]
            reference = entry["reference"]
            if not is_chosen[reference]:
                continue
            octave = octaves[entry["span"]] - octaves[span]
            shift = cents - int(entry["cents"])
            tempo = int(np.floor((octave - low) * fineness))
            pitch = int(np.floor((shift - bottom) / width))
            # A square is two cells wide in both directions.
            for square in range(chosen.shape[1]):
                is_in = 0 <= tempo - chosen[reference, square, 0] <= 1
                is_in &= 0 <= pitch - chosen[reference, square, 1] <= 1
                if is_in and count < len(output):
                    output[count, 0] = reference * chosen.shape[1] + square
                    output[count, 1] = octave
                    output[count, 2] = entry["frame"]
                    output[count, 3] = frame
                    output[count, 4] = shift
                    count += 1
    return count


@_loop
def most_at_places(
    there: NDArray[np.float64],
    here: NDArray[np.float64],
    ranges: Whole,
    factors: NDArray[np.float64],
    width: float,
) -> tuple[Whole, Whole]:
    """Return, for each square, the most peaks of a clip that agree on one place, and their tempo.

    Args:
        there: Frames in the reference of the constellations of all squares, (n,).
        here: Frames of the same in the clip, ascending in each square, (n,).
        ranges: First constellation of each square, and the one after its last, (squares, 2).
        factors: Tempos to try, (squares, trials): frames of the reference for one of the clip.
        width: Frames of one place.

    Returns:
        Counts, and the number of the first tempo with that count, (squares,); 0 and 0 for a square
        without constellations.
    """
    most, tempos = np.zeros(len(ranges), np.int64), np.zeros(len(ranges), np.int64)
    for square in range(len(ranges)):
        start, end = ranges[square]
        for trial in range(factors.shape[1]):
            count = _most_at_one_place(
                there[start:end], here[start:end], factors[square, trial], width
            )
            if count > most[square]:
                most[square], tempos[square] = count, trial
    return most, tempos


@_loop
def _most_at_one_place(
    there: NDArray[np.float64], here: NDArray[np.float64], factor: float, width: float
) -> int:
    """Return the most peaks of a clip that agree on one place at one tempo."""
    most = 0
    if len(here) == 0:
        return most
    places = np.floor((there - here * factor) / width).astype(np.int64)
    places -= places.min()
    counts = np.zeros(places.max() + 1, np.int64)
    voted = np.full(len(counts), -1.0)  # the last peak at each place, so that each counts once
    for row in range(len(here)):
        place = places[row]
        if voted[place] != here[row]:
            voted[place] = here[row]
            counts[place] += 1
            most = max(most, counts[place])
    return most
