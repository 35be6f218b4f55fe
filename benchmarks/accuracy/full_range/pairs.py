"""What is compared over the full range: each clip with its own reference and with a stranger's.

Pure. Not here: which clips there are (`plan.py`).
"""

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.accuracy.full_range.cases import Case
from benchmarks.accuracy.full_range.edits import GOALS
from benchmarks.accuracy.full_range.plan import (
    AGAIN,
    BEYOND,
    LIVE,
    MASH_UP,
    PIANOS,
    SAME_DRUMS,
    SAME_SCORE,
    SPOKEN_COVER,
    cases_of,
    compared_case,
    to_clip,
)
from benchmarks.accuracy.full_range.plan import plan as clips_of
from benchmarks.accuracy.pairs import Group, Truth
from benchmarks.accuracy.sounds.clips import Clip
from benchmarks.accuracy.sounds.tracks import Track
from sandbox.world.random_streams import stream

APART = (
    SAME_SCORE, PIANOS, AGAIN, MASH_UP, SAME_DRUMS, LIVE, SPOKEN_COVER, "reversed", BEYOND,
)  # fmt: skip
"""Families that must be rejected; what lies beyond the range is not searched for."""
STRANGER = "another track, edited"
type Plan = Callable[[Track], list[Clip]]
type Cases = Callable[[Track], list[Case]]
_OTHER = 1  # how far away in the list the stranger is


@dataclass(frozen=True, slots=True, kw_only=True)
class RangePair:
    """Two files below the clips, the case of the candidate, and what is true."""

    reference: str
    candidate: str
    family: str
    label: str
    value: float | None
    tempo: float
    truth: Truth


def list_pairs(
    tracks: list[Track],
    compared: list[Track],
    *,
    plan: Plan = clips_of,
    cases_of: Cases = cases_of,
) -> list[RangePair]:
    """Each edited clip with its own reference, then with another track's, then what is only
    compared.

    Args:
        tracks: Tracks that are edited.
        compared: Tracks of which one other recording is compared.
        plan: All clips of a track, its reference first.
        cases_of: Cases of a track.
    """
    references = [plan(track)[0] for track in tracks]
    own = [
        _pair(references[row], track, case)
        for row, track in enumerate(tracks)
        for case in cases_of(track)
    ]
    strange = [
        _pair(references[(row + _OTHER) % len(tracks)], track, case, family=STRANGER)
        for row, track in enumerate(tracks)
        for case in cases_of(track)
        if case.family not in APART
    ]
    return [*own, *strange, *(_compared(track) for track in compared)]


def _pair(reference: Clip, track: Track, case: Case, *, family: str = "") -> RangePair:
    is_apart = bool(family) or case.family in APART
    truth: Truth = "variant" if case.relation == "variant" else "same"
    return RangePair(
        reference=reference.file, candidate=to_clip(track, case).file,
        family=family or case.family, label=case.label, value=case.value, tempo=case.tempo,
        truth="different" if is_apart else truth,
    )  # fmt: skip


def _compared(track: Track) -> RangePair:
    reference, other = clips_of(track)
    case = compared_case(track)
    assert case is not None
    return RangePair(
        reference=reference.file, candidate=other.file, family=case.family, label="", value=None,
        tempo=1.0, truth="different",
    )  # fmt: skip


def list_groups(
    tracks: list[Track], *, plan: Plan = clips_of, cases_of: Cases = cases_of
) -> list[Group]:
    """Three references and two candidates per group: two groups of a track, two of strangers."""
    known = [_by_relation(track, cases_of(track)) for track in tracks]
    references = [plan(track)[0].file for track in tracks]
    return [
        group
        for row, track in enumerate(tracks)
        for group in _groups_of(
            track, references[row], known[row], known[(row + _OTHER) % len(tracks)]
        )
    ]


type Files = dict[str, list[str]]


def _groups_of(track: Track, reference: str, mine: Files, theirs: Files) -> list[Group]:
    references = (reference, *mine["same"][:2])
    candidates: tuple[tuple[Truth, str, list[str]], ...] = (
        ("same", "as heard", mine["same"][2:4]),
        ("variant", "edited", mine["variant"][:2]),
        ("different", "another track", theirs["same"][2:4]),
        ("different", "another track, edited", theirs["variant"][:2]),
    )
    return [
        Group(references=references, candidates=tuple(files), truth=truth, family=family,
              part=track.part)
        for truth, family, files in candidates
    ]  # fmt: skip


def _by_relation(track: Track, cases: list[Case]) -> Files:
    """Files of a track in an order of its own; excerpts, and edits with rows of their own, are not
    in groups."""
    left_out = {*APART, *GOALS}
    cases = [case for case in cases if case.length_s is None and case.family not in left_out]
    rng = stream(track.seed, "range groups", track.score)
    order = [cases[int(place)] for place in rng.permutation(len(cases))]
    return {
        relation: [to_clip(track, case).file for case in order if case.relation == relation]
        for relation in ("same", "variant")
    }
