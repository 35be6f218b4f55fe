"""The messages of charts, computed from their rows.

Each function returns what a chart says, or None if its rows are too few to say anything: then the
chart has its neutral title. `form` chooses the sentence in the file of texts, `values` fill it in.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate, islice
from typing import Any

import pyarrow as pa

from pipelines.reports.texts import Share
from warehouse.records import evidence
from warehouse.records.values import ReadOnlyRow, Row

# How a Top N changes with other limits: stored evidence judged again, including rejected pairs.
#
# Only the literal rules of the specification are applied again to stored measures. For a looser
# limit the full score of a rejected pair is unknown, so the count of pairs within the distances is
# an upper bound. Videos of music ids that no scan read cannot be ranked.

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


LEAST_PARTS = 3
"""Of fewer rows nothing can be said about how something is spread over them."""
_PAIR = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """One message: the form of its sentence and the numbers in it."""

    form: str
    values: ReadOnlyRow = field(default_factory=dict)


def concentration(table: pa.Table, value: str) -> Headline | None:
    """Say how few of the rows hold at least half of the total; unknown values are left out."""
    numbers = sorted(
        (number for number in table.column(value).to_pylist() if number is not None), reverse=True
    )
    sums = list(accumulate(numbers))
    if len(numbers) < LEAST_PARTS or sums[-1] <= 0 or numbers[-1] < 0:
        return None
    # The fewest of the largest rows that hold half of the total.
    count = next(place for place, part in enumerate(sums, start=1) if 2 * part >= sums[-1])
    values = {"count": count, "total": len(numbers), "share": Share(sums[count - 1], sums[-1])}
    return Headline(form="one" if count == 1 else "many", values=values)


def peak(table: pa.Table, at: str, value: str) -> Headline | None:
    """Name the row with the largest value; None if there are several, or only one row."""
    rows = [row for row in table.to_pylist() if row[value]]
    if len(rows) < _PAIR:
        return None
    first, second = sorted(rows, key=lambda row: -row[value])[:_PAIR]
    if first[value] == second[value]:
        return None
    total = sum(row[value] for row in rows)
    values = {
        "at": f"{first[at]:%Y-%m}" if at == "month" else first[at],
        "value": first[value],
        "total": total,
        "share": Share(first[value], total),
    }
    return Headline(form="one", values=values)


def change(table: pa.Table, at: str, value: str, **more: object) -> Headline | None:
    """Compare the first and the last known value over time."""
    rows = [row for row in table.to_pylist() if row[value] is not None and row[at] is not None]
    rows.sort(key=lambda row: row[at])
    if len(rows) < _PAIR or rows[0][at] == rows[-1][at]:
        return None
    first, last = rows[0], rows[-1]
    values = {
        "first": first[value],
        "last": last[value],
        "since": first[at],
        "until": last[at],
        **more,
    }
    form = "rise" if last[value] > first[value] else "fall"
    return Headline(form="same" if first[value] == last[value] else form, values=values)


def share_of(part: int, whole: int, **more: object) -> Headline | None:
    """Say how much of a whole a part is; None without a whole."""
    if whole <= 0:
        return None
    form = "none" if part == 0 else "all" if part == whole else "some"
    return Headline(
        form=form, values={"part": part, "whole": whole, "share": Share(part, whole), **more}
    )


def leader(rows: Sequence[ReadOnlyRow], label: str, value: str) -> Headline | None:
    """Name the first and the second by value, or all that are second.

    None on a tie for the first, or without a second.
    """
    ranked = sorted((row for row in rows if row[value] is not None), key=lambda row: -row[value])
    if len(ranked) < _PAIR or ranked[0][value] == ranked[1][value]:
        return None
    first, second = ranked[:_PAIR]
    names = [str(row[label]) for row in ranked if row[value] == second[value]]
    values = {
        "name": first[label],
        "value": first[value],
        "second": ", ".join(names),
        "second_value": second[value],
    }
    return Headline(form="one", values=values)


def latest(table: pa.Table, by: str, at: str, value: str) -> list[Row]:
    """Return the row with the last known value of each name."""
    newest: dict[object, Row] = {}
    for row in sorted(table.to_pylist(), key=lambda row: row[at]):
        if row[value] is not None:
            newest[row[by]] = row
    return list(newest.values())


def medians(table: pa.Table, by: str, value: str) -> list[Row]:
    """Return the median of each name: the lower middle of its known values."""
    values: dict[Any, list[Any]] = {}
    for row in table.to_pylist():
        if row[value] is not None:
            values.setdefault(row[by], []).append(row[value])
    return [
        {by: name, value: sorted(numbers)[(len(numbers) - 1) // 2]}
        for name, numbers in values.items()
    ]


def stable_range(table: pa.Table, at: str) -> Headline | None:
    """Return the tested limits around the one in use that leave the Top N as it is."""
    rows = sorted(table.to_pylist(), key=lambda row: row[at])
    used = next((place for place, row in enumerate(rows) if row["is_usual"]), None)
    if used is None or len(rows) < LEAST_PARTS or not rows[used]["top_count"]:
        return None
    # Widen the range in both directions for as long as no video enters or leaves the Top N.
    low = high = used
    while low > 0 and _is_unchanged(rows[low - 1]):
        low -= 1
    while high < len(rows) - 1 and _is_unchanged(rows[high + 1]):
        high += 1
    values = {"low": rows[low][at], "high": rows[high][at], "used": rows[used][at]}
    return Headline(form="point" if low == high else "range", values=values)


def most_often_first(ranks: pa.Table, drawn: Collection[str]) -> Headline | None:
    """Name the song that is most often at rank 1, of all songs.

    None on a tie, of a single issue, or if the song is not drawn.
    """
    rows = ranks.to_pylist()
    issues = len({row["chart_date"] for row in rows})
    counts: dict[str, int] = {}
    for row in rows:
        if row["rank"] == 1:
            counts[row["song"]] = counts.get(row["song"], 0) + 1
    songs = sorted(counts, key=lambda song: -counts[song])
    is_tie = len(songs) >= _PAIR and counts[songs[0]] == counts[songs[1]]
    if issues < _PAIR or not songs or is_tie or songs[0] not in drawn:
        return None
    values = {"name": songs[0], "count": counts[songs[0]], "total": issues}
    return Headline(form="one", values=values)


def _is_unchanged(row: ReadOnlyRow) -> bool:
    return (row["came"], row["went"]) == (0, 0)
