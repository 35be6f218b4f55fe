"""What the detections of a tool are worth: one scorer for all tools. Pure.

At the level of files a piece is found if its recording is among the accepted detections of its
query. At the level of segments the detection must name the place too: where the common stretch
begins, the query must play what the detection says, within a second, because the toolkit annotates
whole seconds.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from statistics import median
from typing import Any

from benchmarks.accuracy.figures import Share, curve
from benchmarks.leaderboard.levels import PlacedPiece, Query

type Document = dict[str, Any]
NEAR_S = 1.0
"""Largest error of a place, in seconds."""
PRECISION = 0.99


@dataclass(frozen=True, slots=True, kw_only=True)
class Detection:
    """A reference that a tool reports for a query.

    Attributes:
        reference: Its name.
        score: How sure the tool is; higher is surer.
        is_accepted: The tool's own verdict; None if it has no threshold of its own.
        query_s: Where the common stretch begins in the query.
        reference_s: Where it begins in the reference.
        length_s: How long it is, in seconds of the reference.
    """

    reference: str
    score: float
    is_accepted: bool | None
    query_s: float
    reference_s: float
    length_s: float


type Detections = Mapping[str, Sequence[Detection]]
"""What a tool reports by the name of the query."""


def measure(queries: Iterable[Query], detections: Detections) -> list[Document]:
    """Return the figures of each form and level by the tool's own verdict.

    A tool without a verdict gets the best threshold of the form, one for all levels. Recall at that
    threshold is part of all figures.
    """
    by_form: dict[str, list[Query]] = {}
    for query in queries:
        by_form.setdefault(query.form, []).append(query)
    rows = []
    for form, asked in by_form.items():
        threshold = best_threshold(asked, detections)
        verdicts = {entry.is_accepted for query in asked for entry in detections[query.name]}
        reaches = partial(_reaches, threshold)
        for level in dict.fromkeys(query.level for query in asked):
            of_level = [query for query in asked if query.level == level]
            best = figures(of_level, detections, reaches)
            own = best if None in verdicts else figures(of_level, detections, _by_verdict)
            extra = {"threshold": threshold, "recall_at_precision": best["recall"]}
            rows.append({"form": form, "level": level, **own, **extra})
    return rows


def _reaches(threshold: float, detection: Detection) -> bool:
    return detection.score >= threshold


def _by_verdict(detection: Detection) -> bool:
    return bool(detection.is_accepted)


def best_threshold(queries: Iterable[Query], detections: Detections) -> float:
    """Return the lowest score above which at least 0.99 of the detections are right."""
    scored = [
        (entry.score, _is_right(query, entry))
        for query in queries
        for entry in detections[query.name]
    ]
    if not scored:
        return float("inf")
    scores, is_right = zip(*scored, strict=True)
    return curve(scores, is_right).threshold_at(PRECISION)


def figures(
    queries: Sequence[Query], detections: Detections, is_accepted: Callable[[Detection], bool]
) -> Document:
    """Return all figures of one tool on some queries."""
    accepted = {query.name: list(filter(is_accepted, detections[query.name])) for query in queries}
    positives = [query for query in queries if not query.is_negative]
    negatives = [query for query in queries if query.is_negative]
    pieces = [
        (placed, _detection_of(placed, accepted[query.name]))
        for query in positives
        for placed in query.pieces
    ]
    detected = [(placed, detection) for placed, detection in pieces if detection is not None]
    errors = [abs(place_error(*pair)) for pair in detected]
    near = [pair for pair, error in zip(detected, errors, strict=True) if error <= NEAR_S]
    return {
        "recall": _share(detection is not None for _, detection in pieces),
        "precision": _share(
            _is_right(query, entry) for query in positives for entry in accepted[query.name]
        ),
        "first": _share(_is_right(query, _surest(accepted[query.name])) for query in positives),
        "negatives": _share(bool(accepted[query.name]) for query in negatives),
        "placed": asdict(Share(hits=len(near), total=len(pieces))),
        "median_error_s": median(errors) if errors else None,
        "covered": sum(covered_s(*pair) for pair in near)
        / max(1.0, sum(placed.piece.length_s for placed, _ in pieces)),
        "edits": _count_by_edit(pieces),
    }


def place_error(placed: PlacedPiece, detection: Detection) -> float:
    """Return how far the reported place in the recording is from the true one, in seconds."""
    return detection.reference_s - placed.reference_at(detection.query_s)


def covered_s(placed: PlacedPiece, detection: Detection) -> float:
    """Return how much of the piece the detection covers, in seconds of the recording."""
    piece = placed.piece
    begin = max(piece.start_s, detection.reference_s)
    end = min(piece.start_s + piece.length_s, detection.reference_s + detection.length_s)
    return max(0.0, end - begin)


def _detection_of(placed: PlacedPiece, accepted: Iterable[Detection]) -> Detection | None:
    recording = placed.piece.recording
    return next((entry for entry in accepted if entry.reference == recording), None)


def _surest(accepted: Iterable[Detection]) -> Detection | None:
    return max(accepted, key=lambda detection: detection.score, default=None)


def _is_right(query: Query, detection: Detection | None) -> bool:
    if detection is None or query.is_negative:
        return False
    return detection.reference in query.recordings


def _count_by_edit(pieces: Iterable[tuple[PlacedPiece, Detection | None]]) -> Document:
    counts: dict[str, list[int]] = {}
    for placed, detection in pieces:
        for label in placed.piece.labels:
            row = counts.setdefault(label, [0, 0])
            row[0] += detection is not None
            row[1] += 1
    return counts


def _share(outcomes: Iterable[bool]) -> Document:
    listed = list(outcomes)
    return asdict(Share(hits=sum(listed), total=len(listed)))
