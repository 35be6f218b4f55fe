"""Whether a goal is reached: no "yes" that the number of pairs cannot bear."""

from typing import Literal

from benchmarks.accuracy.figures import Share

type Reached = Literal["yes", "n too small", "no", "not measured"]


def at_least(share: Share, goal: float) -> Reached:
    """Whether a share reaches a goal below 1.

    "yes" if the lower end of Wilson's interval does, "n too small" if only the share does.
    """
    if not share.total:
        return "not measured"
    if share.interval[0] >= goal:
        return "yes"
    return "n too small" if share.value >= goal else "no"


def at_most(share: Share, most: int, tried: int) -> Reached:
    """Whether at most `most` of `tried` happened, in proportion; fewer trials prove nothing."""
    if not share.total:
        return "not measured"
    if share.hits * tried > most * share.total:
        return "no"
    return "yes" if share.total >= tried else "n too small"


def never(hits: int, total: int) -> Reached:
    """Whether what must never happen did not, in as many trials as the figure states."""
    if not total:
        return "not measured"
    return "no" if hits else "yes"
