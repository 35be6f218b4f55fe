"""Plots that can be read in print: grey, told apart by dash, shape and pattern, never by colour.

Arrow tables in, Vega-Lite charts out; None where there is nothing to draw. An unknown value is a
gap in a line and no bar, never 0. Times are UTC.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date
from itertools import pairwise
from typing import Any

import altair as alt
import pyarrow as pa

WIDTH, HEIGHT = 620, 260
BAR_STEP = 19
MOST_BARS = 20
LABEL_CHARS = 34
PLACES = (1, 10, 20, 30, 40, 50, 75, 100, 150, 200, 300, 400, 500)
FILLS = ("#d4d4d4", "#111111", "#8a8a8a", "#555555", "#f4f4f4", "#b0b0b0")
STROKES = ("#111111", "#6b6b6b", "#3d3d3d", "#808080", "#111111", "#6b6b6b")
"""Lines and marks are told apart by dash and shape; a pale one would not be seen in print."""
DASHES = ([1, 0], [6, 3], [2, 2], [10, 3, 2, 3], [4, 6], [12, 4])
SHAPES = ("circle", "square", "triangle-up", "cross", "diamond", "triangle-down")
_TIME_FORMS = ((3, "%m-%d %H:%M"), (150, "%Y-%m-%d"), (10**6, "%Y-%m"))
_FONT = "'Noto Sans', 'Noto Sans CJK SC', 'Segoe UI', 'PingFang SC', 'Microsoft YaHei', sans-serif"

type Chart = alt.TopLevelMixin | None


def draw_lines(
    table: pa.Table, *, x: str, y: str, by: str, y_title: str, is_reversed: bool = False
) -> Chart:
    """A line with marks per `by`; a null breaks it. `is_reversed`: 1 on top, as places are.

    None, too, where all is known at one moment only: one look is no growth.
    """
    known = {row[x] for row in table.to_pylist() if row[y] is not None}
    if len(known) < 2:  # noqa: PLR2004  # a line has two ends
        return None
    names = _names(table, by)
    places = alt.Axis(values=list(PLACES), format="d")
    scale = (
        alt.Scale(reverse=True, domainMin=1, nice=False) if is_reversed else alt.Scale(zero=False)
    )
    axis = places if is_reversed else alt.Axis(format=_format(table, y))
    return _dressed(
        alt.Chart(_values(table, [x, y, by]))
        .mark_line(point=alt.OverlayMarkDef(size=36, filled=True), strokeWidth=1.6)
        .encode(
            x=_time(x, known),
            y=alt.Y(f"{y}:Q", title=y_title, scale=scale, axis=axis),
            color=_greys(by, names),
            strokeDash=_dashes(by, names),
            shape=_shapes(by, names),
        )
    )


def draw_bars(
    table: pa.Table, *, label: str, value: str, title: str, by: str | None = None
) -> Chart:
    """A bar per label in the table's order, at most `MOST_BARS`; parts of a bar by `by`."""
    if not _has(table, value):
        return None
    chosen = list(dict.fromkeys(table.column(label).to_pylist()))[:MOST_BARS]
    rows = [row for row in table.to_pylist() if row[label] in chosen and row[value] is not None]
    shown = _labels(chosen)
    data = [
        {"label": shown[row[label]], "value": row[value], "part": "" if by is None else row[by]}
        for row in rows
    ]
    chart = alt.Chart(_data(data)).mark_bar(stroke="#111111", strokeWidth=0.6)
    parts = sorted({row["part"] for row in data})
    fill = (
        alt.value(FILLS[2])
        if by is None
        else alt.Color(
            "part:N",
            scale=alt.Scale(domain=parts, range=list(FILLS)),
            legend=_legend(parts),
            title=None,
        )
    )
    encoded = chart.encode(
        y=alt.Y("label:N", sort=list(shown.values()), title=None, axis=_label_axis()),
        x=alt.X("value:Q", title=title, axis=_count_axis()),
        color=fill,
    )
    return _dressed(encoded, height=alt.Step(BAR_STEP))


