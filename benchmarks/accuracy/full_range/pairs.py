"""What is compared over the full range: each clip with its own reference and with a stranger's.

Pure. Not here: which clips there are (`plan.py`).
"""

from dataclasses import dataclass

from benchmarks.accuracy.full_range.plan import (
    AGAIN,
    BEYOND,
    LIVE,
    MASH_UP,
    SAME_DRUMS,
    SAME_SCORE,
    Case,
    cases_of,
    to_clip,
)
from benchmarks.accuracy.full_range.plan import plan as clips_of
from benchmarks.accuracy.pairs import Group, Truth
from benchmarks.accuracy.sounds.clips import Clip
from benchmarks.accuracy.sounds.tracks import Track
from sandbox.world.random_streams import stream

APART = (SAME_SCORE, AGAIN, MASH_UP, SAME_DRUMS, LIVE, "reversed", BEYOND)
"""Families that must be rejected; what lies beyond the range is not searched for."""
STRANGER = "another track, edited"
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


def list_pairs(tracks: list[Track], scores: list[Track]) -> list[RangePair]:
    """Each edited clip with its own reference, then with another track's, then the equal scores."""
    references = [clips_of(track)[0] for track in tracks]
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
    return [*own, *strange, *(_same_score(track) for track in scores)]


def _pair(reference: Clip, track: Track, case: Case, *, family: str = "") -> RangePair:
    is_apart = bool(family) or case.family in APART
    truth: Truth = "variant" if case.relation == "variant" else "same"
    return RangePair(
        reference=reference.file, candidate=to_clip(track, case).file,
        family=family or case.family, label=case.label, value=case.value, tempo=case.tempo,
        truth="different" if is_apart else truth,
    )  # fmt: skip


def _same_score(track: Track) -> RangePair:
    reference, other = clips_of(track)
    return RangePair(
        reference=reference.file, candidate=other.file, family=SAME_SCORE, label="", value=None,
        tempo=1.0, truth="different",
    )  # fmt: skip


def list_groups(tracks: list[Track]) -> list[Group]:
    """Three references and two candidates per group: two groups of a track, two of strangers."""
    return [group for row in range(len(tracks)) for group in _groups_of(tracks, row)]


def _groups_of(tracks: list[Track], row: int) -> list[Group]:
    track, other = tracks[row], tracks[(row + _OTHER) % len(tracks)]
    mine, theirs = _by_relation(track), _by_relation(other)
    references = (clips_of(track)[0].file, *mine["same"][:2])
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


def _by_relation(track: Track) -> dict[str, list[str]]:
    """Files of a track in an order of its own; excerpts are left out."""
    cases = [case for case in cases_of(track) if case.length_s is None and case.family not in APART]
    rng = stream(track.seed, "range groups", track.score)
    order = [cases[int(place)] for place in rng.permutation(len(cases))]
    return {
        relation: [to_clip(track, case).file for case in order if case.relation == relation]
        for relation in ("same", "variant")
    }
