"""Chromaprint beside the ear: `fpcalc` makes fingerprints, their best six seconds are compared.

Of the ways to compare that were tried elsewhere, bit errors in the best window served Chromaprint
best. Debian 12's fpcalc ends with status 3 on many MP4 files although the fingerprint is complete,
so the FINGERPRINT line counts and not the status.
"""

import json
import shutil
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.speed.running import counted

Print = NDArray[np.uint32]
ITEM_S = 1365 / 11_025
"""Seconds from one item to the next."""
_WINDOW = 48  # six seconds of items
_MOST_S = 60


def has_fpcalc() -> bool:
    return shutil.which("fpcalc") is not None


def fingerprint(path: Path, *, most_s: int = _MOST_S) -> Print:
    """Raw fingerprint items of the first `most_s` seconds, empty where there is no sound."""
    command = ["fpcalc", "-raw", "-length", str(most_s), str(path)]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    for line in ended.stdout.splitlines():
        if line.startswith("FINGERPRINT=") and len(line) > len("FINGERPRINT="):
            items = [int(item) for item in line.removeprefix("FINGERPRINT=").split(",")]
            return np.array(items, dtype=np.int64).astype(np.uint32)
    return np.empty(0, dtype=np.uint32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The most similar stretch of two fingerprints; places and length are in items."""

    similarity: float
    left: int = 0
    right: int = 0
    items: int = 0


def similarity(left: Print, right: Print) -> float:
    """1 - twice the bit error rate in the best window of all offsets; 0 is chance, 1 identical."""
    return best_window(left, right).similarity


def best_window(left: Print, right: Print) -> Window:
    """Return the window of all offsets with the fewest bit errors."""
    window = min(_WINDOW, len(left), len(right))
    if window < _WINDOW // 2:
        return Window(similarity=0.0)
    fewest, place = 32 * window, (0, 0)
    for offset in range(window - len(right), len(left) - window + 1):
        first, last = max(0, offset), min(len(left), len(right) + offset)
        wrong = np.bitwise_count(left[first:last] ^ right[first - offset : last - offset])
        total = np.concatenate(([0], np.cumsum(wrong, dtype=np.int64)))
        errors = total[window:] - total[:-window]
        best = int(errors.argmin())
        if errors[best] < fewest:
            fewest, place = int(errors[best]), (first + best, first + best - offset)
    return Window(
        similarity=1.0 - 2.0 * fewest / (32 * window), left=place[0], right=place[1], items=window
    )


def compare_files(clips: Path, kept: Path, pairs: Sequence[tuple[str, str]]) -> list[float]:
    """Similarities of pairs of files below `clips`; fingerprints are kept in a file."""
    known: dict[str, list[int]] = json.loads(kept.read_text()) if kept.exists() else {}
    missing = sorted({file for pair in pairs for file in pair} - known.keys())
    with ThreadPoolExecutor(2) as pool:
        found = counted(
            pool.map(lambda file: fingerprint(clips / file).tolist(), missing),
            what="taking fingerprints",
            total=len(missing),
        )
        known |= dict(zip(missing, found, strict=True))
    kept.write_text(json.dumps(known))
    prints = {file: np.array(items, dtype=np.uint32) for file, items in known.items()}
    return [similarity(prints[one], prints[two]) for one, two in pairs]
