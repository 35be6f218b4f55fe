"""The style of all plots: colours of the palette, dashes, shapes, fonts, axes.

Not here: the plots (`plots.py`), the colours themselves (`pipelines/documents/palette.py`).
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime

import altair as alt

from pipelines.documents.palette import INK, LINE, SERIES, SOFT
from warehouse.records.values import Row

WIDTH, HEIGHT = 660, 270
MOST_MONTHS = 24
"""Of more months, not each has a label."""
FEW_DAYS = 3
"""So few days have a label each, and nothing between them has one."""
DASHES = ([1, 0], [6, 3], [2, 2], [10, 3, 2, 3], [4, 6], [12, 4])
SHAPES = ("circle", "square", "triangle-up", "cross", "diamond", "triangle-down")
_TIME_FORMS = ((3, "%m-%d %H:%M"), (150, "%Y-%m-%d"), (10**6, "%Y-%m"))
_FONT = "'Noto Sans', sans-serif"
"""The page's own fonts replace it (`design.css`). A font of Chinese characters in this list would
be loaded anew for each text that is measured, which takes five times as long for equal widths."""


def styled(
    chart: alt.Chart | alt.LayerChart | alt.FacetChart, *, height: int | alt.Step = HEIGHT
) -> alt.TopLevelMixin:
    """Apply size, fonts and axes to a plot."""
    dressed: alt.TopLevelMixin = (
        chart.properties(width=WIDTH, height=height, background="white", padding=2)
        .configure(font=_FONT)
        .configure_axis(
            labelFontSize=12, titleFontSize=12, titleFontWeight="normal", gridColor=LINE,
            gridOpacity=0.7, domainColor=SOFT, tickColor=LINE, labelColor=INK, titleColor=SOFT,
            labelLimit=260,
        )
        .configure_legend(
            labelFontSize=12, labelColor=INK, labelLimit=320, orient="bottom", columns=3,
            direction="horizontal", symbolStrokeWidth=1.6, symbolSize=60,
        )
        .configure_view(stroke=None)
    )  # fmt: skip
    return dressed


def vertical_rules(lines: Sequence[float]) -> list[alt.Chart]:
    """Return a dashed vertical rule at each value of x."""
    return [
        alt.Chart(to_data([{"x": line}]))
        .mark_rule(strokeDash=[5, 3], color=INK, strokeWidth=1.2)
        .encode(x="x:Q")
        for line in lines
    ]


def to_time_axis(name: str, moments: Iterable[datetime | date | str | None]) -> alt.X:
    """Return a UTC time axis whose labels have the year, or the hour for short spans."""
    known = sorted({str(to_plain(moment)) for moment in moments if moment is not None})
    days = (date.fromisoformat(known[-1][:10]) - date.fromisoformat(known[0][:10])).days
    label_format = next(form for most, form in _TIME_FORMS if days <= most)
    is_days = all(len(one) == len("2026-01-01") for one in known)
    # Dates that are all the first of a month are months: no day of them is labelled.
    is_months = is_days and all(one.endswith("-01") for one in known)
    if is_days and "%H" in label_format:
        label_format = "%Y-%m-%d"
    is_few = (is_months and len(known) <= MOST_MONTHS) or (is_days and len(known) <= FEW_DAYS)
    axis = alt.Axis(
        format="%Y-%m" if is_months else label_format,
        values=_axis_values(known) if is_few else alt.Undefined,
        labelOverlap="greedy",
        tickCount=7,
        labelAngle=0,
        labelSeparation=8,
    )
    scale = alt.Scale(type="utc", padding=18)
    return alt.X(f"{name}:T", title=None, scale=scale, axis=axis)


def to_colours(by: str, names: Sequence[str]) -> alt.Color:
    scale = alt.Scale(domain=list(names), range=list(SERIES))
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


def _axis_values(days: Sequence[str]) -> list[int]:
    """Return days as milliseconds in UTC, which axes take for values."""
    moments = (datetime.fromisoformat(day).replace(tzinfo=UTC) for day in days)
    return [int(moment.timestamp() * 1000) for moment in moments]
