"""What the tests reach of the product, as `make coverage` prints and judges it.

Branches are judged, not lines: a branch that no test takes is a rule that nobody holds. A module
under the floor of its own fails too, unless it is named here with the reason.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

TOTAL_FLOOR = 92.0
MODULE_FLOOR = 80.0
BELOW_THE_FLOOR: dict[str, str] = {}
"""Modules that may stay below the floor, each with its reason."""

type Summary = dict[str, Any]


def branch_share(summary: Summary) -> float:
    """Share of branches taken, in percent; a module without branches counts its statements."""
    if summary["num_branches"]:
        return 100.0 * float(summary["covered_branches"]) / float(summary["num_branches"])
    statements = summary["num_statements"]
    return 100.0 * float(summary["covered_lines"]) / float(statements) if statements else 100.0


def findings(report: dict[str, Any], reasons: dict[str, str]) -> list[str]:
    """Say what is too low, and which reason is no longer needed."""
    shares = {name: branch_share(one["summary"]) for name, one in report["files"].items()}
    low = {name for name, share in shares.items() if share < MODULE_FLOOR}
    total = branch_share(report["totals"])
    found = [f"{name}: {shares[name]:.1f} % of its branches" for name in sorted(low - set(reasons))]
    found += [f"{name}: needs no reason any more" for name in sorted(set(reasons) - low)]
    if total < TOTAL_FLOOR:
        found.append(f"all modules: {total:.1f} % of the branches, {TOTAL_FLOOR:.0f} are wanted")
    return found


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "coverage.json"
        command = [sys.executable, "-m", "coverage", "json", "--quiet", "-o", str(target)]
        subprocess.run(command, check=True)
        report = json.loads(target.read_bytes())
    totals = report["totals"]
    print(
        f"branches taken by the tests: {branch_share(totals):.1f} % "
        f"({totals['covered_branches']} of {totals['num_branches']}), "
        f"statements: {totals['percent_statements_covered']:.1f} %"
    )
    for name, reason in sorted(BELOW_THE_FLOOR.items()):
        print(f"below {MODULE_FLOOR:.0f} % for a reason: {name}: {reason}")
    wrong = findings(report, BELOW_THE_FLOOR)
    for line in wrong:
        print(f"too low: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
