"""What went wrong, one line each with its files, for whoever tunes the ear."""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.accuracy.comparing import Judged
from benchmarks.accuracy.pairs import Pair


def write_findings(
    target: Path, pairs: Sequence[Pair], judged: Sequence[Judged], clips: Path
) -> None:
    """Accepted pairs that differ, missed pairs that are the same, and changed ones confirmed."""
    lines = [
        f"{_fault(pair, one):>9}  {pair.family:<42} {one.score:.3f} {one.verdict:<10} "
        f"{one.reason:<24} c {one.chroma:.2f} m {one.mfcc:.2f} p {one.agreement:.3f} "
        f"speed {one.speed} wanted {pair.speed}  {clips / pair.reference}  {clips / pair.candidate}"
        for pair, one in zip(pairs, judged, strict=True)
        if _fault(pair, one)
    ]
    target.write_text("\n".join(sorted(lines)) + "\n")


def _fault(pair: Pair, one: Judged) -> str:
    is_accepted = one.verdict in {"confirmed", "variant"}
    if pair.truth == "different":
        return "accepted" if is_accepted else ""
    if not is_accepted:
        return "missed"
    wanted = "confirmed" if pair.truth == "same" else "variant"
    return "" if one.verdict == wanted else "mistaken"
