"""Two pictures in plain SVG: how scores spread, and recall by what was done.

Strings in, strings out; colours hold on light and dark pages.
"""

from collections.abc import Mapping, Sequence

_COLOURS = {
    "same": "#2f9e6e",
    "variant": "#d39b1f",
    "different": "#d0483e",
    "arguable": "#8a63c9",
}
_STYLE = "font-family='system-ui,sans-serif' font-size='12' fill='#7a7f87'"
_WIDTH, _ROW, _LEFT = 720, 22, 240


def score_plot(rows: Mapping[str, Sequence[int]], *, threshold: float) -> str:
    """Shares of scores in 0..1 by what is true, one strip each, the threshold across all."""
    parts: list[str] = []
    names = [name for name in _COLOURS if name in rows]
    strip = 70
    for place, name in enumerate(names):
        counts = rows[name]
        floor = (place + 1) * strip
        parts.append(f"<text x='8' y='{floor - 24}' {_STYLE}>{name} ({sum(counts)})</text>")
        step = (_WIDTH - 180) / len(counts)
        for bin_, count in enumerate(counts):
            height = (strip - 14) * (count / max(counts)) ** 0.5
            x = 160 + bin_ * step
            parts.append(
                f"<rect x='{x:.1f}' y='{floor - height:.1f}' width='{step - 1:.1f}' "
                f"height='{height:.1f}' fill='{_COLOURS[name]}'/>"
            )
    bottom = len(names) * strip
    at = 160 + threshold * (_WIDTH - 180)
    parts.append(
        f"<line x1='{at:.1f}' y1='6' x2='{at:.1f}' y2='{bottom}' stroke='#7a7f87' "
        "stroke-dasharray='4 3'/>"
    )
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        x = 160 + tick * (_WIDTH - 180)
        parts.append(f"<text x='{x - 10:.1f}' y='{bottom + 18}' {_STYLE}>{tick:g}</text>")
    parts.append(
        f"<text x='160' y='{bottom + 38}' {_STYLE}>score (height: root of the share; "
        f"dashed: threshold {threshold:g})</text>"
    )
    return _svg(parts, bottom + 48)


def recall_plot(rows: Sequence[tuple[str, float, float, float]]) -> str:
    """Rows of (name, recall, lower, upper) as dots with their intervals."""
    parts: list[str] = []
    span = _WIDTH - _LEFT - 60
    for place, (name, value, low, high) in enumerate(rows):
        y = 18 + place * _ROW
        left, right, dot = (_LEFT + span * share for share in (low, high, value))
        parts.append(
            f"<text x='{_LEFT - 10}' y='{y + 4}' text-anchor='end' {_STYLE}>{_safe(name)}</text>"
            f"<line x1='{left:.1f}' y1='{y}' x2='{right:.1f}' y2='{y}' stroke='#2f9e6e' "
            f"stroke-opacity='0.45' stroke-width='5'/>"
            f"<circle cx='{dot:.1f}' cy='{y}' r='4.5' fill='#2f9e6e'/>"
            f"<text x='{_LEFT + span + 12}' y='{y + 4}' {_STYLE}>{value:.2f}</text>"
        )
    bottom = 18 + len(rows) * _ROW
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        x = _LEFT + span * tick
        parts.append(
            f"<line x1='{x:.1f}' y1='4' x2='{x:.1f}' y2='{bottom}' stroke='#7a7f87' "
            "stroke-opacity='0.25'/>"
            f"<text x='{x - 10:.1f}' y='{bottom + 16}' {_STYLE}>{tick:g}</text>"
        )
    return _svg(parts, bottom + 26)


def _svg(parts: Sequence[str], height: int) -> str:
    head = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {_WIDTH} {height}' role='img'>"
    return "\n".join((head, *parts, "</svg>")) + "\n"


def _safe(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")
