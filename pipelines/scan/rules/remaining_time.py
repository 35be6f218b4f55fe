"""How long a scan will still take, from the pace of the items done so far. Pure."""

from dataclasses import dataclass

SOUNDS_PER_VIDEO = 1.0  # at most two per music id, and most music ids have several videos
FASTER, SLOWER = 0.7, 1.5
"""Items differ: a stored detail takes no time, a source that asks for a pause takes much."""


@dataclass(frozen=True, slots=True)
class RemainingTime:
    """An estimate in seconds with its bounds: `low_s` <= `likely_s` <= `high_s`."""

    low_s: float
    likely_s: float
    high_s: float


def remaining_time(
    *, spent_s: float, details_done: int, sounds_done: int, pooled: int, limit: int, wanted: int
) -> RemainingTime | None:
    """Estimate the remaining time; None before the first item is done.

    The lower bound is what is known to be left, at a faster pace; the upper bound is a pool filled
    to its limit, with a sound for each video, at a slower one.

    Args:
        spent_s: Seconds so far.
        details_done: Detail pages that were read.
        sounds_done: Sounds that were compared.
        pooled: Candidates in the pool.
        limit: The most candidates there can be.
        wanted: Sounds that were asked for, in total.
    """
    done = details_done + sounds_done
    if done == 0:
        return None
    each_s = spent_s / done
    known = max(0, pooled - details_done) + max(0, wanted - sounds_done)
    details = max(0, limit - details_done)
    likely = details + max(0, wanted - sounds_done)
    sounds = max(wanted, round(limit * SOUNDS_PER_VIDEO)) - sounds_done
    most = details + max(0, sounds)
    low = min(known, likely)
    return RemainingTime(
        round(low * each_s * FASTER, 1),
        round(likely * each_s, 1),
        round(max(likely, most) * each_s * SLOWER, 1),
    )
