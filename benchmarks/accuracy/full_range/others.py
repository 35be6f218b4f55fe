"""Other tools on the same pairs: Chromaprint, landmarks by audfprint2, and the first release.

Each returns a score per pair. Not here: what the scores are worth (`measuring.py`).
"""

import csv
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from benchmarks.accuracy import chromaprint
from benchmarks.accuracy.full_range.pairs import RangePair
from benchmarks.accuracy.sounds.filters import has_ffmpeg
from benchmarks.speed.running import counted

FIRST_RELEASE = "b653c451"
"""The last commit before all modules moved: verdict revision 2, a narrow search for edits."""
_DENSITY = 70.0  # landmarks a second, as the tool's own documentation advises for short queries
_JITTER = 1  # time steps that two landmarks of one alignment may differ by
type Scores = list[float | None]


def by_chromaprint(pairs: Sequence[RangePair], clips: Path, kept: Path) -> Scores | None:
    """Similarity of the best six seconds; None without fpcalc."""
    if not chromaprint.has_fpcalc():
        return None
    files = [(pair.reference, pair.candidate) for pair in pairs]
    return list(chromaprint.compare_files(clips, kept, files))


def by_landmarks(pairs: Sequence[RangePair], clips: Path, kept: Path) -> Scores | None:
    """Number of landmarks at one alignment; None without audfprint2 or the `ffmpeg` command."""
    if find_spec("audfprint2") is None or not has_ffmpeg():
        return None
    known: dict[str, list[list[int]]] = json.loads(kept.read_text()) if kept.exists() else {}
    missing = sorted(
        {file for one in pairs for file in (one.reference, one.candidate)} - set(known)
    )
    known |= _landmarks(clips, missing)
    kept.write_text(json.dumps(known))
    return [float(_aligned(known[one.reference], known[one.candidate])) for one in pairs]


def _landmarks(clips: Path, files: list[str]) -> dict[str, list[list[int]]]:
    import audfprint2  # noqa: PLC0415 - an optional tool

    analyzer = audfprint2.Analyzer(density=_DENSITY)
    return {
        file: [[int(at), int(mark)] for at, mark in analyzer.wavfile2hashes(str(clips / file))]
        for file in counted(files, what="finding landmarks", total=len(files))
    }


def _aligned(reference: list[list[int]], candidate: list[list[int]]) -> int:
    times: dict[int, list[int]] = {}
    for at, mark in reference:
        times.setdefault(mark, []).append(at)
    shifts = Counter(at - one for one, mark in candidate for at in times.get(mark, ()))
    near = range(-_JITTER, _JITTER + 1)
    return max((sum(shifts[shift + by] for by in near) for shift in list(shifts)), default=0)


def by_first_release(pairs: Sequence[RangePair], clips: Path, folder: Path) -> Scores | None:
    """Scores of the first release's own command, 0 where it accepts nothing; None without Git."""
    tree = folder / f"release-{FIRST_RELEASE}"
    if not tree.exists() and not _checked_out(tree):
        return None
    manifest, scores = folder / "range-manifest.csv", folder / "range-scores-first.csv"
    with manifest.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("pair_id", "refs", "candidate"))
        for row, pair in enumerate(pairs):
            files = (clips / pair.reference, clips / pair.candidate)
            writer.writerow((row, *(file.resolve() for file in files)))
    command = [sys.executable, "-m", "api.cli.main", "audio", "bench", str(manifest.resolve())]
    completed = subprocess.run(
        [*command, "--out", str(scores.resolve()), "--workers", "1"],
        cwd=tree, env={**os.environ, "PYTHONPATH": str(tree.resolve())}, check=False,
        capture_output=True, text=True,
    )  # fmt: skip
    if completed.returncode:
        print(f"            the first release does not run here: {completed.stderr[-300:]}")
        return None
    with scores.open(encoding="utf-8", newline="") as file:
        rows = {int(row["pair_id"]): row for row in csv.DictReader(file)}
    return [_accepted_score(rows[row]) for row in range(len(pairs))]


def _accepted_score(row: dict[str, str]) -> float:
    return float(row["score"]) if row["verdict"] in {"confirmed", "variant"} else 0.0


def _checked_out(tree: Path) -> bool:
    command = ["git", "worktree", "add", "--detach", str(tree.resolve()), FIRST_RELEASE]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0
