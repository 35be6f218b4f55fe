"""What processes hold while a load runs: memory, open files, threads, processes."""

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import psutil
from scipy.stats import linregress

HOUR_S = 3600.0
MIN_GAUGES = 3


@dataclass(frozen=True, slots=True)
class Gauge:
    """One look at a process and what it started. `at` in seconds since the start.

    `pss_mb` is memory by share (PSS) of all of them; `in_use_mb` what the process itself has in
    use, and `database_mb` what DuckDB has in it, which are read at rest only.
    """

    at: float
    pss_mb: float
    files: int
    threads: int
    processes: int
    in_use_mb: float = math.nan
    database_mb: float = math.nan

    def __str__(self) -> str:
        in_use = ""
        if not math.isnan(self.in_use_mb):
            in_use = f" (in use: {self.in_use_mb:.2f}, by DuckDB {self.database_mb:.2f})"
        return f"{self.pss_mb:.0f} MB{in_use}, {self.files} files, {self.threads} threads"


def read_gauge(pid: int, *, began: float) -> Gauge:
    """Look at a process and its descendants; what ends meanwhile is left out."""
    root = psutil.Process(pid)
    pss = files = threads = processes = 0
    for one in (root, *root.children(recursive=True)):
        try:
            pss += one.memory_full_info().pss
            files += one.num_fds()
            threads += one.num_threads()
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
        processes += 1
    return Gauge(time.monotonic() - began, pss / 1024**2, files, threads, processes)


def slope_per_h(at_s: Sequence[float], values: Sequence[float]) -> tuple[float, float]:
    """Slope of the least-squares line through values over time, and its standard error."""
    if len(set(at_s)) < MIN_GAUGES:
        return 0.0, math.inf
    fitted = linregress(at_s, values)
    return float(fitted.slope) * HOUR_S, float(fitted.stderr) * HOUR_S


def percentile(values: Iterable[float], share: float) -> float:
    """The value below which a share of the values lies; 0 of none."""
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else 0.0
