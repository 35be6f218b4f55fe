"""`make bench-switches [SWITCH=name]`: a whole scan with each switch of the sandbox on.

Every row is a real scan (worker, sandbox, HTTP) in a new home, and is printed when it is measured:
the job's status, the stop reasons that are not harmless, gaps, requests per surface, those that the
plan forbids after a challenge, and how it differs from `tests/switch_outcomes.py`. The first row
has no switch; the others are compared with what it confirmed. Exit status 1 if a row differs.
"""

import argparse
import sys
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path

from tests.scan.whole_scans.switch_scans import SwitchedPlatform, open_switched_platform
from tests.switch_outcomes import (
    FURTHER_OUTCOMES,
    GENEROUS,
    OUTCOMES,
    MeasuredScan,
    SwitchOutcome,
    differences,
)

ALL_WELL, SOME_DIFFER, NOT_UNDERSTOOD = 0, 1, 2
_NOT_COUNTED = frozenset({"robots", "short_link"})
_HEADINGS = ("switch", "status", "stops", "gaps and decisions", "requests", "forbidden", "s")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure every row, or the rows of a switch; returns the exit status."""
    options = _options(arguments)
    rows = choose_rows(options.switch)
    if not rows:
        known = ", ".join(row.name for row in (*OUTCOMES, *FURTHER_OUTCOMES))
        print(f"no such switch: {options.switch}. There are: {known}", file=sys.stderr)
        return NOT_UNDERSTOOD
    differing = []
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(options.sounds or folder) / "sounds"
        with open_switched_platform(Path(folder), cache) as platform:
            print(" | ".join(_HEADINGS), flush=True)
            without = platform.scan(Path(folder) / "0", GENEROUS)
            differing += _show(GENEROUS, without, without)
            for place, row in enumerate(rows, 1):
                differing += _measure(platform, Path(folder) / str(place), row, without)
    print(f"{len(rows) + 1} scans, {len(differing)} differ: {', '.join(differing) or 'none'}")
    return SOME_DIFFER if differing else ALL_WELL


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.truth.switches", description=__doc__
    )
    parser.add_argument("--switch", default="", help="only these, comma-separated")
    parser.add_argument("--sounds", default="", help="keep rendered sounds in this folder")
    return parser.parse_args(arguments)


def choose_rows(names: str) -> list[SwitchOutcome]:
    """Return the rows of these switches, with or without their values; all for none."""
    wanted = {name.strip() for name in names.split(",")} - {""}
    return [
        row
        for row in (*OUTCOMES, *FURTHER_OUTCOMES)
        if not wanted or wanted & {row.name, row.name.partition("=")[0]}
    ]


def _measure(
    platform: SwitchedPlatform, root: Path, row: SwitchOutcome, without: MeasuredScan
) -> list[str]:
    try:
        return _show(row, platform.scan(root, row), without)
    except Exception:  # noqa: BLE001  # whatever it is, the other rows are measured
        print(f"{row.name} | FAILED", traceback.format_exc(), flush=True)
        return [row.name]


def _show(row: SwitchOutcome, found: MeasuredScan, without: MeasuredScan) -> list[str]:
    """Print a row as it is measured; returns its name if it differs."""
    deviations = differences(row, found, without=without)
    print(" | ".join(cells(row, found)), flush=True)
    for line in deviations:
        print(f"    DIFFERS: {line}", flush=True)
    return [row.name] if deviations else []


def cells(row: SwitchOutcome, found: MeasuredScan) -> tuple[str, ...]:
    """Return the row of a scan, column by column."""
    return (
        row.name,
        f"{found.status}, {len(found.confirmed)} confirmed",
        ", ".join(f"{surface} {reason}" for surface, reason in sorted(found.unusual_stops)) or "—",
        ", ".join(_gaps(found)) or "—",
        ", ".join(f"{k} {n}" for k, n in sorted(found.requests.items()) if k not in _NOT_COUNTED),
        ", ".join(f"{surface} {count}" for surface, count in found.forbidden.items()) or "0",
        f"{found.seconds:.0f}",
    )


def _gaps(found: MeasuredScan) -> list[str]:
    lines = [f"{found.not_reached} not reached"] if found.not_reached else []
    for one in found.decisions:
        left = {name: one[f"left_{name}"] for name in ("closed", "sick", "held_back")}
        named = [f"{name} {count}" for name, count in left.items() if count]
        if one["tried"] > one["answered"] or named:
            parts = [f"{one['answered']} of {one['tried']}", *named]
            lines.append(f"{one['question']}: {one['surface']} {', '.join(parts)}")
    return lines


if __name__ == "__main__":
    raise SystemExit(main())
