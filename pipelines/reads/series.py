"""Engagement over time from observations: one video, one account, or the videos of a track.

Observations in, points out. A rounded value has a range. Nothing is interpolated. Not here:
reading observations.
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
"""Smaller counts are never rounded."""
_DIGITS_SHOWN = 10  # "1.2w": at least two digits are shown, so the unit is at most a tenth

type Values = Mapping[str, int | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """The values known at one time; `ranges` has the bounds of rounded values."""

    observed_at: datetime
    values: Values
    surface: str | None = None
    is_exact: bool = True
    ranges: Mapping[str, tuple[int, int]] = field(default_factory=dict)


def rounded_range(value: int) -> tuple[int, int] | None:
    """Return the bounds of a rounded count, whatever the rounding; None if it is exact."""
    if value < ROUNDED_FROM:
        return None
    unit = 1
    while value % (unit * 10) == 0 and value // (unit * 10) >= _DIGITS_SHOWN:
        unit *= 10
    return (value - unit // 2, value + unit) if unit > 1 else None


def to_point(
    observed_at: datetime, values: Values, *, surface: str | None, is_exact: bool
) -> Point:
    """Convert one observation to a point."""
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
    """Sum the counts over all videos observed so far, for each hour with an observation.

    Args:
        observations: Observation time, video id and counts, in time order.
        names: The counts to add up; unknown counts add nothing.
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
