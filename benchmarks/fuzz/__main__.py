"""`make fuzz`: 100,000 mutated answers through every parser; records or a named error, no more.

The same seed gives the same cases: `--case` shows one of them again.
"""

import argparse
import sys
import time
import traceback
from collections import Counter

from rich.console import Console
from rich.table import Table

from benchmarks.fuzz.holding import outcome
from benchmarks.fuzz.mutating import Case, sources, to_case

SHOWN = 20
console = Console(width=120)


def main() -> int:
    options = _options()
    if options.case is not None:
        return _again(to_case(options.seed, options.case))
    began = time.monotonic()
    found: Counter[tuple[str, str]] = Counter()
    broken: list[Case] = []
    for number in range(options.cases):
        case = to_case(options.seed, number)
        kind = _outcome(case)
        found[case.shape.parser, kind] += 1
        if kind == "BROKEN":
            broken.append(case)
        if (number + 1) % options.every == 0:
            spent = time.monotonic() - began
            console.print(f"{number + 1:>9,} cases   {len(broken)} broken   {spent:.0f} s")
    _summary(found, options.cases, time.monotonic() - began)
    for case in broken[:SHOWN]:
        console.print(f"case {case.number}: {case.shape.file}: {'; '.join(case.changes)}")
    return 1 if broken else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=int, default=10_000, help="cases between lines of progress")
    parser.add_argument("--case", type=int, help="run this case alone and show what broke")
    return parser.parse_args()


def _outcome(case: Case) -> str:
    try:
        return outcome(case)
    except Exception:  # noqa: BLE001  # whatever a parser lets through is what is looked for
        return "BROKEN"


def _again(case: Case) -> int:
    console.print(case.shape.file, case.changes, case.body[:2000], sep="\n", markup=False)
    try:
        console.print(outcome(case))
    except Exception:  # noqa: BLE001  # shown in full below
        traceback.print_exc()
        return 1
    return 0


def _summary(found: Counter[tuple[str, str]], cases: int, spent_s: float) -> None:
    table = Table(title=f"{cases:,} cases over {len(sources())} shapes in {spent_s:.0f} s")
    table.add_column("parser")
    table.add_column("cases", justify="right")
    table.add_column("what came of them")
    for parser in sorted({parser for parser, _ in found}):
        kinds = Counter({kind: count for (name, kind), count in found.items() if name == parser})
        table.add_row(parser, f"{kinds.total():,}", _counts(kinds))
    whole: Counter[str] = Counter()
    for (_, kind), count in found.items():
        whole[kind] += count
    table.add_row("all", f"{cases:,}", _counts(whole))
    console.print(table)


def _counts(kinds: Counter[str]) -> str:
    shown = ((kind.removeprefix("upstream_"), count) for kind, count in kinds.most_common())
    return ", ".join(f"{kind} {count:,}" for kind, count in shown)


if __name__ == "__main__":
    sys.exit(main())
