"""Lead or lag: days from the rise of a song on the platform to its entry on the chart. An estimate.

Pure. Both moments are known as intervals only: an issue is a day, likes are seen when somebody
looks. The bounds hold for what was observed; the estimate is their middle, and is left out where
that would say too little. Not here: reading observations, linking songs (`chart_links`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal

LEAD_METHOD = "half-of-likes-1"
"""Raised with every change of the formula."""

SHARE = 0.5
"""The rise is the moment at which this share of the likes last seen was there."""
LEAST_DAYS = 3
"""Days with an observation below which two moments cannot be told from chance."""
WIDEST_DAYS = 30.0
"""Bounds further apart than this say too little for a middle to mean anything."""

Direction = Literal["platform_first", "chart_first", "undecided"]
LeadReason = Literal[
    "no_observations", "no_likes", "too_few_observations", "entry_not_seen",
    "publication_unknown", "bounds_too_wide",
]  # fmt: skip
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """The first kept issue with a song, and the kept issue before it, which has it not.

    `after` None: there is none, so the song may have been on the chart for long.
    """

    day: date
    after: date | None

    @property
    def bounds(self) -> tuple[datetime | None, datetime]:
        """The entry lies between: whole days, since an issue tells no hour (UTC)."""
        low = None if self.after is None else datetime.combine(self.after, time(), UTC)
        return low, datetime.combine(self.day, time(), UTC) + _DAY


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkLikes:
    """The likes of one work: when it was published, and what was seen of it, oldest first."""

    published_at: datetime | None
    seen: tuple[tuple[datetime, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rise:
    """When half of the likes was reached: no earlier than `after`, no later than `before`.

    `after` None: works without a known date of publication hold too much of it.
    """

    digg_count: int
    after: datetime | None = None
    before: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lead:
    """Days from rise to entry: positive, the platform came first. `reason`: why `days` is null."""

    days: float | None = None
    low_days: float | None = None
    high_days: float | None = None
    direction: Direction | None = None
    reason: LeadReason | None = None
    work_count: int = 0
    observation_count: int = 0
    observed_day_count: int = 0


def find_entry(song_days: Iterable[date], issue_days: Sequence[date]) -> Entry:
    """The entry of a song. `issue_days`: all issues kept, in whatever order.

    An entry is that into the part of the chart that is kept (its first twenty), and as exact as
    the issues kept are close: what lies in a gap between two of them was not seen.
    """
    first = min(song_days)
    return Entry(day=first, after=max((day for day in issue_days if day < first), default=None))


def find_rise(works: Iterable[WorkLikes], *, share: float = SHARE) -> Rise:
    """Bounds of the moment at which the works had `share` of the likes last seen of them.

    Each growth of a work between two looks happened somewhere between them, the first one between
    publication and the first look. With all growth as early as it can have been, the share is
    reached at `after`; with all as late, at `before`:

        after  = min { t : sum of growth that began by t >= share * total }
        before = min { t : sum of growth that was seen by t >= share * total }

    A count that went down again is held at its highest. Works that nobody found are not in it, and
    the total is that of today: while a song still grows, its rise moves on with it.
    """
    pieces = [piece for work in works for piece in _growth(work)]
    total = sum(amount for _, _, amount in pieces)
    if total == 0:
        return Rise(digg_count=0)
    dated = [(begun, amount) for begun, _, amount in pieces if begun is not None]
    undated = sum(amount for begun, _, amount in pieces if begun is None)
    wanted = share * total
    return Rise(
        digg_count=total,
        after=None if undated >= wanted else _reached(dated, wanted - undated),
        before=_reached([(seen, amount) for _, seen, amount in pieces], wanted),
    )


def estimate_lead(entry: Entry, works: Sequence[WorkLikes]) -> tuple[Lead, Rise]:
    """The lead of the platform over the chart, with what stands behind it.

        low  = earliest entry - latest rise
        high = latest entry - earliest rise
        days = (low + high) / 2, where both are known, at most `WIDEST_DAYS` apart, and the works
               were observed on `LEAST_DAYS` days or more

    It says which came first, never that one caused the other.
    """
    moments = [moment for work in works for moment, _ in work.seen]
    rise = find_rise(works)
    counted = Lead(
        work_count=sum(bool(work.seen) for work in works),
        observation_count=len(moments),
        observed_day_count=len({moment.astimezone(UTC).date() for moment in moments}),
    )
    if rise.before is None:
        return replace(counted, reason="no_likes" if moments else "no_observations"), rise
    earliest, latest = entry.bounds
    low = None if earliest is None else _days(earliest - rise.before)
    high = None if rise.after is None else _days(latest - rise.after)
    reason = _why_not(low, high, counted.observed_day_count)
    middle = (low + high) / 2 if low is not None and high is not None else None
    return (
        replace(
            counted,
            days=middle if reason is None else None,
            low_days=low,
            high_days=high,
            direction=_direction(low, high),
            reason=reason,
        ),
        rise,
    )


def _growth(work: WorkLikes) -> list[tuple[datetime | None, datetime, int]]:
    """Growth of a work: begun after, seen at, how much."""
    pieces: list[tuple[datetime | None, datetime, int]] = []
    begun, highest = work.published_at, 0
    for seen_at, likes in work.seen:
        if likes > highest:
            pieces.append(
                (None if begun is None else min(begun, seen_at), seen_at, likes - highest)
            )
        begun, highest = seen_at, max(highest, likes)
    return pieces


def _reached(growth: Iterable[tuple[datetime, int]], wanted: float) -> datetime:
    """When the growth, piece by piece, comes to what is wanted."""
    total = 0
    for moment, amount in sorted(growth):
        total += amount
        if total >= wanted:
            return moment
    raise ValueError("the growth never comes to so much")


def _why_not(low: float | None, high: float | None, days: int) -> LeadReason | None:
    if days < LEAST_DAYS:
        return "too_few_observations"
    if low is None:
        return "entry_not_seen"
    if high is None:
        return "publication_unknown"
    return "bounds_too_wide" if high - low > WIDEST_DAYS else None


def _direction(low: float | None, high: float | None) -> Direction | None:
    if low is not None and low > 0:
        return "platform_first"
    if high is not None and high < 0:
        return "chart_first"
    return None if low is None or high is None else "undecided"


def _days(span: timedelta) -> float:
    return span / _DAY
