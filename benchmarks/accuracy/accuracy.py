"""The accuracy part: from tracks to one document of figures, by the real ear on real files.

What belongs here: which comparisons are run and how they are summed up. The document is plain
JSON, so that the card can be written again without running anything.
"""

import math
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any, get_args

from benchmarks.accuracy import chromaprint, plain_librosa
from benchmarks.accuracy.comparing import LIMITS, Bench, Judged, called_others
from benchmarks.accuracy.figures import Curve, Share, curve
from benchmarks.accuracy.hearing import Hearing
from benchmarks.accuracy.pairs import (
    ARGUABLE,
    COVERS,
    NARRATION,
    SHARED,
    Group,
    Pair,
    draw_unrelated,
    list_groups,
    list_pairs,
)
from benchmarks.accuracy.sounds.clips import OFF_GRID, clips_of
from benchmarks.accuracy.sounds.tracks import Part, Track
from warehouse.records.evidence import VERDICT_REVISION, RejectionLabel

PRECISION = 0.99
_ROUND_OF_PAIRS = 2_000
PARTS: tuple[Part, ...] = ("choosing", "reported")
OBSERVATIONS: tuple[str, ...] = get_args(RejectionLabel)
type Document = dict[str, Any]


def listen(tracks: list[Track], hearing: Hearing, *, workers: int) -> int:
    """Hear every clip; returns how many were new."""
    return hearing.listen(
        {clip.file for track in tracks for clip in clips_of(track)}, workers=workers
    )


def measure_part(
    part: Part, tracks: list[Track], bench: Bench
) -> tuple[Document, list[Pair], list[Judged]]:
    """All labelled pairs and groups of one part, and the pairs themselves."""
    return measure_tracks([track for track in tracks if track.part == part], bench)


def measure_tracks(tracks: list[Track], bench: Bench) -> tuple[Document, list[Pair], list[Judged]]:
    """The same for any tracks."""
    pairs, groups = list_pairs(tracks), list_groups(tracks)
    judged = bench.pairs([(pair.reference, pair.candidate) for pair in pairs])
    document = {
        "tracks": len(tracks),
        "pairs": len(pairs),
        "same": sum(pair.truth != "different" for pair in pairs),
        "summary": summary(pairs, judged),
        "families": _families(pairs, judged),
        "kinds": _kinds(pairs, judged),
        "off_grid": _speeds(pairs, judged),
        "as_heard": _as_heard(pairs, judged),
        "observations": _observations(pairs, judged),
        "groups": _groups(groups, bench.groups(groups)),
        "scores": _histograms(pairs, judged),
        "called_others": called_others([pair.truth != "different" for pair in pairs], judged),
    }
    return document, pairs, judged


def summary(pairs: Sequence[Pair], judged: Sequence[Judged]) -> Document:
    """The rows that the whole is judged by: of all pairs, without narration, without arguable."""
    kept = {"all": frozenset[str](), "main": frozenset({NARRATION}), "clear": ARGUABLE}
    return {name: _summed(*_without(pairs, judged, left_out)) for name, left_out in kept.items()}


def _summed(pairs: Sequence[Pair], judged: Sequence[Judged]) -> Document:
    drawn = _curve(pairs, judged)
    return {
        "auc": drawn.area(),
        "recall_at_p99": _share(drawn.recall_at(PRECISION)),
        "precision": _share(drawn.precision(LIMITS.match_threshold)),
        "recall": _share(drawn.above(LIMITS.match_threshold)),
    }


def _without(
    pairs: Sequence[Pair], judged: Sequence[Judged], families: frozenset[str]
) -> tuple[list[Pair], list[Judged]]:
    both = [both for both in zip(pairs, judged, strict=True) if both[0].family not in families]
    return [pair for pair, _ in both], [one for _, one in both]


