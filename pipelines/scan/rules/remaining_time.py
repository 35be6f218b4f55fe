"""How long a scan will still take, from the pace of the items done so far. Pure."""

from dataclasses import dataclass

SOUNDS_PER_VIDEO = 1.0  # at most two per music id, and most music ids have several videos
# Items differ: a stored detail takes no time, a source that asks for a pause takes much.
FASTER, SLOWER = 0.7, 1.5


@dataclass(frozen=True, slots=True)
class RemainingTime:
    """An estimate in seconds with its bounds: `low_s` <= `likely_s` <= `high_s`."""

    low_s: float
    likely_s: float
    high_s: float


def remaining_time(
    *,
    spent_s: float,
    details_done: int,
    sounds_done: int,
    pooled: int,
    limit: int,
    sounds_total: int,
) -> RemainingTime | None:
    """Estimate the remaining time; None before the first item is done.

    The lower bound is what remains of the present pool, at a faster pace. The upper bound is a pool
    filled to its limit, with a sound for each video, at a slower pace.

    Args:
        spent_s: Seconds so far.
        details_done: Detail pages that were read.
        sounds_done: Sounds that were compared.
        pooled: Candidates in the pool.
        limit: The most candidates there can be.
        sounds_total: Sounds that are to be compared so far, the compared ones included.
    """
    done = details_done + sounds_done
    if done == 0:
        return None
    each_s = spent_s / done
    sounds = max(0, sounds_total - sounds_done)
    least = max(0, pooled - details_done) + sounds
    details = max(0, limit - details_done)
    likely = details + sounds
    most_sounds = max(sounds_total, round(limit * SOUNDS_PER_VIDEO)) - sounds_done
    most = details + max(0, most_sounds)
    return RemainingTime(
        round(min(least, likely) * each_s * FASTER, 1),
        round(likely * each_s, 1),
        round(max(likely, most) * each_s * SLOWER, 1),
    )
