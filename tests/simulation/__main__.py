"""`python -m tests.simulation [--days 100] [--seeds 10] [--first 1] [--bugs]`.

Lives each seed twice and compares the hashes of the traces; with `--bugs` it plants each bug and
says which seed finds it.
"""

import argparse
import sys
import time

from tests.simulation.bugs import BUGS
from tests.simulation.days import simulate


def find_bug(name: str, *, seeds: range, days: float) -> int | None:
    """Return the first seed that breaks a promise with this bug planted, or None."""
    with BUGS[name]():
        for seed in seeds:
            try:
                simulate(seed, days=days)
            except AssertionError:
                return seed
    return None


def report_bug(name: str, *, seeds: range, days: float) -> bool:
    seed = find_bug(name, seeds=seeds, days=days)
    print(f"{'not found' if seed is None else f'by seed {seed}':>12}  {name}", flush=True)
    return seed is not None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=float, default=10, help="simulated days of a seed")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--bugs", action="store_true", help="plant bugs instead")
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.seeds)
    if options.bugs:
        found = [report_bug(name, seeds=seeds, days=options.days) for name in BUGS]
        return int(not all(found))
    began = time.perf_counter()
    for seed in seeds:
        print(f"seed {seed}", flush=True)
        if simulate(seed, days=options.days) != simulate(seed, days=options.days):
            print("the same seed led to another trace")
            return 1
    took_s = time.perf_counter() - began
    print(f"{2 * len(seeds) * options.days:g} days in {took_s:.1f} s, every trace came twice")
    return 0


if __name__ == "__main__":
    sys.exit(main())