def draw_columns(table: pa.Table, *, x: str, value: str, title: str) -> Chart:
    """A column per day or month."""
    if not _has(table, value):
        return None
    width = max(1.5, min(18.0, 0.7 * WIDTH / _span(table, x)))
    return _dressed(
        alt.Chart(_values(table, [x, value]))
        .mark_bar(size=width, color=FILLS[2], stroke="#111111", strokeWidth=0.5)
        .encode(
            x=_time(x, table.column(x).to_pylist()),
            y=alt.Y(f"{value}:Q", title=title, axis=_count_axis()),
        )
    )


def draw_stems(table: pa.Table, *, x: str, y: str, y_title: str) -> Chart:
    """A mark on a stem for every row that has both a time and a count."""
    if not _has(table, x) or not _has(table, y):
        return None
    rows = [row for row in table.to_pylist() if row[x] is not None and row[y] is not None]
    data = _data([{"x": _plain(row[x]), "y": row[y]} for row in rows])
    y_axis = alt.Y("y:Q", title=y_title, axis=_count_axis())
    x_axis = _time("x", [row[x] for row in rows])
    stems = alt.Chart(data).mark_bar(size=1.2, color=FILLS[2]).encode(x=x_axis, y=y_axis)
    heads = alt.Chart(data).mark_point(size=30, color=STROKES[0], filled=True)
    return _dressed(alt.layer(stems, heads.encode(x=x_axis, y=y_axis)))


def draw_points(
    table: pa.Table, *, x: str, y: str, by: str, x_title: str, y_title: str, lines: Sequence[float]
) -> Chart:
    """A mark per row, its shape by `by`, with a dashed upright at each of `lines` of x."""
    if not _has(table, x) or not _has(table, y):
        return None
    names = _names(table, by)
    points = (
        alt.Chart(_values(table, [x, y, by]))
        .mark_point(size=34, strokeWidth=1.1, opacity=0.85)
        .encode(
            x=alt.X(f"{x}:Q", title=x_title),
            y=alt.Y(f"{y}:Q", title=y_title),
            shape=_shapes(by, names),
            color=_greys(by, names),
        )
    )
    return _dressed(alt.layer(points, *_uprights(lines)))


def draw_spread(table: pa.Table, *, label: str, value: str, title: str) -> Chart:
    """One upright stroke per row on a logarithmic axis, a line of them per label; 0 is left out."""
    rows = [row for row in table.to_pylist() if (row[value] or 0) > 0]
    if not rows:
        return None
    shown = _labels(list(dict.fromkeys(row[label] for row in rows)))
    data = [{"label": shown[row[label]], "value": row[value]} for row in rows]
    return _dressed(
        alt.Chart(_data(data))
        .mark_tick(thickness=1.4, size=22, color=STROKES[0], opacity=0.7)
        .encode(
            x=alt.X("value:Q", title=title, scale=alt.Scale(type="log"), axis=_log_axis()),
            y=alt.Y("label:N", sort=list(shown.values()), title=None, axis=_label_axis()),
        ),
        height=alt.Step(2 * BAR_STEP),
    )


def draw_steps(
    table: pa.Table,
    *,
    x: str,
    values: Sequence[str],
    x_title: str,
    y_title: str,
    line: float,
    is_log: bool = False,
) -> Chart:
    """Several figures over a limit that moves, with a dashed upright where the limit usually is."""
    rows = table.to_pylist()
    data = [{"x": row[x], "y": row[one], "what": one} for one in values for row in rows]
    if not any(row["y"] for row in data):
        return None
    scale = alt.Scale(type="log") if is_log else alt.Scale(zero=False)
    axis = _log_axis() if is_log else alt.Axis(format=".2f")
    lines = (
        alt.Chart(_data(data))
        .mark_line(point=alt.OverlayMarkDef(size=30), strokeWidth=1.6)
        .encode(
            x=alt.X("x:Q", title=x_title, scale=scale, axis=axis),
            y=alt.Y("y:Q", title=y_title, axis=_count_axis()),
            color=_greys("what", values),
            strokeDash=_dashes("what", values),
            shape=_shapes("what", values),
        )
    )
    return _dressed(alt.layer(lines, *_uprights([line])))


