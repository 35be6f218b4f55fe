"""How a Top N changes with other limits: stored evidence judged again, including rejected pairs.

Only the literal rules of the specification are applied again to stored measures. For a looser limit
the full score of a rejected pair is unknown, so the count of pairs within the distances is an upper
bound. Videos of music ids that no scan read cannot be ranked.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice

import pyarrow as pa

from warehouse.records import evidence
from warehouse.records.values import ReadOnlyRow

LIMITS = tuple(round(0.05 * step, 2) for step in range(1, 20))
VIRAL_LINES = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)

type ReportRow = ReadOnlyRow


def judge_chroma(pairs: pa.Table, pool: pa.Table, *, top: int) -> pa.Table:
    """Apply other limits of the chroma distance (local rule, 0.65 in use)."""

    def to_limits(value: float) -> evidence.MatchThresholds:
        return replace(evidence.MatchThresholds(), local_chroma_distance=value)

    return _judge(pairs, pool, evidence.MatchThresholds().local_chroma_distance, to_limits, top=top)


def judge_score(pairs: pa.Table, pool: pa.Table, *, top: int) -> pa.Table:
    """Apply other limits of the composite score (0.65 in use)."""

    def to_limits(value: float) -> evidence.MatchThresholds:
        return replace(evidence.MatchThresholds(), match_threshold=value)

    return _judge(pairs, pool, evidence.MatchThresholds().match_threshold, to_limits, top=top)


def judge_viral(pool: pa.Table, *, top: int, usual: int) -> pa.Table:
    """Apply other viral thresholds: the number of viral videos, and the change of the Top N."""
    confirmed = [row for row in pool.to_pylist() if row["link_type"] is not None]
    # The pool is sorted, so the first viral videos are the Top N.
    now = _top(confirmed, top, partial(is_viral, line=usual))
    rows = []
    for line in sorted({*VIRAL_LINES, usual}):
        best = _top(confirmed, top, partial(is_viral, line=line))
        rows.append(
            {
                "viral_line": line,
                "is_usual": line == usual,
                "viral_count": sum(is_viral(row, line) for row in confirmed),
                "top_count": len(best),
                "came": len(best - now),
                "went": len(now - best),
            }
        )
    return pa.Table.from_pylist(rows)


def is_viral(video: ReportRow, line: int) -> bool:
    """Whether a video has at least `line` likes; unknown likes reach no threshold."""
    return video["digg_count"] is not None and video["digg_count"] >= line


def _judge(
    pairs: pa.Table,
    pool: pa.Table,
    usual: float,
    to_limits: Callable[[float], evidence.MatchThresholds],
    *,
    top: int,
) -> pa.Table:
    """Judge the pairs by each limit of `LIMITS`, and compare the Top N with that of `usual`."""
    compared, videos = pairs.to_pylist(), pool.to_pylist()
    now = _top(videos, top, partial(_is_in, ids=_confirmed_ids(compared, to_limits(usual))))
    rows = []
    for value in sorted({*LIMITS, usual}):
        limits = to_limits(value)
        ids = _confirmed_ids(compared, limits)
        best = _top(videos, top, partial(_is_in, ids=ids))
        rows.append(
            {
                "limit": value,
                "is_usual": value == usual,
                "pairs_confirmed": sum(_holds(row, limits) for row in compared),
                "pairs_within_distances": sum(_is_near(row, limits) for row in compared),
                "music_ids_confirmed": len(ids),
                "works_confirmed": sum(_is_in(row, ids) for row in videos),
                "top_count": len(best),
                "came": len(best - now),
                "went": len(now - best),
            }
        )
    return pa.Table.from_pylist(rows)


def _confirmed_ids(pairs: Sequence[ReportRow], limits: evidence.MatchThresholds) -> set[str]:
    return {row["candidate_music_id"] for row in pairs if _holds(row, limits)}


def _top(videos: Iterable[ReportRow], top: int, is_chosen: Callable[[ReportRow], bool]) -> set[str]:
    """Return the first `top` of the chosen videos, which are sorted."""
    return {row["aweme_id"] for row in islice(filter(is_chosen, videos), top)}


def _is_in(row: ReportRow, ids: set[str]) -> bool:
    """Whether the video is confirmed; the track's own music id needs no audio match."""
    return row["link_type"] == "exact_music_id" or row["music_id"] in ids


def _holds(row: ReportRow, limits: evidence.MatchThresholds) -> bool:
    """Whether the stored measures confirm the pair; rejections by tones or tempo remain."""
    # Other limits decide again only on what the limits have decided.
    is_open = row["verdict"] == "confirmed" or row["reason"] in {
        "score_below_threshold",
        "distances_above_limits",
    }
    return is_open and evidence.is_confirmed_unshifted(_pair(row), limits)


def _is_near(row: ReportRow, limits: evidence.MatchThresholds) -> bool:
    """Whether the distances alone are within the limits: an upper bound for looser limits."""
    pair = _pair(row)
    if pair.chroma_distance is None or pair.mfcc_distance is None or pair.overlap_s is None:
        return False
    if pair.segment is None or (pair.speed, pair.semitones) != (1.0, 0.0):
        return False
    return evidence.meets_rule(
        pair.segment,
        chroma_distance=pair.chroma_distance,
        mfcc_distance=pair.mfcc_distance,
        overlap_s=pair.overlap_s,
        limits=limits,
    )


def _pair(row: ReportRow) -> evidence.PairEvidence:
    measures = ("segment", "chroma_distance", "mfcc_distance", "overlap_s", "score")
    names = ("verdict", "reason", *measures, "speed", "semitones")
    return evidence.PairEvidence(**{name: row[name] for name in names})
