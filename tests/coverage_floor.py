"""What the tests reach of the product, as `make check` prints and judges it.

Branches are judged, not lines: a branch that no test takes is a rule that nobody holds. A module
under the floor of its own fails too, unless it is named here with the reason. Only the processes of
the tests themselves are watched (`tests.measured`), so each share is a lower bound.
"""

from collections.abc import Iterable, Mapping
from functools import reduce
from pathlib import Path
from typing import Any

import orjson
from slipcover import merge_coverage

from tests.measured import FOLDER, PRODUCT, ROOT, new_measure

TOTAL_FLOOR = 92.0
MODULE_FLOOR = 80.0
BELOW_THE_FLOOR: dict[str, str] = {}
"""Modules that may stay below the floor, each with its reason."""

type Measured = dict[str, Any]


def merged(reports: Iterable[Measured]) -> Measured:
    """Return what several processes took together, and every module of the product.

    Names of files are relative to the project; what lies elsewhere is left out.
    """
    everything = new_measure(PRODUCT).get_coverage()
    found: Measured = reduce(merge_coverage, reports, everything)
    files = {str(Path(name).absolute()): one for name, one in found["files"].items()}
    of_product = {
        name.removeprefix(f"{ROOT}/"): one
        for name, one in files.items()
        if name.startswith(tuple(f"{folder}/" for folder in PRODUCT))
    }
    return {**found, "files": of_product}


def branch_share(summary: Mapping[str, int]) -> float:
    """Share of branches taken, in percent; a module without branches counts its lines."""
    for what in ("branches", "lines"):
        taken, missing = summary[f"covered_{what}"], summary[f"missing_{what}"]
        if taken + missing:
            return 100.0 * taken / (taken + missing)
    return 100.0


def findings(report: Measured, reasons: dict[str, str]) -> list[str]:
    """Say what is too low, and which reason is no longer needed."""
    shares = {name: branch_share(one["summary"]) for name, one in report["files"].items()}
    low = {name for name, share in shares.items() if share < MODULE_FLOOR}
    total = branch_share(report["summary"])
    found = [f"{name}: {shares[name]:.1f} % of its branches" for name in sorted(low - set(reasons))]
    found += [f"{name}: needs no reason any more" for name in sorted(set(reasons) - low)]
    if total < TOTAL_FLOOR:
        found.append(f"all modules: {total:.1f} % of the branches, {TOTAL_FLOOR:.0f} are wanted")
    return found


def main() -> int:
    files = sorted(FOLDER.glob("*.json"))
    report = merged(orjson.loads(file.read_bytes()) for file in files)
    summary = report["summary"]
    branches = summary["covered_branches"] + summary["missing_branches"]
    print(
        f"branches taken by the tests in {len(files)} processes: {branch_share(summary):.1f} % "
        f"({summary['covered_branches']} of {branches})"
    )
    for name, reason in sorted(BELOW_THE_FLOOR.items()):
        print(f"below {MODULE_FLOOR:.0f} % for a reason: {name}: {reason}")
    wrong = findings(report, BELOW_THE_FLOOR)
    for line in wrong:
        print(f"too low: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