def _dressed(chart: Any, *, height: Any = HEIGHT) -> alt.TopLevelMixin:
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


def _uprights(lines: Sequence[float]) -> list[Any]:
    return [
        alt.Chart(_data([{"x": line}]))
        .mark_rule(strokeDash=[5, 3], color="#111111", strokeWidth=1.2)
        .encode(x="x:Q")
        for line in lines
    ]


def _time(name: str, moments: Iterable[Any]) -> alt.X:
    """A time axis in UTC that always tells the year, or the hour where it is about hours."""
    known = sorted(_plain(moment) for moment in moments if moment is not None)
    days = (date.fromisoformat(known[-1][:10]) - date.fromisoformat(known[0][:10])).days
    told = next(form for most, form in _TIME_FORMS if days <= most)
    axis = alt.Axis(
        format=told, labelOverlap="greedy", tickCount=7, labelAngle=0, labelSeparation=8
    )
    scale = alt.Scale(type="utc", padding=12)
    return alt.X(f"{name}:T", title=None, scale=scale, axis=axis)


def _greys(by: str, names: Sequence[str]) -> alt.Color:
    scale = alt.Scale(domain=list(names), range=list(STROKES))
    return alt.Color(f"{by}:N", scale=scale, legend=_legend(names), title=None)


def _dashes(by: str, names: Sequence[str]) -> alt.StrokeDash:
    scale = alt.Scale(domain=list(names), range=list(DASHES))
    return alt.StrokeDash(f"{by}:N", scale=scale, legend=_legend(names), title=None)


def _shapes(by: str, names: Sequence[str]) -> alt.Shape:
    scale = alt.Scale(domain=list(names), range=list(SHAPES))
    return alt.Shape(f"{by}:N", scale=scale, legend=_legend(names), title=None)


def _legend(names: Sequence[str]) -> alt.Legend | None:
    """One name needs none: the caption says it."""
    return alt.Legend(title=None) if len(names) > 1 else None


def _label_axis() -> alt.Axis:
    return alt.Axis(labelLimit=260, labelOverlap=False)


def _count_axis() -> alt.Axis:
    return alt.Axis(format=",~r", tickMinStep=1)


def _log_axis() -> alt.Axis:
    return alt.Axis(format=",~s", labelOverlap="greedy")


def _format(table: pa.Table, name: str) -> str:
    return ",.0f" if pa.types.is_integer(table.schema.field(name).type) else ",~r"


def _has(table: pa.Table, name: str) -> bool:
    return bool(table.num_rows > 0) and bool(table.column(name).null_count < table.num_rows)


def _names(table: pa.Table, by: str) -> list[str]:
    return list(dict.fromkeys(str(value) for value in table.column(by).to_pylist()))


def _data(rows: list[dict[str, Any]]) -> alt.Data:
    return alt.Data(values=rows)  # type: ignore[no-untyped-call]  # the library's own


def _values(table: pa.Table, names: Sequence[str]) -> alt.Data:
    return _data([{name: _plain(row[name]) for name in names} for row in table.to_pylist()])


def _plain(value: Any) -> Any:
    return value.isoformat() if hasattr(value, "isoformat") else value


def _span(table: pa.Table, x: str) -> int:
    """Days or months between first and last, whichever the steps are."""
    days = sorted(value for value in table.column(x).to_pylist() if value is not None)
    steps = [(b - a).days for a, b in pairwise(days) if b > a]
    return 1 + (days[-1] - days[0]).days // min(steps, default=1) if steps else 1


def _labels(names: Sequence[object]) -> dict[object, str]:
    """Short labels; those that would be equal are told apart by their place."""
    cut = {one: _cut(str(one if one is not None else "(unknown)")) for one in names}
    often = Counter(cut.values())
    return {
        one: f"{number}. {cut[one]}" if often[cut[one]] > 1 else cut[one]
        for number, one in enumerate(names, start=1)
    }


def _cut(text: str) -> str:
    return text if len(text) <= LABEL_CHARS else f"{text[: LABEL_CHARS - 1]}…"
