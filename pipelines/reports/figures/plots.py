"""Plots for screen and print: greys, distinguished by dash, shape and pattern, never by colour.

Arrow tables in, Vega-Lite charts out; None if there is nothing to draw. An unknown value is a gap
in a line or a missing bar, never 0. Times are UTC.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import date
from itertools import pairwise

import altair as alt
import pyarrow as pa

from pipelines.reports.figures.print_style import (
    FILLS,
    STROKES,
    WIDTH,
    count_axis,
    label_axis,
    log_axis,
    styled,
    to_dashes,
    to_data,
    to_greys,
    to_legend,
    to_plain,
    to_shapes,
    to_time_axis,
    vertical_rules,
)

BAR_STEP = 19
MOST_BARS = 20
MOST_POINTS = 2000
LABEL_CHARS = 34
LEAST_EDGED = 4.0
"""Columns narrower than this are drawn without edges, which would cover them [pixels]."""
RANK_TICKS = (1, 10, 20, 30, 40, 50, 75, 100, 150, 200, 300, 400, 500)

type Plot = alt.TopLevelMixin | None


def draw_lines(
    table: pa.Table, *, x: str, y: str, by: str, y_title: str, is_reversed: bool = False
) -> Plot:
    """Draw one line with markers per `by`; a null breaks it. `is_reversed` puts rank 1 on top.

    None also if each line has one point only: one observation shows no growth.
    """
    observations = {(row[by], row[x]) for row in table.to_pylist() if row[y] is not None}
    if len(observations) == len({name for name, _ in observations}):
        return None
    known = {moment for _, moment in observations}
    names = _names(table, by)
    places = alt.Axis(values=list(RANK_TICKS), format="d")
    scale = (
        alt.Scale(reverse=True, domainMin=1, nice=False) if is_reversed else alt.Scale(zero=False)
    )
    axis = places if is_reversed else alt.Axis(format=_format(table, y))
    return styled(
        alt.Chart(_values(table, [x, y, by]))
        .mark_line(point=alt.OverlayMarkDef(size=36, filled=True), strokeWidth=1.6)
        .encode(
            x=to_time_axis(x, known),
            y=alt.Y(f"{y}:Q", title=y_title, scale=scale, axis=axis),
            color=to_greys(by, names),
            strokeDash=to_dashes(by, names),
            shape=to_shapes(by, names),
        )
    )


def draw_song_likes(curve: pa.Table, *, entered: date) -> Plot:
    """Draw the likes of a track's videos over time, with a rule at the song's chart entry.

    None if there is one observation only, which shows no growth.
    """
    rows = curve.to_pylist()
    if len(rows) < 2:  # noqa: PLR2004 -- two observations
        return None
    data = to_data([{"x": to_plain(row["observed_at"]), "y": row["digg_count"]} for row in rows])
    x_axis = to_time_axis("x", [*(row["observed_at"] for row in rows), entered])
    likes = alt.Chart(data).mark_line(
        point=alt.OverlayMarkDef(size=36, color=STROKES[0]), color=STROKES[0]
    )
    entry = alt.Chart(to_data([{"x": f"{entered}T00:00:00+00:00"}]))
    return styled(
        alt.layer(
            likes.encode(x=x_axis, y=alt.Y("y:Q", title="likes of observed videos")),
            entry.mark_rule(strokeDash=[5, 3], color=STROKES[0]).encode(x="x:T"),
        )
    )


def draw_bars(
    table: pa.Table, *, label: str, value: str, title: str, by: str | None = None
) -> Plot:
    """Draw a bar per label in table order, at most `MOST_BARS`, stacked by `by`."""
    if not _has(table, value):
        return None
    chosen = list(dict.fromkeys(table.column(label).to_pylist()))[:MOST_BARS]
    rows = [row for row in table.to_pylist() if row[label] in chosen and row[value] is not None]
    shown = _labels(chosen)
    data = [
        {"label": shown[row[label]], "value": row[value], "part": "" if by is None else row[by]}
        for row in rows
    ]
    chart = alt.Chart(to_data(data)).mark_bar(stroke="#111111", strokeWidth=0.6)
    parts = sorted({row["part"] for row in data})
    fill = (
        alt.value(FILLS[2])
        if by is None
        else alt.Color(
            "part:N",
            scale=alt.Scale(domain=parts, range=list(FILLS)),
            legend=to_legend(parts),
            title=None,
        )
    )
    encoded = chart.encode(
        y=alt.Y("label:N", sort=list(shown.values()), title=None, axis=label_axis()),
        x=alt.X("value:Q", title=title, axis=_axis(table, value)),
        color=fill,
    )
    return styled(encoded, height=alt.Step(BAR_STEP))


def draw_columns(table: pa.Table, *, x: str, value: str, title: str) -> Plot:
    """Draw a column per day or month."""
    if not _has(table, value):
        return None
    width = max(1.5, min(18.0, 0.7 * WIDTH / _span(table, x)))
    edge = 0.5 if width >= LEAST_EDGED else 0.0
    return styled(
        alt.Chart(_values(table, [x, value]))
        .mark_bar(size=width, color=FILLS[2], stroke="#111111", strokeWidth=edge)
        .encode(
            x=to_time_axis(x, table.column(x).to_pylist()),
            y=alt.Y(f"{value}:Q", title=title, axis=count_axis()),
        )
    )


def draw_stems(table: pa.Table, *, x: str, y: str, y_title: str) -> Plot:
    """Draw a stem with a marker for every row with a time and a count."""
    if not _has(table, x) or not _has(table, y):
        return None
    rows = [row for row in table.to_pylist() if row[x] is not None and row[y] is not None]
    data = to_data([{"x": to_plain(row[x]), "y": row[y]} for row in rows])
    y_axis = alt.Y("y:Q", title=y_title, axis=count_axis())
    x_axis = to_time_axis("x", [row[x] for row in rows])
    stems = alt.Chart(data).mark_bar(size=1.2, color=FILLS[2]).encode(x=x_axis, y=y_axis)
    heads = alt.Chart(data).mark_point(size=30, color=STROKES[0], filled=True)
    return styled(alt.layer(stems, heads.encode(x=x_axis, y=y_axis)))


def draw_points(
    table: pa.Table, *, x: str, y: str, by: str, x_title: str, y_title: str, lines: Sequence[float]
) -> Plot:
    """Draw a marker per row, shaped by `by`, with a dashed rule at each x of `lines`.

    Of more than `MOST_POINTS` rows only every n-th is drawn, which the title states.
    """
    if not _has(table, x) or not _has(table, y):
        return None
    names = _names(table, by)
    step = -(-table.num_rows // MOST_POINTS)
    drawn = table.take(list(range(0, table.num_rows, step)))
    note = f"1 of {step} drawn, of {table.num_rows:,}" if step > 1 else ""
    points = (
        alt.Chart(_values(drawn, [x, y, by]), title=note)
        .mark_point(size=34, strokeWidth=1.1, opacity=0.85)
        .encode(
            x=alt.X(f"{x}:Q", title=x_title),
            y=alt.Y(f"{y}:Q", title=y_title),
            shape=to_shapes(by, names),
            color=to_greys(by, names),
        )
    )
    return styled(alt.layer(points, *vertical_rules(lines)))


def draw_spread(table: pa.Table, *, label: str, value: str, title: str) -> Plot:
    """Draw a tick per row on a logarithmic axis, one line per label; 0 is omitted."""
    rows = [row for row in table.to_pylist() if (row[value] or 0) > 0]
    if not rows:
        return None
    shown = _labels(list(dict.fromkeys(row[label] for row in rows)))
    data = [{"label": shown[row[label]], "value": row[value]} for row in rows]
    return styled(
        alt.Chart(to_data(data))
        .mark_tick(thickness=1.4, size=22, color=STROKES[0], opacity=0.7)
        .encode(
            x=alt.X("value:Q", title=title, scale=alt.Scale(type="log"), axis=log_axis()),
            y=alt.Y("label:N", sort=list(shown.values()), title=None, axis=label_axis()),
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
) -> Plot:
    """Draw several values over a varied limit, with a dashed rule at the limit in use."""
    rows = table.to_pylist()
    data = [{"x": row[x], "y": row[one], "what": one} for one in values for row in rows]
    if not any(row["y"] for row in data):
        return None
    scale = alt.Scale(type="log") if is_log else alt.Scale(zero=False)
    axis = log_axis() if is_log else alt.Axis(format=".2f")
    lines = (
        alt.Chart(to_data(data))
        .mark_line(point=alt.OverlayMarkDef(size=30), strokeWidth=1.6)
        .encode(
            x=alt.X("x:Q", title=x_title, scale=scale, axis=axis),
            y=alt.Y("y:Q", title=y_title, axis=count_axis()),
            color=to_greys("what", values),
            strokeDash=to_dashes("what", values),
            shape=to_shapes("what", values),
        )
    )
    return styled(alt.layer(lines, *vertical_rules([line])))


def _format(table: pa.Table, name: str) -> str:
    return ",.0f" if pa.types.is_integer(table.schema.field(name).type) else ",~r"


def _axis(table: pa.Table, name: str) -> alt.Axis:
    whole = pa.types.is_integer(table.schema.field(name).type)
    return count_axis() if whole else alt.Axis(format=",~r")


def _has(table: pa.Table, name: str) -> bool:
    return bool(table.num_rows > 0) and bool(table.column(name).null_count < table.num_rows)


def _names(table: pa.Table, by: str) -> list[str]:
    return list(dict.fromkeys(str(value) for value in table.column(by).to_pylist()))


def _values(table: pa.Table, names: Sequence[str]) -> alt.Data:
    return to_data([{name: to_plain(row[name]) for name in names} for row in table.to_pylist()])


def _span(table: pa.Table, x: str) -> int:
    """Return the number of steps (days or months) between first and last."""
    days = sorted(value for value in table.column(x).to_pylist() if value is not None)
    steps = [(b - a).days for a, b in pairwise(days) if b > a]
    return 1 + (days[-1] - days[0]).days // min(steps, default=1) if steps else 1


def _labels(names: Sequence[object]) -> dict[object, str]:
    """Return short labels; a number distinguishes equal ones."""
    cut = {one: _cut(str(one if one is not None else "(unknown)")) for one in names}
    often = Counter(cut.values())
    return {
        one: f"{number}. {cut[one]}" if often[cut[one]] > 1 else cut[one]
        for number, one in enumerate(names, start=1)
    }


def _cut(text: str) -> str:
    return text if len(text) <= LABEL_CHARS else f"{text[: LABEL_CHARS - 1]}…"
