"""What verdicts are worth: shares with their uncertainty, curves, confusions. Pure arithmetic.

Scores are higher-better. Not here: how any of it is shown (`card.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_Z = 1.959964  # 95 % of a normal distribution


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """`hits` of `total`, with Wilson's 95 % interval."""

    hits: int
    total: int

    @property
    def value(self) -> float:
        return self.hits / self.total if self.total else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson, E. B. (1927): the score interval of a proportion."""
        if not self.total:
            return 0.0, 1.0
        n, p = self.total, self.hits / self.total
        centre = (p + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
        half = _Z / (1 + _Z**2 / n) * np.sqrt(p * (1 - p) / n + _Z**2 / (4 * n**2))
        return max(0.0, float(centre - half)), min(1.0, float(centre + half))


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One tool's scores on labelled pairs."""

    scores: NDArray[np.float64]
    is_same: NDArray[np.bool_]

    def area(self) -> float:
        """Area under the receiver operating curve: the chance that a same pair scores higher."""
        order = np.argsort(self.scores, kind="stable")
        _, inverse, counts = np.unique(self.scores[order], return_inverse=True, return_counts=True)
        ends = np.cumsum(counts)
        ranks = ((ends - counts + 1 + ends) / 2)[inverse]
        same = self.is_same[order]
        positives, negatives = int(same.sum()), int((~same).sum())
        if not positives or not negatives:
            return float("nan")
        lift = float(ranks[same].sum()) - positives * (positives + 1) / 2
        return lift / (positives * negatives)

    def threshold_at(self, precision: float) -> float:
        """The lowest score above which at least `precision` of what is accepted is right."""
        order = np.argsort(-self.scores, kind="stable")
        scores, same = self.scores[order], self.is_same[order]
        is_last = np.append(
            scores[1:] != scores[:-1], [True]
        )  # equal scores stand or fall together
        right = np.cumsum(same)
        is_good = is_last & (right / np.arange(1, len(same) + 1) >= precision)
        return float(scores[np.flatnonzero(is_good)[-1]]) if is_good.any() else float("inf")

    def recall_at(self, precision: float) -> Share:
        """The best recall where precision is at least that, by the tool's own best threshold."""
        return self.above(self.threshold_at(precision))

    def above(self, threshold: float) -> Share:
        """Recall at a threshold."""
        accepted = self.scores >= threshold
        return Share(hits=int((accepted & self.is_same).sum()), total=int(self.is_same.sum()))

    def precision(self, threshold: float) -> Share:
        """Precision at a threshold."""
        accepted = self.scores >= threshold
        return Share(hits=int((accepted & self.is_same).sum()), total=int(accepted.sum()))


def curve(scores: Sequence[float], is_same: Sequence[bool]) -> Curve:
    return Curve(
        scores=np.array(scores, dtype=np.float64), is_same=np.array(is_same, dtype=np.bool_)
    )
