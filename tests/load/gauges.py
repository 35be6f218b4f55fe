"""What processes hold while a load runs: memory by share (PSS), open files, threads, processes."""

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
    """One look at a process and what it started. `at` in seconds since the start."""

    at: float
    pss_mb: float
    files: int
    threads: int
    processes: int


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


def slope_mb_per_h(gauges: Sequence[Gauge]) -> tuple[float, float]:
    """Slope of the least-squares line through memory over time, and its standard error."""
    if len({one.at for one in gauges}) < MIN_GAUGES:
        return 0.0, math.inf
    fitted = linregress([one.at for one in gauges], [one.pss_mb for one in gauges])
    return float(fitted.slope) * HOUR_S, float(fitted.stderr) * HOUR_S


def percentile(values: Iterable[float], share: float) -> float:
    """The value below which a share of the values lies; 0 of none."""
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else 0.0
