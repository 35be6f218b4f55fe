"""Years of the chart: what a back-fill costs, what a second one does, how a year is answered.

`python -m benchmarks.speed.service.chart_history [--years 5]` runs this part alone; `make bench`
takes three. Against the stand-in platform, whose politeness delay is off: at five requests a
second, as with the real chart, the requests for five years alone would take six minutes.
"""

import argparse
import json
import os
import statistics
import subprocess
import time
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

import httpx2

from api.cli.processes.child_processes import sametrack_command
from benchmarks.speed.running import RowOutput, Workspace, run_alone
from pipelines.charts.rules.history import FIRST_DAY
from tests.deployment import Deployment, open_deployment

HISTORY = "/api/v1/music/chartsrc/top500/history"
ASKED = 40
LAST_DAY = date(2025, 12, 31)
YEARS, FEWER_YEARS = 5, 3
MOVED_DAYS = 90  # the world stands three months before the end of five years


def measure_chart_history(space: Workspace, *, years: int = FEWER_YEARS) -> Iterator[RowOutput]:
    """Back-fill years twice, judge its songs, then ask for years of it."""
    with open_deployment(space.folder / "chart", space.sounds) as deployment:
        deployment.start_platform(seed=7, size=0.3)
        clock = f"http://127.0.0.1:{deployment.port}/_world/clock"
        httpx2.post(clock, json={"advance_s": MOVED_DAYS * 86_400}, timeout=300).raise_for_status()
        api = deployment.start_api()
        days = ("--from", str(FIRST_DAY), "--to", str(_last_day(years)))
        yield f"back-filling {years} years"
        filled, spent = _run(deployment, "backfill", *days)
        yield f"back-fill of {years} years of the chart", _filled(filled, f"{spent:.0f} s"), ""
        yield "  gaps told", f"{len(filled['gaps'])} of {filled['gap_day_count']} days", ""
        again, spent = _run(deployment, "backfill", *days)
        yield "  the same again", _filled(again, f"{spent:.1f} s"), "0 requests"
        judged, spent = _run(deployment, "judge")
        yield "  judging its songs", f"{spent:.1f} s, {judged['song_count']} songs", ""
        times = list(_years(api, FIRST_DAY))
        yield "  a year of it, not asked before, median / p95", _spread(times), "100 ms"


def _last_day(years: int) -> date:
    return min(LAST_DAY, FIRST_DAY + timedelta(days=366 * years))


def _filled(result: dict[str, Any], spent: str) -> str:
    return f"{spent}, {result['new_count']} issues, {result['requests_used']} requests"


def _years(api: httpx2.Client, first: date) -> Iterator[float]:
    """Years that begin on other days each time, so that no answer is kept already."""
    for n in range(ASKED + 1):
        start = first + timedelta(days=17 * n + 10)
        span = {"start_date": str(start), "end_date": str(start + timedelta(days=365))}
        began = time.perf_counter()
        answer = api.get(HISTORY, params=span).raise_for_status()
        spent = time.perf_counter() - began
        data = answer.json()["data"]
        assert data["not_collected_count"] == 0, data["not_collected_count"]
        if n:
            yield spent


def _run(deployment: Deployment, *words: str) -> tuple[dict[str, Any], float]:
    """A command of the chart in a process of its own; what it says, and its seconds."""
    environment = {**os.environ, **deployment.environment()}
    began = time.monotonic()
    done = subprocess.run(
        [*sametrack_command("chart", *words), "--json"],
        env=environment, check=True, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    return json.loads(done.stdout), time.monotonic() - began


def _spread(times: list[float]) -> str:
    ordered = sorted(times)
    p95 = ordered[int(len(ordered) * 0.95)]
    return f"{statistics.median(ordered) * 1000:.0f} / {p95 * 1000:.0f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--years", type=int, default=YEARS, help=f"at least {FEWER_YEARS}")
    options = parser.parse_args()
    run_alone("chart", lambda space: measure_chart_history(space, years=options.years))


if __name__ == "__main__":
    main()
