"""`python -m benchmarks.simulation [--days 10] [--seeds 10] [--first 1] [--once] [--bugs]`.

Lives each seed twice and compares the hashes of the traces, or `--once`. With `--bugs` it plants
each bug and says which seed finds it. `--processes` divides the seeds among processes.
"""

import argparse
import logging
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from benchmarks.simulation.bugs import BUGS
from benchmarks.simulation.lives import find_bug, live

MOST_BROKEN = 10
"""After so many seeds that break a promise no more are lived."""


def report_bug(name: str, *, seeds: range, days: float) -> bool:
    seed = find_bug(name, seeds=seeds, days=days)
    print(f"{'not found' if seed is None else f'by seed {seed}':>12}  {name}", flush=True)
    return seed is not None


def report_seeds(seeds: range, options: argparse.Namespace) -> bool:
    """Live every seed, and print what was seen as it is seen."""
    began, cpu_s, events, done, broken = time.perf_counter(), 0.0, 0, 0, 0
    spawn = get_context("spawn")
    with ProcessPoolExecutor(options.processes, mp_context=spawn) as pool:
        waiting = [pool.submit(live, seed, options.days, is_once=options.once) for seed in seeds]
        for one in waiting:
            _, found, why, took_s = one.result()
            if why:
                print(why, flush=True)
                broken += 1
                if broken == MOST_BROKEN:
                    pool.shutdown(cancel_futures=True)
                    return False
            done, cpu_s, events = done + 1, cpu_s + took_s, events + found
            if done % 10 == 0 or done == len(seeds):
                wall_s = time.perf_counter() - began
                print(_line(done, options, events, cpu_s, wall_s), flush=True)
    return not broken


def _line(done: int, options: argparse.Namespace, events: int, cpu_s: float, wall_s: float) -> str:
    lived = done * options.days * (1 if options.once else 2)
    lives = "each lived once" if options.once else "each lived twice, with the same trace"
    return (
        f"{done} seeds of {options.days:g} days, {lives}: {lived:g} days, {events} events a life; "
        f"{cpu_s:.0f} CPU s ({cpu_s / lived:.3f} a day), {wall_s:.0f} s"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=float, default=10, help="simulated days of a seed")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--once", action="store_true", help="live each seed once")
    parser.add_argument("--bugs", action="store_true", help="plant bugs instead")
    parser.add_argument("--processes", type=int, default=min(2, os.cpu_count() or 1))
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.seeds)
    if options.bugs:
        logging.getLogger("asyncio").disabled = True  # a broken promise leaves questions unanswered
        found = [report_bug(name, seeds=seeds, days=options.days) for name in BUGS]
        print(f"{sum(found)} of {len(found)} found")
        return int(not all(found))
    return int(not report_seeds(seeds, options))


if __name__ == "__main__":
    sys.exit(main())
