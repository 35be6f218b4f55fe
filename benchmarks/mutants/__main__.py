"""`make mutants`: change the product in one place at a time; the tests must notice.

Each module of `modules.MODULES` must have 90 % of its mutants killed; of a sample, all of them
together. A mutant that survives is shown at once, with what it changed.
"""

import argparse
import os
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import islice

from rich.console import Console
from rich.table import Table

from benchmarks.mutants.modules import MODULES
from benchmarks.mutants.mutants import Mutant, equivalent_ones, mutants_of
from benchmarks.mutants.running import Ending, Runner

MUST_BE_KILLED = 0.9
STEP = 25  # mutants between lines of progress
console = Console(width=120, highlight=False)


@dataclass
class Tally:
    """What became of the mutants of one module."""

    outcomes: Counter[str] = field(default_factory=Counter)
    spent_s: float = 0.0

    @property
    def killed(self) -> int:
        """A mutant that never ends is noticed, too."""
        return self.outcomes["killed"] + self.outcomes["timeout"]

    @property
    def share(self) -> float:
        """Killed ones among all."""
        return self.killed / max(self.outcomes.total(), 1)


def main() -> int:
    options = _options()
    began = time.monotonic()
    chosen = _chosen(options)
    console.print(f"{sum(map(len, chosen.values()))} mutants in {len(chosen)} modules")
    runner = Runner(children=options.children)
    try:
        tallies = {path: _tried(runner, path, mutants) for path, mutants in chosen.items()}
    finally:
        runner.close()
    _summary(tallies, time.monotonic() - began)
    return 1 if _fails(tallies, is_sample=options.sample is not None) else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--module", action="append", help="part of a path; all that fit")
    parser.add_argument("--sample", type=int, help="so many mutants of all, drawn")
    parser.add_argument("--seed", type=int, default=1, help="draws the sample")
    parser.add_argument("--children", type=int, default=min(2, os.cpu_count() or 1))
    return parser.parse_args()


def _chosen(options: argparse.Namespace) -> dict[str, list[Mutant]]:
    wanted = options.module or [""]
    paths = [path for path in MODULES if any(part in path for part in wanted)]
    mutants = [mutant for path in paths for mutant in mutants_of(path)]
    equivalent = [entry for entry in equivalent_ones() if entry.path in paths]
    counting = (m for m in mutants if not any(entry.is_of(m) for entry in equivalent))
    if options.sample is not None:
        random.Random(options.seed).shuffle(mutants)
    kept = list(islice(counting, options.sample))
    if options.sample is None and len(mutants) - len(kept) < len(equivalent):
        unfit = [e for e in equivalent if not any(e.is_of(mutant) for mutant in mutants)]
        sys.exit("\n".join(f"equivalent.toml: fits no mutant: {e.path}: {e.after}" for e in unfit))
    return {path: ours for path in paths if (ours := [m for m in kept if m.path == path])}


def _tried(runner: Runner, path: str, mutants: list[Mutant]) -> Tally:
    original = runner.original(path)
    if original.outcome != "survived":
        console.print(original.said)
        sys.exit(f"{path}: its tests fail without any mutant")
    tally = Tally()
    console.print(f"{path}: {len(mutants)} mutants; its tests take {original.spent_s:.1f} s")
    for done, ending in enumerate(runner.endings(mutants, cpu_s=10 + 5 * original.spent_s), 1):
        _count(tally, ending)
        if done % STEP == 0 or done == len(mutants):
            console.print(f"  {done:>4} tried, {tally.killed:>4} killed ({tally.share:.0%})")
    return tally


def _count(tally: Tally, ending: Ending) -> None:
    assert ending.mutant is not None
    tally.outcomes[ending.outcome] += 1
    tally.spent_s += ending.spent_s
    if ending.outcome == "survived":
        console.print(f"  survived {ending.mutant}", markup=False, soft_wrap=True)
    if ending.outcome == "broken":
        console.print(f"  broken {ending.mutant}\n{ending.said}", markup=False, soft_wrap=True)


def _summary(tallies: dict[str, Tally], took_s: float) -> None:
    table = Table("module", "mutants", "killed", "timeout", "survived", "broken", "share", "CPU s")
    for path, tally in tallies.items():
        table.add_row(path, *_row(tally))
    together = _together(tallies)
    table.add_row("together", *_row(together), style="bold")
    console.print(table)
    console.print(f"{took_s:.0f} s, of a processor {together.spent_s:.0f} s")


def _row(tally: Tally) -> list[str]:
    counts = [tally.outcomes[name] for name in ("killed", "timeout", "survived", "broken")]
    return [
        *map(str, [tally.outcomes.total(), *counts]),
        f"{tally.share:.0%}",
        f"{tally.spent_s:.0f}",
    ]


def _together(tallies: dict[str, Tally]) -> Tally:
    together = Tally()
    for tally in tallies.values():
        together.outcomes += tally.outcomes
        together.spent_s += tally.spent_s
    return together


def _fails(tallies: dict[str, Tally], *, is_sample: bool) -> bool:
    """A sample has too few mutants of one module to judge it alone."""
    judged = [_together(tallies)] if is_sample else list(tallies.values())
    return any(tally.share < MUST_BE_KILLED or tally.outcomes["broken"] for tally in judged)


if __name__ == "__main__":
    sys.exit(main())
