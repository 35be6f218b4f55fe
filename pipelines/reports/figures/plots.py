"""The plots of reports, and their style: the colours of the palette, dash and shape besides colour.

Arrow tables in, Vega-Lite charts out; None if there is nothing to draw. An unknown value is a gap
in a line or a missing bar, never 0. Times are UTC. Axes and legends have the words of the texts.
Not here: the colours themselves (`pipelines/documents/palette.py`).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from itertools import pairwise

import altair as alt
import pyarrow as pa

from pipelines.documents.html_pages import plain_text
from pipelines.documents.palette import LIGHT, SERIES
from pipelines.reports.figures.headlines import Headline
from pipelines.reports.texts import ReportTexts
from warehouse.records.values import Row

WIDTH, HEIGHT = 660, 270
BAR_STEP = 24
MOST_BARS = 12
MOST_LINES = len(SERIES)
MOST_POINTS = 2000
MOST_MONTHS = 24
"""Of more months, not each has a label."""
FEW_DAYS = 3
"""So few days have a label each, and nothing between them has one."""
LABEL_CHARS = 40
LEAST_EDGED = 4.0
"""Columns narrower than this are drawn without edges, which would cover them [pixels]."""
RANK_TICKS = (1, 10, 20, 30, 40, 50, 75, 100, 150, 200, 300, 400, 500)
DASHES = ([1, 0], [6, 3], [2, 2], [10, 3, 2, 3], [4, 6], [12, 4])
SHAPES = ("circle", "square", "triangle-up", "cross", "diamond", "triangle-down")
# The label format of a time axis by the most days that it spans.
_TIME_FORMATS = ((3, "%m-%d %H:%M"), (150, "%Y-%m-%d"), (10**6, "%Y-%m"))
# The page's own fonts replace it (`design.css`). A font of Chinese characters in this list would be
# loaded anew for each text that is measured, which takes five times as long for equal widths.
_FONT = "'Noto Sans', sans-serif"

type Plot = alt.TopLevelMixin | None


class ReportPlots:
    """Draws plots with the words of one language."""

    def __init__(self, texts: ReportTexts) -> None:
        self._texts = texts

    def lines(self, table: pa.Table, *, x: str, y: str, by: str, is_reversed: bool = False) -> Plot:
        """Draw one line with markers per `by`; a null breaks it. `is_reversed` puts rank 1 on top.

        None also if each line has one point only: one observation shows no growth. Of more names
        than there are colours and dashes only the first are drawn, which the title states.
        """
        # As many names as observations: no line has two points.
        observations = {(row[by], row[x]) for row in table.to_pylist() if row[y] is not None}
        if len(observations) == len({name for name, _ in observations}):
            return None
        named = list(dict.fromkeys(row[by] for row in table.to_pylist() if row[y] is not None))
        drawn = named[:MOST_LINES]
        times = {time for name, time in observations if name in drawn}
        rows = [
            {"x": to_plain(row[x]), "y": row[y], "part": self._label(by, row[by])}
            for row in table.to_pylist()
            if row[by] in drawn
        ]
        names = list(dict.fromkeys(row["part"] for row in rows))
        cut = self._texts.text("plots.first", count=MOST_LINES, total=len(named))
        if is_reversed:
            scale = alt.Scale(reverse=True, domainMin=1, nice=False)
            axis = alt.Axis(values=list(RANK_TICKS), format="d")
        else:
            scale = alt.Scale(zero=False)
            axis = alt.Axis(format=",.0f" if _is_whole(table, y) else ",~r")
        return styled(
            alt.Chart(to_data(rows), title=cut if len(named) > MOST_LINES else "")
            .mark_line(point=alt.OverlayMarkDef(size=44, filled=True), strokeWidth=2.2)
            .encode(
                x=to_time_axis("x", times),
                y=alt.Y("y:Q", title=self._texts.heading(y), scale=scale, axis=axis),
                color=to_colours("part", names),
                strokeDash=to_dashes("part", names),
                shape=to_shapes("part", names),
            )
        )

    def song_likes(self, curve: pa.Table, *, entered: date) -> Plot:
        """Draw the likes that a track's videos gained, with a rule at the song's chart entry.

        None if no video was observed twice, which shows no growth.
        """
        # The growth is unknown until a video is observed for the second time.
        rows = [row for row in curve.to_pylist() if row["gained_likes"] is not None]
        if not rows:
            return None
        data = to_data(
            [{"x": to_plain(row["observed_at"]), "y": row["gained_likes"]} for row in rows]
        )
        x_axis = to_time_axis("x", [*(row["observed_at"] for row in rows), entered])
        likes = alt.Chart(data).mark_line(
            point=alt.OverlayMarkDef(size=44, color=SERIES[0]), color=SERIES[0], strokeWidth=2.2
        )
        entry = alt.Chart(to_data([{"x": f"{entered}T00:00:00+00:00"}]))
        title = self._texts.heading("gained_likes")
        return styled(
            alt.layer(
                likes.encode(x=x_axis, y=alt.Y("y:Q", title=title)),
                entry.mark_rule(strokeDash=[5, 3], color=SERIES[1]).encode(x="x:T"),
            )
        )

    def bars(
        self,
        table: pa.Table,
        *,
        label: str,
        value: str,
        by: str | None = None,
        headline: Headline | None = None,
    ) -> Plot:
        """Draw a bar per row in table order, or with `by` per label, stacked by it.

        At most `MOST_BARS`. A headline about the first bars makes the others paler.
        """
        if not _has(table, value):
            return None
        # Without `by` each row is a bar, whose key is its number; else rows of one label are a bar.
        rows = table.to_pylist()
        keys = [number if by is None else row[label] for number, row in enumerate(rows)]
        names = {key: row[label] for key, row in zip(keys, rows, strict=True)}
        chosen = list(names)[:MOST_BARS]
        labels = self._labels(label, {key: names[key] for key in chosen})
        first = set(chosen if headline is None else chosen[: headline.values.get("count")])
        data = [
            {
                "label": labels[key],
                "value": row[value],
                "part": "" if by is None else self._label(by, row[by]),
                "is_first": key in first,
            }
            for key, row in zip(keys, rows, strict=True)
            if key in labels and row[value] is not None
        ]
        if value.endswith("_share"):
            axis = alt.Axis(format=".0%", tickCount=6)
        else:
            axis = count_axis() if _is_whole(table, value) else alt.Axis(format=",~r")
        return styled(
            alt.Chart(to_data(data))
            .mark_bar(cornerRadiusEnd=2)
            .encode(
                y=alt.Y("label:N", sort=list(labels.values()), title=None, axis=label_axis()),
                x=alt.X("value:Q", title=self._texts.heading(value), axis=axis),
                color=_bar_colours(data, self._texts.ordered(by)),
            ),
            height=alt.Step(BAR_STEP),
        )

    def births(self, table: pa.Table, *, label: str, at: str, since: str, by: str) -> Plot:
        """Draw a mark per row at its birth, with a line back to the birth of what it copies.

        At most `MOST_BARS` rows in table order; one without a known birth is left out.
        """
        rows = [row for row in table.to_pylist() if row[at] is not None][:MOST_BARS]
        if not rows:
            return None
        # Equal labels would share one line of the plot, so a number distinguishes them.
        cut = [_cut(plain_text(row[label])) for row in rows]
        data = [
            {
                "label": f"{number}. {name}" if cut.count(name) > 1 else name,
                "at": to_plain(row[at]),
                "since": to_plain(row[since]),
                "part": self._label(by, row[by]),
            }
            for number, (name, row) in enumerate(zip(cut, rows, strict=True), start=1)
        ]
        # A line leads from the birth of the copied sound to the mark of the copy.
        names = list(dict.fromkeys(str(row["part"]) for row in data))
        x_axis = to_time_axis("at", [row[at] for row in rows])
        order = [row["label"] for row in data]
        y_axis = alt.Y("label:N", sort=order, title=None, axis=label_axis())
        copied = to_data([row for row in data if row["since"] is not None])
        lines = (
            alt.Chart(copied)
            .mark_rule(color=LIGHT["muted"])
            .encode(x=x_axis, x2="since:T", y=y_axis)
        )
        marks = alt.Chart(to_data(data)).mark_point(size=70, filled=True, opacity=1)
        marks = marks.encode(
            x=x_axis, y=y_axis, shape=to_shapes("part", names), color=to_colours("part", names)
        )
        return styled(alt.layer(lines, marks), height=alt.Step(BAR_STEP))

    def columns(self, table: pa.Table, *, x: str, value: str) -> Plot:
        """Draw a column per day or month."""
        if not _has(table, value):
            return None
        # A column fills 70 % of the width of a step, which is the smallest distance of two rows.
        days = sorted(day for day in table.column(x).to_pylist() if day is not None)
        steps = [(later - day).days for day, later in pairwise(days) if later > day]
        count = 1 + (days[-1] - days[0]).days // min(steps) if steps else 1
        width = max(1.5, min(26.0, 0.7 * WIDTH / count))
        edge = 0.5 if width >= LEAST_EDGED else 0.0
        data = [{"x": to_plain(row[x]), "y": row[value]} for row in table.to_pylist()]
        return styled(
            alt.Chart(to_data(data))
            .mark_bar(size=width, color=SERIES[0], stroke="white", strokeWidth=edge)
            .encode(
                x=to_time_axis("x", table.column(x).to_pylist()),
                y=alt.Y("y:Q", title=self._texts.heading(value), axis=count_axis()),
            )
        )

    def stems(self, table: pa.Table, *, x: str, y: str) -> Plot:
        """Draw a stem with a marker for every row with a time and a count."""
        if not _has(table, x) or not _has(table, y):
            return None
        rows = [row for row in table.to_pylist() if row[x] is not None and row[y] is not None]
        data = to_data([{"x": to_plain(row[x]), "y": row[y]} for row in rows])
        y_axis = alt.Y("y:Q", title=self._texts.heading(y), axis=count_axis())
        x_axis = to_time_axis("x", [row[x] for row in rows])
        stems = alt.Chart(data).mark_bar(size=1.4, color=LIGHT["muted"]).encode(x=x_axis, y=y_axis)
        heads = alt.Chart(data).mark_point(size=44, color=SERIES[0], filled=True, opacity=1)
        return styled(alt.layer(stems, heads.encode(x=x_axis, y=y_axis)))

    def points(self, table: pa.Table, *, x: str, y: str, by: str, lines: Sequence[float]) -> Plot:
        """Draw a marker per row, shaped by `by`, with a dashed rule at each x of `lines`.

        Of more than `MOST_POINTS` rows only every n-th is drawn, which the title states.
        """
        if not _has(table, x) or not _has(table, y):
            return None
        step = -(-table.num_rows // MOST_POINTS)  # rounded up
        drawn = table.take(list(range(0, table.num_rows, step))).to_pylist()
        thinned = self._texts.text("plots.thinned", step=step, total=table.num_rows)
        rows = [{"x": row[x], "y": row[y], "part": self._label(by, row[by])} for row in drawn]
        names = list(dict.fromkeys(row["part"] for row in rows))
        points = (
            alt.Chart(to_data(rows), title=thinned if step > 1 else "")
            .mark_point(size=46, strokeWidth=1.4, opacity=0.9)
            .encode(
                x=alt.X("x:Q", title=self._texts.heading(x), axis=alt.Axis(tickCount=8)),
                y=alt.Y("y:Q", title=self._texts.heading(y)),
                shape=to_shapes("part", names),
                color=to_colours("part", names),
            )
        )
        return styled(alt.layer(points, *vertical_rules(lines)))

    def spread(self, table: pa.Table, *, label: str, value: str) -> Plot:
        """Draw a tick per row on a logarithmic axis, one line per label; 0 is omitted."""
        rows = [row for row in table.to_pylist() if (row[value] or 0) > 0]
        if not rows:
            return None
        labels = self._labels(label, {row[label]: row[label] for row in rows})
        data = [{"label": labels[row[label]], "value": row[value]} for row in rows]
        title = self._texts.heading(f"{value}_of_a_video")
        return styled(
            alt.Chart(to_data(data))
            .mark_tick(thickness=1.8, size=26, color=SERIES[0], opacity=0.75)
            .encode(
                x=alt.X("value:Q", title=title, scale=alt.Scale(type="log"), axis=log_axis()),
                y=alt.Y("label:N", sort=list(labels.values()), title=None, axis=label_axis()),
            ),
            height=alt.Step(2 * BAR_STEP),
        )

    def steps(
        self,
        table: pa.Table,
        *,
        x: str,
        values: Sequence[str],
        line: float,
        titles: tuple[str, str],
        is_log: bool = False,
    ) -> Plot:
        """Draw several values over a varied limit, with a dashed rule at the limit in use.

        `titles` are the headings of both axes.
        """
        names = [self._texts.heading(value) for value in values]
        data = [
            {"x": row[x], "y": row[value], "part": name}
            for value, name in zip(values, names, strict=True)
            for row in table.to_pylist()
        ]
        if not any(row["y"] for row in data):
            return None
        scale = alt.Scale(type="log") if is_log else alt.Scale(zero=False)
        axis = log_axis() if is_log else alt.Axis(format=".2f")
        x_title, y_title = map(self._texts.heading, titles)
        lines = (
            alt.Chart(to_data(data))
            .mark_line(point=alt.OverlayMarkDef(size=36), strokeWidth=2)
            .encode(
                x=alt.X("x:Q", title=x_title, scale=scale, axis=axis),
                y=alt.Y("y:Q", title=y_title, axis=count_axis()),
                color=to_colours("part", names),
                strokeDash=to_dashes("part", names),
                shape=to_shapes("part", names),
            )
        )
        return styled(alt.layer(lines, *vertical_rules([line])))

    def _label(self, column: str, value: object) -> str:
        if value is None:
            return self._texts.text("plots.unknown")
        return plain_text(self._texts.code(column, value))

    def _labels(self, column: str, names: Mapping[object, object]) -> dict[object, str]:
        """Return short labels by the keys of the names; a number distinguishes equal ones."""
        cut = {key: _cut(self._label(column, name)) for key, name in names.items()}
        counts = Counter(cut.values())
        return {
            key: f"{number}. {label}" if counts[label] > 1 else label
            for number, (key, label) in enumerate(cut.items(), start=1)
        }


def _bar_colours(data: Sequence[dict[str, object]], order: Sequence[str] | None) -> alt.Color:
    """Colour the first bars, or the parts of bars: a code has its colour in every chart."""
    if order is None:
        scale = alt.Scale(domain=[True, False], range=[SERIES[0], LIGHT["muted"]])
        return alt.Color("is_first:N", scale=scale, legend=None)
    names = {str(row["part"]) for row in data}
    parts = [*(part for part in order if part in names), *sorted(names - set(order))]
    scale = alt.Scale(domain=parts, range=list(SERIES))
    return alt.Color("part:N", scale=scale, legend=to_legend(parts), title=None)


def _is_whole(table: pa.Table, name: str) -> bool:
    return bool(pa.types.is_integer(table.schema.field(name).type))


def _has(table: pa.Table, name: str) -> bool:
    """Whether a column has any value."""
    return bool(table.num_rows > 0) and bool(table.column(name).null_count < table.num_rows)


def _cut(text: str) -> str:
    return text if len(text) <= LABEL_CHARS else f"{text[: LABEL_CHARS - 1]}…"


def styled(
    chart: alt.Chart | alt.LayerChart | alt.FacetChart, *, height: int | alt.Step = HEIGHT
) -> alt.TopLevelMixin:
    """Apply size, fonts and axes to a plot."""
    plot: alt.TopLevelMixin = (
        chart.properties(width=WIDTH, height=height, background="white", padding=2)
        .configure(font=_FONT)
        .configure_axis(
            labelFontSize=12,
            titleFontSize=12,
            titleFontWeight="normal",
            gridColor=LIGHT["line"],
            gridOpacity=0.7,
            domainColor=LIGHT["soft"],
            tickColor=LIGHT["line"],
            labelColor=LIGHT["ink"],
            titleColor=LIGHT["soft"],
            labelLimit=260,
        )
        .configure_legend(
            labelFontSize=12,
            labelColor=LIGHT["ink"],
            labelLimit=320,
            orient="bottom",
            columns=3,
            direction="horizontal",
            symbolStrokeWidth=1.6,
            symbolSize=60,
        )
        .configure_view(stroke=None)
    )
    return plot


def vertical_rules(lines: Sequence[float]) -> list[alt.Chart]:
    """Return a dashed vertical rule at each value of x."""
    return [
        alt.Chart(to_data([{"x": line}]))
        .mark_rule(strokeDash=[5, 3], color=LIGHT["ink"], strokeWidth=1.2)
        .encode(x="x:Q")
        for line in lines
    ]


def to_time_axis(name: str, times: Iterable[datetime | date | str | None]) -> alt.X:
    """Return a UTC time axis whose labels have the year, or the hour for short spans."""
    texts = sorted({str(to_plain(time)) for time in times if time is not None})
    days = (date.fromisoformat(texts[-1][:10]) - date.fromisoformat(texts[0][:10])).days
    label_format = next(form for most, form in _TIME_FORMATS if days <= most)
    is_days = all(len(text) == len("2026-01-01") for text in texts)
    # Dates that are all the first of a month are months: no day of them is labelled.
    is_months = is_days and all(text.endswith("-01") for text in texts)
    if is_days and "%H" in label_format:
        label_format = "%Y-%m-%d"
    is_few = (is_months and len(texts) <= MOST_MONTHS) or (is_days and len(texts) <= FEW_DAYS)
    # Axes take milliseconds in UTC for values.
    moments = (datetime.fromisoformat(text).replace(tzinfo=UTC) for text in texts) if is_few else ()
    ticks = [int(moment.timestamp() * 1000) for moment in moments]
    axis = alt.Axis(
        format="%Y-%m" if is_months else label_format,
        values=ticks or alt.Undefined,
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
    """Return an axis with integer ticks only."""
    # `tickMinStep` alone allows halves on short axes, so these become invisible.
    opacity: Row = {"condition": {"test": "datum.value % 1", "value": 0}, "value": 1}
    return alt.Axis(
        format=",~r",
        tickMinStep=1,
        labelExpr="datum.value % 1 ? '' : datum.label",
        gridOpacity=opacity,
        tickOpacity=opacity,
    )


def log_axis() -> alt.Axis:
    return alt.Axis(format=",~s", labelOverlap="greedy")


def to_data(rows: list[Row]) -> alt.Data:
    return alt.Data(values=rows)  # type: ignore[no-untyped-call]  # the library's own


def to_plain[T](value: T | date) -> T | str:
    """Return a date or a time as text for the plot's JSON, other values as they are."""
    return value.isoformat() if isinstance(value, date) else value
