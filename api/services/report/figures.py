"""Inline SVG charts of the report: measurements against limits, and engagement by rank.

Numbers in, markup out. Colours are classes of the page's style sheet, so charts have its palette.
All outside text is escaped.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from pipelines.documents.result_types import EvidenceDocument, RankedVideo
from warehouse.records.evidence import LOWER_IS_BETTER, MeasureName, least_overlap_s, meets_limit

BAR_WIDTH, BAR_HEIGHT = 150, 14
PLOT_WIDTH, PLOT_HEIGHT = 720, 260
PLOT_LEFT, PLOT_RIGHT, PLOT_TOP, PLOT_BOTTOM = 64, 12, 14, 34
MAX_RANK_TICKS = 8
DOT_RADIUS = 3.4


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauge:
    """One measured value against its limit. `is_met` None: the value is unknown."""

    name: MeasureName
    label: str
    label_zh: str
    value: float | None
    limit: float
    unit: str = ""

    @property
    def lower_is_better(self) -> bool:
        """Whether the limit is the largest value allowed, not the smallest."""
        return self.name in LOWER_IS_BETTER

    @property
    def is_met(self) -> bool | None:
        """Whether the value meets its limit."""
        if self.value is None:
            return None
        return meets_limit(self.name, self.value, self.limit)


def to_gauges(evidence: EvidenceDocument) -> tuple[Gauge, ...]:
    """Return the four measurements of a pair with the limits of its segment."""
    limits, overlap_s = evidence["limits"], evidence["overlap_s"]
    segment = "local" if evidence["segment"] == "local" else "whole"
    least_s = limits[f"{segment}_overlap_s"]
    if segment == "local":
        # A recording may be shorter than the limit; then all of it has to overlap.
        least_s = least_overlap_s(overlap_s, least_s)
    return (
        Gauge(
            name="chroma_distance",
            label="Chroma distance",
            label_zh="Chroma 距离",
            value=evidence["chroma_distance"],
            limit=limits[f"{segment}_chroma_distance"],
        ),
        Gauge(
            name="mfcc_distance",
            label="MFCC distance",
            label_zh="MFCC 距离",
            value=evidence["mfcc_distance"],
            limit=limits[f"{segment}_mfcc_distance"],
        ),
        Gauge(
            name="overlap_s",
            label="Overlap",
            label_zh="重叠",
            value=overlap_s,
            limit=least_s,
            unit=" s",
        ),
        Gauge(
            name="score",
            label="Score",
            label_zh="综合得分",
            value=evidence["score"],
            limit=limits["match_threshold"],
        ),
    )


def draw_gauge(gauge: Gauge) -> Markup:
    """Draw a bar with a tick at the limit: green if met, red if missed, hatched if unknown."""
    # The limit stands at 5/8 of the bar, unless the value needs more room.
    scale = max(gauge.limit * 1.6, (gauge.value or 0.0) * 1.05, 1e-9)
    length = BAR_WIDTH * min(1.0, max(0.0, gauge.value or 0.0) / scale)
    tick = BAR_WIDTH * gauge.limit / scale
    value = "?" if gauge.value is None else f"{gauge.value:.3g}{gauge.unit}"
    sign = "≤" if gauge.lower_is_better else "≥"
    return Markup(
        '<svg class="gauge" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img">'
        "<title>{title}</title>"
        '<rect class="track" x="0" y="4" width="{w}" height="6" rx="3"/>'
        '<rect class="{kind}" x="0" y="4" width="{length}" height="6" rx="3"/>'
        '<line class="limit" x1="{tick}" x2="{tick}" y1="0" y2="{h}"/></svg>'
    ).format(
        w=BAR_WIDTH,
        h=BAR_HEIGHT,
        title=f"{gauge.label}: {value} ({sign} {gauge.limit:g}{gauge.unit})",
        kind={True: "met", False: "missed", None: "unknown"}[gauge.is_met],
        length=f"{length:.1f}",
        tick=f"{tick:.1f}",
    )


def draw_engagement(videos: Sequence[RankedVideo]) -> Markup:
    """Draw hot score over rank on a logarithmic axis, one dot per video, coloured by link type.

    Videos without a hot score have no dot. Returns empty markup if there is nothing to draw.
    """
    points = [(video["rank"], video["hot_score"], video) for video in videos if video["hot_score"]]
    if not points:
        return Markup("")
    axes = _Axes.around([rank for rank, _, _ in points], [score for _, score, _ in points])
    dots = [
        Markup(
            '<circle class="dot {}" cx="{}" cy="{}" r="{}"><title>#{} · {:,}</title></circle>'
        ).format(
            escape(video.get("link_type") or "unknown"),
            f"{axes.x(rank):.1f}",
            f"{axes.y(score):.1f}",
            DOT_RADIUS,
            rank,
            score,
        )
        for rank, score, video in points
    ]
    return Markup(
        '<svg class="plot" viewBox="0 0 {} {}" role="img">'
        "<title>Hot score by rank, logarithmic</title>{}</svg>"
    ).format(PLOT_WIDTH, PLOT_HEIGHT, Markup("").join([axes.draw(), *dots]))


@dataclass(frozen=True, slots=True)
class _Axes:
    """Maps rank to x and score to y."""

    last_rank: int
    low: int  # exponent of ten below the smallest score
    high: int  # exponent of ten above the largest

    @classmethod
    def around(cls, ranks: Sequence[int], scores: Sequence[int]) -> "_Axes":
        # At least one power of ten, so that equal scores have an axis, too.
        low = math.floor(math.log10(min(scores)))
        return cls(max(ranks), low, max(low + 1, math.ceil(math.log10(max(scores)))))

    def x(self, rank: int) -> float:
        share = (rank - 1) / max(1, self.last_rank - 1)
        return PLOT_LEFT + 8 + share * (PLOT_WIDTH - PLOT_LEFT - PLOT_RIGHT - 16)

    def y(self, score: float) -> float:
        share = (math.log10(score) - self.low) / (self.high - self.low)
        return PLOT_HEIGHT - PLOT_BOTTOM - share * (PLOT_HEIGHT - PLOT_TOP - PLOT_BOTTOM)

    def draw(self) -> Markup:
        """Draw a line with its number for each power of ten, and the numbers of some ranks."""
        marks: list[Markup] = []
        for exponent in range(self.low, self.high + 1):
            y = f"{self.y(10.0**exponent):.1f}"
            marks.append(
                Markup(
                    '<line class="grid" x1="{}" x2="{}" y1="{}" y2="{}"/>'
                    '<text class="tick" x="{}" y="{}" dy="4" text-anchor="end">{}</text>'
                ).format(
                    PLOT_LEFT,
                    PLOT_WIDTH - PLOT_RIGHT,
                    y,
                    y,
                    PLOT_LEFT - 8,
                    y,
                    _abbreviate(10**exponent),
                )
            )
        step = max(1, math.ceil(self.last_rank / MAX_RANK_TICKS))
        marks += [
            Markup('<text class="tick" x="{}" y="{}" text-anchor="middle">{}</text>').format(
                f"{self.x(rank):.1f}", PLOT_HEIGHT - 12, rank
            )
            for rank in sorted({1, *range(step, self.last_rank + 1, step)})
        ]
        return Markup("").join(marks)


def _abbreviate(number: float) -> str:
    """Abbreviate 1000 as 1k, 1000000 as 1M."""
    for size, letter in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")):
        if number >= size:
            return f"{number / size:g}{letter}"
    return f"{number:g}"
