"""The print-friendly style of all plots: greys, dashes, shapes, fonts, axes.

Not here: the plots (`plots.py`).
"""

from collections.abc import Iterable, Sequence
from datetime import date, datetime

import altair as alt

from warehouse.records.values import Row

WIDTH, HEIGHT = 620, 260
FILLS = ("#d4d4d4", "#111111", "#8a8a8a", "#555555", "#f4f4f4", "#b0b0b0")
STROKES = ("#111111", "#6b6b6b", "#3d3d3d", "#808080", "#111111", "#6b6b6b")
"""Dark enough for print; dash and shape distinguish lines and markers."""
DASHES = ([1, 0], [6, 3], [2, 2], [10, 3, 2, 3], [4, 6], [12, 4])
SHAPES = ("circle", "square", "triangle-up", "cross", "diamond", "triangle-down")
_TIME_FORMS = ((3, "%m-%d %H:%M"), (150, "%Y-%m-%d"), (10**6, "%Y-%m"))
_FONT = "'Noto Sans', 'Noto Sans CJK SC', 'Segoe UI', 'PingFang SC', 'Microsoft YaHei', sans-serif"


def styled(
    chart: alt.Chart | alt.LayerChart | alt.FacetChart, *, height: int | alt.Step = HEIGHT
) -> alt.TopLevelMixin:
    """Apply size, fonts and axes to a plot."""
    dressed: alt.TopLevelMixin = (
        chart.properties(width=WIDTH, height=height, background="white")
        .configure(font=_FONT)
        .configure_axis(
            labelFontSize=11, titleFontSize=12, titleFontWeight="normal", gridColor="#e4e4e4",
            labelColor="#222222", titleColor="#222222", labelLimit=260,
        )
        .configure_legend(
            labelFontSize=11, labelLimit=300, orient="bottom", direction="horizontal", columns=3,
            symbolStrokeWidth=1.6, symbolSize=60,
        )
        .configure_view(stroke="#bbbbbb")
    )  # fmt: skip
    return dressed


def vertical_rules(lines: Sequence[float]) -> list[alt.Chart]:
    """Return a dashed vertical rule at each value of x."""
    return [
        alt.Chart(to_data([{"x": line}]))
        .mark_rule(strokeDash=[5, 3], color="#111111", strokeWidth=1.2)
        .encode(x="x:Q")
        for line in lines
    ]


def to_time_axis(name: str, moments: Iterable[datetime | date | str | None]) -> alt.X:
    """Return a UTC time axis whose labels have the year, or the hour for short spans."""
    known = sorted(str(to_plain(moment)) for moment in moments if moment is not None)
    days = (date.fromisoformat(known[-1][:10]) - date.fromisoformat(known[0][:10])).days
    label_format = next(form for most, form in _TIME_FORMS if days <= most)
    axis = alt.Axis(
        format=label_format, labelOverlap="greedy", tickCount=7, labelAngle=0, labelSeparation=8
    )
    scale = alt.Scale(type="utc", padding=12)
    return alt.X(f"{name}:T", title=None, scale=scale, axis=axis)


def to_greys(by: str, names: Sequence[str]) -> alt.Color:
    scale = alt.Scale(domain=list(names), range=list(STROKES))
    return alt.Color(f"{by}:N", scale=scale, legend=to_legend(names), title=None)


def to_dashes(by: str, names: Sequence[str]) -> alt.StrokeDash:
    scale = alt.Scale(domain=list(names), range=list(DASHES))
    return alt.StrokeDash(f"{by}:N", scale=scale, legend=to_legend(names), title=None)


def to_shapes(by: str, names: Sequence[str]) -> alt.Shape:
    scale = alt.Scale(domain=list(names), range=list(SHAPES))
    return alt.Shape(f"{by}:N", scale=scale, legend=to_legend(names), title=None)


def to_legend(names: Sequence[str]) -> alt.Legend | None:
    """Return a legend, or None for a single name, which the caption states."""
    return alt.Legend(title=None) if len(names) > 1 else None


def label_axis() -> alt.Axis:
    return alt.Axis(labelLimit=260, labelOverlap=False)


def count_axis() -> alt.Axis:
    """Return an axis with integer ticks only: `tickMinStep` alone allows halves on short axes."""
    shown: Row = {"condition": {"test": "datum.value % 1", "value": 0}, "value": 1}
    return alt.Axis(
        format=",~r", tickMinStep=1, labelExpr="datum.value % 1 ? '' : datum.label",
        gridOpacity=shown, tickOpacity=shown,
    )  # fmt: skip


def log_axis() -> alt.Axis:
    return alt.Axis(format=",~s", labelOverlap="greedy")


def to_data(rows: list[Row]) -> alt.Data:
    return alt.Data(values=rows)  # type: ignore[no-untyped-call]  # the library's own


def to_plain[T](value: T | date) -> T | str:
    """Return a date or a time as text for the plot's JSON, other values as they are."""
    return value.isoformat() if isinstance(value, date) else value
