"""Engagement over time out of observations: one work, one account, or the works of a track.

Pure: observations in, points out. A value that the source showed rounded is a range. Nothing is
filled in where nobody looked. Not here: reading observations.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

SeriesKind = Literal["video", "track", "account"]
COUNTS = ("digg_count", "comment_count", "collect_count", "share_count")
MEASURES: Mapping[SeriesKind, tuple[str, ...]] = {
    "video": COUNTS,
    "track": ("work_count", *COUNTS),
    "account": ("follower_count", "total_favorited", "aweme_count", "following_count"),
}
ROUNDED_FROM = 10_000
"""Smaller counts are shown in full."""
_DIGITS_SHOWN = 10  # "1.2w": at least two digits are shown, so the unit is at most a tenth

type Values = Mapping[str, int | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """What was known at one moment. `ranges` has low and high of what was shown rounded."""

    observed_at: datetime
    values: Values
    surface: str | None = None
    is_exact: bool = True
    ranges: Mapping[str, tuple[int, int]] = field(default_factory=dict)


def rounded_range(value: int) -> tuple[int, int] | None:
    """What a rounded count may have been, rounded either way; None where it was shown in full."""
    if value < ROUNDED_FROM:
        return None
    unit = 1
    while value % (unit * 10) == 0 and value // (unit * 10) >= _DIGITS_SHOWN:
        unit *= 10
    return (value - unit // 2, value + unit) if unit > 1 else None


def to_point(
    observed_at: datetime, values: Values, *, surface: str | None, is_exact: bool
) -> Point:
    """One observation as a point."""
    ranges = {
        name: found
        for name, value in values.items()
        if not is_exact and value is not None and (found := rounded_range(value)) is not None
    }
    return Point(
        observed_at=observed_at, values=values, surface=surface, is_exact=is_exact, ranges=ranges
    )


def total_over_time(
    observations: Iterable[tuple[datetime, str, Values]], *, names: tuple[str, ...] = COUNTS
) -> list[Point]:
    """The sum over all works seen so far, at each hour in which one of them was observed.

    Args:
        observations: When, of which work, its counts; in the order of time.
        names: Counts that are added up. A work whose count is unknown adds nothing.
    """
    newest: dict[str, Values] = {}
    points: dict[datetime, Point] = {}
    for observed_at, aweme_id, values in observations:
        newest[aweme_id] = values
        hour = observed_at.replace(minute=0, second=0, microsecond=0)
        points[hour] = Point(observed_at=observed_at, values=_sum(newest, names))
    return list(points.values())


def _sum(newest: Mapping[str, Values], names: tuple[str, ...]) -> dict[str, int | None]:
    known = {name: [v for one in newest.values() if (v := one[name]) is not None] for name in names}
    return {
        "work_count": len(newest),
        **{name: sum(found) if found else None for name, found in known.items()},
    }