def measure_unrelated(
    tracks: list[Track], bench: Bench, *, as_heard: int, searched: int, ends: float | None = None
) -> Document:
    """False accepts in many random pairs of clips that have nothing in common.

    With `ends` (seconds of `time.monotonic`) the search goes through its pairs in rounds that each
    take from all of them, and begins none later: what is stated is what was compared. Without, it
    takes equal references one after the other, which is faster.
    """
    document: Document = {}
    if as_heard:
        heard = draw_unrelated(tracks, as_heard)
        document["as_heard"] = _accepts(heard, bench.pairs(heard, search=False))
    drawn = draw_unrelated(tracks, searched)
    rounds = min(1, searched) if ends is None else -(-searched // _ROUND_OF_PAIRS)
    looked: list[tuple[str, str]] = []
    judged: list[Judged] = []
    for number in range(rounds):
        if ends is not None and time.monotonic() > ends:
            break
        taken = drawn[number::rounds]
        looked += taken
        judged += bench.pairs(taken)
    if looked:
        document["searched"] = _accepts(looked, judged)
    return document


def measure_anchors(
    pairs: list[Pair], judged: list[Judged], clips: Path, kept: Path, *, sample: int
) -> Document:
    """Chromaprint on all pairs and plain librosa on a sample, each beside the ear on the same."""
    pairs, judged = _without(pairs, judged, ARGUABLE)
    files = [(pair.reference, pair.candidate) for pair in pairs]
    document: Document = {"ear": _anchor(pairs, [one.score for one in judged])}
    if chromaprint.has_fpcalc():
        scores = chromaprint.compare_files(clips, kept, files)
        document["chromaprint"] = _anchor(pairs, scores)
    step = max(1, round(len(pairs) / sample))
    few = pairs[::step]
    plain = plain_librosa.compare_files(clips, files[::step])
    document["librosa"] = _anchor(few, [one.score for one in plain])
    accepted = [pair for pair, one in zip(few, plain, strict=True) if one.is_accepted]
    right = sum(pair.truth != "different" for pair in accepted)
    document["librosa"]["literal"] = {
        "precision": _share(Share(hits=right, total=len(accepted))),
        "recall": _share(Share(hits=right, total=sum(p.truth != "different" for p in few))),
    }
    document["ear_on_sample"] = _anchor(few, [one.score for one in judged[::step]])
    return document


def _anchor(pairs: Sequence[Pair], scores: Sequence[float]) -> Document:
    drawn = curve(scores, [pair.truth != "different" for pair in pairs])
    threshold = drawn.threshold_at(PRECISION)
    groups: dict[str, list[bool]] = {}
    for pair, score in zip(pairs, scores, strict=True):
        groups.setdefault(pair.group, []).append(score >= threshold)
    return {
        "pairs": len(pairs),
        "auc": drawn.area(),
        "recall_at_p99": _share(drawn.recall_at(PRECISION)),
        "groups": {name: _share(_part(taken)) for name, taken in groups.items()},
    }


def _curve(pairs: Sequence[Pair], judged: Sequence[Judged]) -> Curve:
    return curve([one.score for one in judged], [pair.truth != "different" for pair in pairs])


def _is_accepted(one: Judged) -> bool:
    return one.verdict in {"confirmed", "variant"}


def _part(taken: Sequence[bool]) -> Share:
    return Share(hits=sum(taken), total=len(taken))


def _share(share: Share) -> Document:
    low, high = share.interval
    return {
        "hits": share.hits, "total": share.total,
        "value": None if math.isnan(share.value) else share.value, "low": low, "high": high,
    }  # fmt: skip


def _families(pairs: Sequence[Pair], judged: Sequence[Judged]) -> list[Document]:
    rows: dict[str, list[tuple[Pair, Judged]]] = {}
    for pair, one in zip(pairs, judged, strict=True):
        rows.setdefault(pair.family, []).append((pair, one))
    return [
        {
            "family": family,
            "group": row[0][0].group,
            "truth": row[0][0].truth,
            "accepted": _share(_part([_is_accepted(one) for _, one in row])),
            "confirmed": sum(one.verdict == "confirmed" for _, one in row),
            "versions": sum(one.relation == "version" for _, one in row),
            "median_score": median(one.score for _, one in row),
            "highest_score": max(one.score for _, one in row),
        }
        for family, row in rows.items()
    ]


def _kinds(pairs: Sequence[Pair], judged: Sequence[Judged]) -> Document:
    """Recall by what made the track."""
    rows: dict[str, list[bool]] = {}
    for pair, one in zip(pairs, judged, strict=True):
        if pair.truth != "different":
            rows.setdefault(pair.kind, []).append(_is_accepted(one))
    return {kind: _share(_part(taken)) for kind, taken in sorted(rows.items())}


def _speeds(pairs: Sequence[Pair], judged: Sequence[Judged]) -> Document:
    """Recall and error of the speed found, for speeds that lie between the search's steps."""
    rows = [
        (pair.speed, one)
        for pair, one in zip(pairs, judged, strict=True)
        if pair.group == OFF_GRID and pair.speed
    ]
    errors = [
        100 * abs(one.speed / speed - 1) for speed, one in rows if one.speed and _is_accepted(one)
    ]
    return {
        "recall": _share(_part([_is_accepted(one) for _, one in rows])),
        "median_error_percent": median(errors) if errors else None,
        "largest_error_percent": max(errors, default=None),
    }


def _as_heard(pairs: Sequence[Pair], judged: Sequence[Judged]) -> Document:
    """Verdict by truth: what is a variant must never be confirmed."""
    table: dict[str, dict[str, int]] = {}
    for pair, one in zip(pairs, judged, strict=True):
        row = table.setdefault(pair.truth, {})
        row[one.verdict] = row.get(one.verdict, 0) + 1
    return table


def _observations(pairs: Sequence[Pair], judged: Sequence[Judged]) -> Document:
    """What the rejected pairs with a named observation, and those without one, really are."""
    table: dict[str, dict[str, int]] = {name: {} for name in (*OBSERVATIONS, "none")}
    for pair, one in zip(pairs, judged, strict=True):
        if one.verdict == "rejected":
            row = table[one.observation or "none"]
            row[_kind_of(pair)] = row.get(_kind_of(pair), 0) + 1
    return table


def _kind_of(pair: Pair) -> str:
    if pair.truth != "different":
        return "same"
    if pair.family in COVERS:
        return "cover"
    return "shared" if pair.family in SHARED else "other"


def _groups(groups: Sequence[Group], judged: Sequence[Judged]) -> Document:
    accepted = [_is_accepted(one) for one in judged]
    right = sum(
        taken and group.truth != "different" for group, taken in zip(groups, accepted, strict=True)
    )
    families: dict[str, list[bool]] = {}
    for group, taken in zip(groups, accepted, strict=True):
        families.setdefault(group.family, []).append(taken)
    drawn = curve([one.score for one in judged], [group.truth != "different" for group in groups])
    return {
        "groups": len(groups),
        "precision": _share(Share(hits=right, total=sum(accepted))),
        "recall": _share(Share(hits=right, total=sum(g.truth != "different" for g in groups))),
        "auc": drawn.area(),
        "families": {name: _share(_part(taken)) for name, taken in families.items()},
    }


def _accepts(pairs: Sequence[tuple[str, str]], judged: Sequence[Judged]) -> Document:
    tracks = {tuple(sorted(file.split("/")[0] for file in pair)) for pair in pairs}
    scores = sorted(one.score for one in judged)
    return {
        "revision": VERDICT_REVISION,
        "pairs": len(pairs),
        "track_pairs": len(tracks),
        "accepted": _share(_part([_is_accepted(one) for one in judged])),
        "versions": _share(_part([one.relation == "version" for one in judged])),
        "highest_score": scores[-1],
        "score_999": scores[int(0.999 * len(scores))],
        "wrong": [list(pair) for pair, one in zip(pairs, judged, strict=True) if _is_accepted(one)],
    }


def _histograms(pairs: Sequence[Pair], judged: Sequence[Judged]) -> Document:
    """Counts of scores in 40 steps, by what is true."""
    rows: dict[str, list[int]] = {}
    for pair, one in zip(pairs, judged, strict=True):
        name = "arguable" if pair.family in ARGUABLE else pair.truth
        row = rows.setdefault(name, [0] * 40)
        row[min(39, int(40 * one.score))] += 1
    return rows
