"""Inline SVG of reports: measurements against their limits, and bars. Plots are in `plots.py`.

Numbers in, markup out. Colours are classes of the page's style sheet, so charts have its palette.
All outside text is escaped.
"""

from dataclasses import dataclass

from markupsafe import Markup

from pipelines.documents.result_types import EvidenceDocument
from warehouse.records.evidence import LOWER_IS_BETTER, MeasureName, least_overlap_s, meets_limit

BAR_WIDTH, BAR_HEIGHT = 150, 14


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


def draw_bar(value: int, most: int, *, is_unknown: bool = False) -> Markup:
    """Draw a count as a bar, whose full length is `most`; its number stands beside it."""
    return Markup(
        '<svg class="gauge" viewBox="0 0 {w} {h}" width="{w}" height="{h}" aria-hidden="true">'
        '<rect class="{kind}" x="0" y="2" width="{length:.1f}" height="10" rx="2"/></svg>'
    ).format(
        w=BAR_WIDTH,
        h=BAR_HEIGHT,
        kind="unknown" if is_unknown else "bar-1",
        length=BAR_WIDTH * value / max(1, most),
    )
