"""The messages of charts, computed from their rows.

Each function returns what a chart says, or None if its rows are too few to say anything: then the
chart has its neutral title. `form` chooses the sentence in the file of texts, `values` fill it in.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import pyarrow as pa

from pipelines.reports.texts import Share
from warehouse.records.values import ReadOnlyRow, Row

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
