"""The plots of reports: the colours of the palette, and dash and shape besides colour.

Arrow tables in, Vega-Lite charts out; None if there is nothing to draw. An unknown value is a gap
in a line or a missing bar, never 0. Times are UTC. Axes and legends have the words of the texts.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from itertools import pairwise

import altair as alt
import pyarrow as pa

from pipelines.documents.html_pages import plain_text
from pipelines.documents.palette import MUTED, SERIES
from pipelines.reports.figures.headlines import Headline
from pipelines.reports.figures.plot_style import (
    WIDTH,
    count_axis,
    label_axis,
    log_axis,
    styled,
    to_colours,
    to_dashes,
    to_data,
    to_legend,
    to_plain,
    to_shapes,
    to_time_axis,
    vertical_rules,
)
from pipelines.reports.texts import ReportTexts

BAR_STEP = 24
MOST_BARS = 12
MOST_LINES = len(SERIES)
MOST_POINTS = 2000
LABEL_CHARS = 40
LEAST_EDGED = 4.0
"""Columns narrower than this are drawn without edges, which would cover them [pixels]."""
RANK_TICKS = (1, 10, 20, 30, 40, 50, 75, 100, 150, 200, 300, 400, 500)

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
        observations = {(row[by], row[x]) for row in table.to_pylist() if row[y] is not None}
        if len(observations) == len({name for name, _ in observations}):
            return None
        named = list(dict.fromkeys(row[by] for row in table.to_pylist() if row[y] is not None))
        drawn = named[:MOST_LINES]
        known = {moment for name, moment in observations if name in drawn}
        rows = [
            {"x": to_plain(row[x]), "y": row[y], "part": self._shown(by, row[by])}
            for row in table.to_pylist()
            if row[by] in drawn
        ]
        names = list(dict.fromkeys(row["part"] for row in rows))
        cut = self._texts.text("plots.first", count=MOST_LINES, total=len(named))
        places = alt.Axis(values=list(RANK_TICKS), format="d")
        scale = (
            alt.Scale(reverse=True, domainMin=1, nice=False)
            if is_reversed
            else alt.Scale(zero=False)
        )
        axis = places if is_reversed else alt.Axis(format=_format(table, y))
        return styled(
            alt.Chart(to_data(rows), title=cut if len(named) > MOST_LINES else "")
            .mark_line(point=alt.OverlayMarkDef(size=44, filled=True), strokeWidth=2.2)
            .encode(
                x=to_time_axis("x", known),
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
        rows = table.to_pylist()
        keys = [number if by is None else row[label] for number, row in enumerate(rows)]
        names = {key: row[label] for key, row in zip(keys, rows, strict=True)}
        chosen = list(names)[:MOST_BARS]
        shown = self._labels(label, {key: names[key] for key in chosen})
        first = set(chosen if headline is None else chosen[: headline.values.get("count")])
        data = [
            {
                "label": shown[key],
                "value": row[value],
                "part": "" if by is None else self._shown(by, row[by]),
                "is_first": key in first,
            }
            for key, row in zip(keys, rows, strict=True)
            if key in shown and row[value] is not None
        ]
        return styled(
            alt.Chart(to_data(data))
            .mark_bar(cornerRadiusEnd=2)
            .encode(
                y=alt.Y("label:N", sort=list(shown.values()), title=None, axis=label_axis()),
                x=alt.X("value:Q", title=self._texts.heading(value), axis=_axis(table, value)),
                color=_fill(data, self._texts.ordered(by)),
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
        cut = [_cut(plain_text(row[label])) for row in rows]
        data = [
            {
                "label": f"{number}. {name}" if cut.count(name) > 1 else name,
                "at": to_plain(row[at]),
                "since": to_plain(row[since]),
                "part": self._shown(by, row[by]),
            }
            for number, (name, row) in enumerate(zip(cut, rows, strict=True), start=1)
        ]
        names = list(dict.fromkeys(str(row["part"]) for row in data))
        x_axis = to_time_axis("at", [row[at] for row in rows])
        order = [row["label"] for row in data]
        y_axis = alt.Y("label:N", sort=order, title=None, axis=label_axis())
        copied = to_data([row for row in data if row["since"] is not None])
        lines = alt.Chart(copied).mark_rule(color=MUTED).encode(x=x_axis, x2="since:T", y=y_axis)
        marks = alt.Chart(to_data(data)).mark_point(size=70, filled=True, opacity=1)
        marks = marks.encode(
            x=x_axis, y=y_axis, shape=to_shapes("part", names), color=to_colours("part", names)
        )
        return styled(alt.layer(lines, marks), height=alt.Step(BAR_STEP))

    def columns(self, table: pa.Table, *, x: str, value: str) -> Plot:
        """Draw a column per day or month."""
        if not _has(table, value):
            return None
        width = max(1.5, min(26.0, 0.7 * WIDTH / _span(table, x)))
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
        stems = alt.Chart(data).mark_bar(size=1.4, color=MUTED).encode(x=x_axis, y=y_axis)
        heads = alt.Chart(data).mark_point(size=44, color=SERIES[0], filled=True, opacity=1)
        return styled(alt.layer(stems, heads.encode(x=x_axis, y=y_axis)))

    def points(self, table: pa.Table, *, x: str, y: str, by: str, lines: Sequence[float]) -> Plot:
        """Draw a marker per row, shaped by `by`, with a dashed rule at each x of `lines`.

        Of more than `MOST_POINTS` rows only every n-th is drawn, which the title states.
        """
        if not _has(table, x) or not _has(table, y):
            return None
        step = -(-table.num_rows // MOST_POINTS)
        drawn = table.take(list(range(0, table.num_rows, step))).to_pylist()
        thinned = self._texts.text("plots.thinned", step=step, total=table.num_rows)
        rows = [{"x": row[x], "y": row[y], "part": self._shown(by, row[by])} for row in drawn]
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
        shown = self._labels(label, {row[label]: row[label] for row in rows})
        data = [{"label": shown[row[label]], "value": row[value]} for row in rows]
        title = self._texts.heading(f"{value}_of_a_video")
        return styled(
            alt.Chart(to_data(data))
            .mark_tick(thickness=1.8, size=26, color=SERIES[0], opacity=0.75)
            .encode(
                x=alt.X("value:Q", title=title, scale=alt.Scale(type="log"), axis=log_axis()),
                y=alt.Y("label:N", sort=list(shown.values()), title=None, axis=label_axis()),
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
        names = [self._texts.heading(one) for one in values]
        data = [
            {"x": row[x], "y": row[one], "part": name}
            for one, name in zip(values, names, strict=True)
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

    def _shown(self, column: str, value: object) -> str:
        if value is None:
            return self._texts.text("plots.unknown")
        return plain_text(self._texts.code(column, value))

    def _labels(self, column: str, names: Mapping[object, object]) -> dict[object, str]:
        """Return short labels by the keys of the names; a number distinguishes equal ones."""
        cut = {key: _cut(self._shown(column, one)) for key, one in names.items()}
        often = Counter(cut.values())
        return {
            key: f"{number}. {one}" if often[one] > 1 else one
            for number, (key, one) in enumerate(cut.items(), start=1)
        }


def _fill(data: Sequence[dict[str, object]], order: Sequence[str] | None) -> alt.Color:
    """Colour the first bars, or the parts of bars: a code has its colour in every chart."""
    if order is None:
        scale = alt.Scale(domain=[True, False], range=[SERIES[0], MUTED])
        return alt.Color("is_first:N", scale=scale, legend=None)
    known = {str(row["part"]) for row in data}
    parts = [*(part for part in order if part in known), *sorted(known - set(order))]
    scale = alt.Scale(domain=parts, range=list(SERIES))
    return alt.Color("part:N", scale=scale, legend=to_legend(parts), title=None)


def _format(table: pa.Table, name: str) -> str:
    return ",.0f" if pa.types.is_integer(table.schema.field(name).type) else ",~r"


def _axis(table: pa.Table, name: str) -> alt.Axis:
    if name.endswith("_share"):
        return alt.Axis(format=".0%", tickCount=6)
    whole = pa.types.is_integer(table.schema.field(name).type)
    return count_axis() if whole else alt.Axis(format=",~r")


def _has(table: pa.Table, name: str) -> bool:
    return bool(table.num_rows > 0) and bool(table.column(name).null_count < table.num_rows)


def _span(table: pa.Table, x: str) -> int:
    """Return the number of steps (days or months) between first and last."""
    days = sorted(value for value in table.column(x).to_pylist() if value is not None)
    steps = [(b - a).days for a, b in pairwise(days) if b > a]
    return 1 + (days[-1] - days[0]).days // min(steps, default=1) if steps else 1


def _cut(text: str) -> str:
    return text if len(text) <= LABEL_CHARS else f"{text[: LABEL_CHARS - 1]}…"
