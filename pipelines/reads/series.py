"""Engagement over time from observations: one video, one account, or the videos of a track.

Observations in, points out. A rounded value has a range. Nothing is interpolated. Not here:
reading observations.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby
from typing import Literal

from warehouse.records.videos import COUNTS

SeriesKind = Literal["video", "track", "account"]
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
class FollowedGrowth:
    """What the videos of a track gained since they were first observed, up to one time.

    `values` is None per count until a video was observed twice with it. `followed_count` is the
    number of videos observed at least twice by then, `new_count` that of videos first observed
    since the point before: they add nothing to the growth, whatever counts they bring.
    """

    values: Mapping[str, int | None]
    followed_count: int
    new_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """The values known at one time; `ranges` has the bounds of rounded values.

    `job_ids` are the jobs whose reads it is made of, empty for reads outside of jobs.
    """

    observed_at: datetime
    values: Values
    surface: str | None = None
    is_exact: bool = True
    ranges: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    job_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackPoint(Point):
    """The sums over the videos of a track at one time, and what the same videos gained."""

    growth: FollowedGrowth


def rounded_range(value: int) -> tuple[int, int] | None:
    """Return the bounds of a rounded count, whatever the rounding; None if it is exact."""
    if value < ROUNDED_FROM:
        return None
    unit = 1
    while value % (unit * 10) == 0 and value // (unit * 10) >= _DIGITS_SHOWN:
        unit *= 10
    return (value - unit // 2, value + unit) if unit > 1 else None


def to_point(
    observed_at: datetime,
    values: Values,
    *,
    surface: str | None,
    is_exact: bool,
    job_id: str | None = None,
) -> Point:
    """Convert one observation to a point."""
    ranges = {
        name: limits
        for name, value in values.items()
        if not is_exact and value is not None and (limits := rounded_range(value)) is not None
    }
    return Point(
        observed_at=observed_at,
        values=values,
        surface=surface,
        is_exact=is_exact,
        ranges=ranges,
        job_ids=() if job_id is None else (job_id,),
    )


def total_over_time(observations: Iterable[tuple[datetime, str, Values]]) -> list[TrackPoint]:
    """Sum the counts over all videos observed so far, for each hour with an observation.

    The sums also rise when a further video is found; `growth` does not. An unknown count leaves
    the last known one; a video without any adds nothing.

    Args:
        observations: Observation time, video id and counts, in time order.
    """
    newest: dict[str, Values] = {}
    followed: set[str] = set()
    gained: dict[str, int | None] = dict.fromkeys(COUNTS)
    points = []
    for _, in_hour in groupby(observations, key=lambda observation: _hour(observation[0])):
        rows = list(in_hour)
        observed = {aweme_id: values for _, aweme_id, values in rows}
        again = observed.keys() & newest.keys()
        followed |= again
        for name in COUNTS:
            # What each video gained between two observations, if both counts are known.
            pairs = [(newest[aweme_id][name], observed[aweme_id][name]) for aweme_id in again]
            steps = [new - old for old, new in pairs if old is not None and new is not None]
            if steps:
                gained[name] = (gained[name] or 0) + sum(steps)
        for aweme_id, values in observed.items():
            before = newest.get(aweme_id, values)
            newest[aweme_id] = {
                name: before[name] if values[name] is None else values[name] for name in COUNTS
            }
        growth = FollowedGrowth(
            values=dict(gained),
            followed_count=len(followed),
            new_count=len(observed) - len(again),
        )
        points.append(TrackPoint(observed_at=rows[-1][0], values=_sum(newest), growth=growth))
    return [_from_zero(point, gained) for point in points]


def with_jobs(
    points: Iterable[TrackPoint], reads: Iterable[tuple[datetime, str | None]]
) -> list[TrackPoint]:
    """Return the points with the jobs whose reads fell into the hour of each.

    Args:
        points: Points of `total_over_time`.
        reads: Time and job of each observation, in time order; None: outside of a job.
    """
    jobs: dict[datetime, dict[str, None]] = {}
    for observed_at, job_id in reads:
        if job_id is not None:
            jobs.setdefault(_hour(observed_at), {})[job_id] = None
    return [
        replace(point, job_ids=tuple(jobs.get(_hour(point.observed_at), ()))) for point in points
    ]


def _hour(observed_at: datetime) -> datetime:
    return observed_at.replace(minute=0, second=0, microsecond=0)


def _from_zero(point: TrackPoint, gained: Values) -> TrackPoint:
    """Let growth that is known at last begin with 0: nothing was gained before the first pair."""
    values = {
        name: 0 if value is None and gained[name] is not None else value
        for name, value in point.growth.values.items()
    }
    return replace(point, growth=replace(point.growth, values=values))


def _sum(newest: Mapping[str, Values]) -> dict[str, int | None]:
    totals: dict[str, int | None] = {"work_count": len(newest)}
    for name in COUNTS:
        counts = [count for values in newest.values() if (count := values[name]) is not None]
        totals[name] = sum(counts) if counts else None
    return totals
