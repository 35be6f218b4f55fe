"""Which real recordings are edited, and how: the rows of the card on real audio.

Pure. Each row is measured on every recording of a part, uneven time on two pieces of each.
"""

from zlib import crc32

from benchmarks.accuracy.full_range.cases import Case
from benchmarks.accuracy.full_range.edits import CLOCK, DRIFT, EDITS, RESYNCHRONISED, WOW
from benchmarks.accuracy.full_range.plan import CASES, EXCERPT, REFERENCE, VOICE, to_clip
from benchmarks.accuracy.real.library import listed_files
from benchmarks.accuracy.sounds.clips import Clip
from benchmarks.accuracy.sounds.tracks import Part, Track

_SPREAD = 3
"""Cases of the full range go round three times as many recordings as made tracks."""
_BY_THEMSELVES = frozenset({EXCERPT, VOICE})


_RANGE = tuple(case for case in CASES if case.work == "own" and case not in EDITS)
_TWICE = frozenset({CLOCK, WOW, RESYNCHRONISED, DRIFT})
"""Families with the highest goal, which takes most pairs to prove: on two pieces of a recording."""


def real_tracks(part: Part) -> list[Track]:
    """All recordings of a part, then a second piece of each."""
    names = [file.name for file in listed_files("music") if file.part == part]
    return [
        Track(
            number=number, kind="real", seed=crc32(name.encode()), score=piece, recording=name
        )
        for piece in range(2)
        for number, name in enumerate(names)
    ]  # fmt: skip


def cases_of(track: Track) -> list[Case]:
    """Edits of a recording, and the cases of the full range whose turn it is."""
    if track.score:
        return [case for case in EDITS if case.family in _TWICE]
    edits = [case for row, case in enumerate(EDITS) if (track.number + row) % case.turn == 0]
    whole = [
        case for row, case in enumerate(_RANGE)
        if (track.number + row) % _turn(case) == 0
    ]  # fmt: skip
    return edits + whole


def _turn(case: Case) -> int:
    return case.turn if case.family in _BY_THEMSELVES else _SPREAD * case.turn


def plan(track: Track) -> list[Clip]:
    """All edited clips of a recording, its reference first."""
    reference = Case(family=REFERENCE, label="", relation="material", kbit_s=96)
    first = to_clip(track, reference, start_s=1.0, length_s=25.0)
    return [first, *(to_clip(track, case) for case in cases_of(track))]
