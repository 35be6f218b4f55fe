"""Live a seed, with or without a planted bug.

In a module of its own: a process that is started afresh does not import `__main__`.
"""

import time

from benchmarks.simulation.bugs import BUGS
from benchmarks.simulation.days import BrokenPromiseError, run_seed, simulate

type Lived = tuple[int, int, str, float]
"""Seed, events, what was found to be wrong (or nothing), CPU seconds."""


def find_bug(name: str, *, seeds: range, days: float) -> int | None:
    """Return the first seed that breaks a promise with this bug planted, or None."""
    with BUGS[name]():
        for seed in seeds:
            try:
                simulate(seed, days=days)
            except BrokenPromiseError:
                return seed
    return None


def live(seed: int, days: float, *, is_once: bool) -> Lived:
    """Live one seed; twice, to compare the traces, unless `is_once`."""
    began = time.process_time()
    try:
        found = run_seed(seed, days=days)
        is_same = is_once or simulate(seed, days=days) == found.trace()
    except BrokenPromiseError as error:
        return seed, 0, str(error), time.process_time() - began
    why = "" if is_same else f"seed {seed}: the same seed led to another trace"
    return seed, found.events, why, time.process_time() - began
