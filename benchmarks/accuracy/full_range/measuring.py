"""Runs the full range: makes clips, measures them, compares, and sums up as plain JSON.

What belongs here: which comparisons run and how they are summed. Not here: how it is shown
(`rows.py`, `curves.py`).
"""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.accuracy.comparing import Bench, Judged, called_others
from benchmarks.accuracy.figures import Share, curve
from benchmarks.accuracy.full_range import others
from benchmarks.accuracy.full_range.pairs import RangePair, list_groups, list_pairs
from benchmarks.accuracy.full_range.plan import (
    BEYOND,
    SAME_SCORES,
    SCORE_SEED,
    TRACKS,
    compared_tracks,
    edited_tracks,
    plan,
)
from benchmarks.accuracy.hearing import Hearing
from benchmarks.accuracy.sounds.making import make_clips
from benchmarks.accuracy.sounds.tracks import Sources, Track
from warehouse.records.evidence import VERDICT_REVISION

type Document = dict[str, Any]
ROUND = "2"
"""Raised when the same clip would sound otherwise."""
PRECISION = 0.99
_TEMPO_TOLERANCE = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """How much of the full range is made and compared; the card states it."""

    sources: Sources
    folder: Path
    processes: int
    tracks: int = TRACKS
    scores: int = SAME_SCORES


def prepare_range(extent: Extent) -> tuple[list[Track], list[Track], Hearing]:
    """Make and measure all clips; returns edited tracks, compared ones, and the measured sounds."""
    sources, folder, processes = extent.sources, extent.folder, extent.processes
    tracks = edited_tracks(sources)[: extent.tracks]
    compared = compared_tracks(sources, extent.scores)
    clips = make_clips(
        [*tracks, *compared], sources, folder, processes=processes, plan=plan, name=f"range-{ROUND}"
    )
    hearing = Hearing(clips, folder)
    files = {clip.file for track in (*tracks, *compared) for clip in plan(track)}
    hearing.listen(files, workers=processes)
    return tracks, compared, hearing


def measure_range(extent: Extent) -> Document:
    """All figures of the full range, by the matcher and by the other tools that are installed."""
    tracks, compared, hearing = prepare_range(extent)
    folder = extent.folder
    pairs, groups = list_pairs(tracks, compared), list_groups(tracks)
    with Bench(hearing, processes=extent.processes) as bench:
        judged = bench.pairs([(pair.reference, pair.candidate) for pair in pairs])
        grouped = bench.groups(groups)
    write_range_findings(folder / "wrong-range.txt", pairs, judged)
    document: Document = {
        "tracks": len(tracks),
        "scores": sum(track.seed == SCORE_SEED for track in compared),
        "pairs": len(pairs),
        "revision": VERDICT_REVISION,
        "families": summed(pairs, [is_found(*both) for both in zip(pairs, judged, strict=True)]),
        "confirmed": summed(pairs, [one.verdict == "confirmed" for one in judged]),
        "named": summed(pairs, [one.shared_part is not None for one in judged]),
        "versions": summed(pairs, [one.relation == "version" for one in judged]),
        "called_others": called_others([pair.truth != "different" for pair in pairs], judged),
        "groups": group_counts([group.truth != "different" for group in groups], grouped),
        "others": {},
    }
    asked: dict[str, Callable[[], others.Scores | None]] = {
        "first": lambda: others.by_first_release(pairs, hearing.clips, folder),
        "chromaprint": lambda: others.by_chromaprint(
            pairs, hearing.clips, folder / "range-fingerprints.json"
        ),
        "landmarks": lambda: others.by_landmarks(
            pairs, hearing.clips, folder / "range-landmarks.json"
        ),
    }
    for name, ask in asked.items():
        if (found := ask()) is not None:
            document["others"][name] = _by_score(pairs, found)
    return document


def is_found(pair: RangePair, judged: Judged) -> bool:
    """Whether the pair is accepted, and an edited one with the right tempo."""
    if judged.verdict not in {"confirmed", "variant"}:
        return False
    if pair.truth != "variant":
        return True
    return judged.speed is not None and abs(judged.speed / pair.tempo - 1) < _TEMPO_TOLERANCE


def summed(pairs: Sequence[RangePair], found: Sequence[bool]) -> Document:
    """Per family: truth, and per label its value and the counts (found, all)."""
    families: Document = {}
    for pair, is_one in zip(pairs, found, strict=True):
        family = families.setdefault(pair.family, {"truth": pair.truth, "labels": {}})
        label = "" if pair.truth == "different" and pair.family != BEYOND else pair.label
        counts = family["labels"].setdefault(label, {"value": pair.value, "hits": 0, "total": 0})
        counts["hits"] += bool(is_one)
        counts["total"] += 1
    return families


def family_share(families: Document, family: str, *labels: str) -> Share:
    """Found and all pairs of a family, or of some of its labels."""
    chosen = families.get(family, {"labels": {}})["labels"]
    counts = [one for label, one in chosen.items() if not labels or label in labels]
    return Share(hits=sum(one["hits"] for one in counts), total=sum(one["total"] for one in counts))


def _by_score(pairs: Sequence[RangePair], scores: Sequence[float | None]) -> Document:
    """A tool at its own best threshold: the lowest with a precision of 0.99 on these pairs."""
    known = [-math.inf if one is None else one for one in scores]
    drawn = curve(known, [pair.truth != "different" for pair in pairs])
    threshold = drawn.threshold_at(PRECISION)
    found = [score >= threshold for score in known]
    return {"threshold": threshold, "families": summed(pairs, found)}


def group_counts(is_same: Sequence[bool], judged: Sequence[Judged]) -> Document:
    """Right and all accepted groups, right and all groups of the same recording."""
    accepted = [one.verdict in {"confirmed", "variant"} for one in judged]
    right = sum(same and one for same, one in zip(is_same, accepted, strict=True))
    return {
        "precision": [right, sum(accepted)],
        "recall": [right, sum(is_same)],
        "groups": len(judged),
    }


def write_range_findings(
    target: Path, pairs: Sequence[RangePair], judged: Sequence[Judged]
) -> None:
    """Pairs that are missed, or accepted though they differ, a line of JSON each."""
    wrong = [
        {"family": pair.family, "label": pair.label, "truth": pair.truth,
         "verdict": one.verdict, "reason": one.reason, "score": round(one.score, 3),
         "speed": one.speed, "semitones": one.semitones,
         "files": [pair.reference, pair.candidate]}
        for pair, one in zip(pairs, judged, strict=True)
        if is_found(pair, one) == (pair.truth == "different")
    ]  # fmt: skip
    target.write_text("\n".join(json.dumps(one) for one in wrong) + "\n", encoding="utf-8")
