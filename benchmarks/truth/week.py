"""A week of a watchlist against the world's truth: real scans, the stand-in platform's clock moved.

`python -m benchmarks.truth.week [--days 7] [--tracks 5] [--size 0.1] [--every daily]`. From an
empty warehouse; in the middle the worker is killed while it scans. Checked: every due time is
one run, though two watchers look; every growth series is right point by point; every digest names
what changed and nothing else. Exits 1 on a deviation.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from rich.console import Console
from rich.table import Table

from benchmarks.speed.running import Figure
from tests.deployment import Deployment, open_deployment
from tests.watchlists.simulated_week import NAME, Week
from tests.watchlists.simulated_week_truth import Verdict, judge_digests, judge_series
from warehouse.control import jobs, watchlists
from warehouse.records.jobs import PRIORITY_SCHEDULED
from warehouse.records.watchlists import DigestThresholds

console = Console(width=130)


def measure_week(
    root: Path, cache: Path, *, days: int, tracks: int, size: float, every: str, seed: int
) -> tuple[list[Figure], list[str]]:
    """Run the week: what was found beside what it should be, and every deviation."""
    root.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    console.print(f"{_since(began)} starting the platform and a worker")
    with open_deployment(root, cache) as deployment, ExitStack() as stack:
        deployment.start_platform(seed=seed, size=size)
        deployment.start_worker()
        week = Week(
            deployment,
            stack,
            every=every,
            thresholds=DigestThresholds(velocity=500.0, rank_change=1),
        )
        week.begin(tracks=tracks)
        due = len(week.due_times(days=days))
        passing = _Passing(deployment, due=due, began=began)
        week.go_on(days=days, disturb=passing.look)
        spent = time.monotonic() - began
        console.print(f"{_since(began)} all {due} runs are over; judging them against the truth")
        verdict = Verdict()
        judge_digests(week, verdict)
        judge_series(week, verdict)
        return _figures(week, verdict, days=days, spent=spent)


@dataclass
class _Passing:
    """Says each run when it has been handed in, and kills the worker in the middle one."""

    deployment: Deployment
    due: int
    began: float
    _said: int = field(default=-1)

    def look(self, step: int) -> bool:
        if step > self._said:
            self._said = step
            left = self.due - step - 1
            console.print(f"{_since(self.began)} run {step + 1} of {self.due}, then {left} more")
        return _killed(self.deployment, is_time=step == self.due // 2)


def _since(began: float) -> str:
    return f"{time.monotonic() - began:5.0f} s "


def _killed(deployment: Deployment, *, is_time: bool) -> bool:
    """Kill the worker while it scans, once; a new one takes its place."""
    if not is_time:
        return True
    worker = deployment.worker
    if worker is None or not any(
        job.status == "running" for job in jobs.newest(deployment.control, limit=50)
    ):
        return False
    psutil.Process(worker.process.pid).kill()
    worker.process.wait()
    console.print("         the worker was killed while it scanned; another begins")
    deployment.start_worker()
    return True


def _figures(
    week: Week, verdict: Verdict, *, days: int, spent: float
) -> tuple[list[Figure], list[str]]:
    runs, due = week.runs(), week.due_times(days=days)
    scans = jobs.newest(week.deployment.control, limit=9999)
    per_track = Counter(job.input for job in scans)
    looks = Counter(
        look.status
        for run in runs
        for look in watchlists.read_checks(week.watchers[0].control, run.run_id)
    )
    deviations = list(verdict.deviations)
    if [run.due_at for run in runs] != due:
        deviations.append(f"due {due}, run {[run.due_at for run in runs]}")
    if set(per_track.values()) != {len(due)}:
        deviations.append(f"scans of each track: {per_track}")
    if {job.priority for job in scans} != {PRIORITY_SCHEDULED}:
        deviations.append("a scan of a schedule went before people's")
    changes = [run.digest["change_count"] if run.digest else run.status for run in runs]
    counted = f"{len(due)} / {len(runs)} / {len({run.due_at for run in runs})}"
    figures = [
        ("due times / runs / distinct", counted, "equal"),
        ("scans of each track", str(sorted(per_track.values())), f"{len(due)} each"),
        ("looks by how they ended", str(dict(looks)), "failed: only those of the killed worker"),
        ("changes named, by digest", str(changes), "as the truth has them"),
        ("changes named in all", str(verdict.named), "as the truth has them"),
        ("works too near to the velocity's threshold", str(verdict.too_near), "not judged"),
        ("points of growth compared", str(verdict.points), "all right"),
        ("deviations", str(len(deviations)), "0"),
        ("whole week", f"{spent:.0f} s, {spent / max(len(runs), 1):.1f} s a run", "under 360 s"),
    ]  # fmt: skip
    return figures, deviations


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=int, default=7)
    parser.add_argument("--tracks", type=int, default=5)
    parser.add_argument("--size", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--every", default="daily")
    parser.add_argument("--sounds", default="", help="keep rendered sounds in this folder")
    options = parser.parse_args()
    table = Table(title=f"{NAME}: {vars(options)}")
    for name in ("what", "measured", "aim"):
        table.add_column(name)
    with tempfile.TemporaryDirectory() as folder:
        root, given = Path(folder), vars(options)
        cache = Path(given.pop("sounds") or root) / "sounds"
        figures, deviations = measure_week(root / "stage", cache, **given)
    for figure in figures:
        table.add_row(*figure)
    console.print(table)
    for line in deviations:
        console.print(line, style="red")
    sys.exit(1 if deviations else 0)


if __name__ == "__main__":
    main()
