"""The plots of a track's page as inline SVG: counts on days, with bands, gaps and labels.

Points in, markup out; the words are those of `pipelines/documents/track_plots.py`. The console
draws the same lines in `parts/charts.js`. They differ in dash, so that they read in grey print.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from markupsafe import Markup

from api.services.report.svg import (
    BOTTOM,
    LABEL_STEP,
    PLOT_HEIGHT,
    RIGHT,
    TOP,
    WIDTH,
    Scale,
    both_languages,
    draw_svg,
    draw_text,
    draw_time_axis,
    draw_value_axis,
    linear_scale,
    ticks,
    time_scale,
)
from pipelines.documents.messages import Message
from pipelines.documents.track_plots import DayPlot, DayPoint

GAP_STEPS = 4
"""Observations further apart than this many times their median distance have a gap between them."""
MOST_MARKS = 300


def draw_days(plot: DayPlot, days: Sequence[str], *, is_from_zero: bool = False) -> Markup:
    """Draw the lines of a plot over the days, which plots above one another share.

    Args:
        plot: The lines; each has at least one point.
        days: The days that the time axis reaches.
        is_from_zero: Whether the axis of the values begins at 0.
    """
    bottom = PLOT_HEIGHT - BOTTOM
    x, axis_days = time_scale([_time(day) for day in days])
    least, most = _limits(plot, is_from_zero=is_from_zero)
    y = linear_scale(most, TOP, bottom, least=least)
    name = plot.lines[0].name if len(plot.lines) == 1 else Message("Videos", "作品数")
    parts = [
        draw_value_axis(y, ticks(most, least=least)),
        draw_text(2, TOP - 8, name, "name", "start"),
        draw_time_axis(x, axis_days, bottom),
    ]
    for number, line in enumerate(plot.lines, 1):
        for run in _unbroken(line.points):
            parts += _run(run, x, y, number)
    # The newest counts beside their points, moved apart where they would overlap.
    above = 0.0
    newest = [line.points[-1] for line in plot.lines]
    for point in sorted(newest, key=lambda point: -point.value):
        above = max(y(point.value) + 4, above + LABEL_STEP)
        words = Message(f"{point.value:,}", f"{point.value:,}")
        end = min(_x(x, point) + 8, WIDTH - RIGHT + 8)
        parts.append(draw_text(end, above, words, "label", "start"))
    return draw_svg(PLOT_HEIGHT, parts)


def draw_line_key(plot: DayPlot) -> Markup:
    """Draw the key of several lines."""
    if len(plot.lines) == 1:
        return Markup("")
    return Markup("").join(
        Markup(
            '<span class="key"><svg viewBox="0 0 24 12" width="24" height="12" aria-hidden="true">'
            '<path class="{}" d="M0 6H24"/></svg> {}</span>'
        ).format(_line_class(number), both_languages(line.name))
        for number, line in enumerate(plot.lines, 1)
    )


def _limits(plot: DayPlot, *, is_from_zero: bool) -> tuple[float, float]:
    """Return the least and the largest value of the axis: those of the points, with some room."""
    points = [point for line in plot.lines for point in line.points]
    most = max(_range(point)[1] for point in points)
    least = 0 if is_from_zero else min(_range(point)[0] for point in points)
    room = 0.08 * (most - least) or max(1, 0.05 * most)
    return max(0, least - room), most + room


def _unbroken(points: Sequence[DayPoint]) -> Iterator[Sequence[DayPoint]]:
    """Split the points of a line where days without an observation are a gap."""
    distances = [_time(later.day) - _time(day.day) for day, later in pairwise(points)]
    widest = GAP_STEPS * sorted(distances)[len(distances) // 2] if distances else timedelta.max
    start = 0
    for end, distance in enumerate(distances, 1):
        if distance > widest:
            yield points[start:end]
            start = end
    yield points[start:]


def _run(run: Sequence[DayPoint], x: Scale, y: Scale, number: int) -> list[Markup]:
    """Draw points that belong together: their band, their line and their marks."""
    parts = []
    ranges = [(_x(x, point), *_range(point)) for point in run]
    if len(run) > 1 and any(point.range for point in run):
        upper = [f"{at:.1f} {y(high):.1f}" for at, _, high in ranges]
        lower = [f"{at:.1f} {y(low):.1f}" for at, low, _ in reversed(ranges)]
        band = Markup('<path class="band series-{}" d="M{}z"/>')
        parts.append(band.format(number, "L".join([*upper, *lower])))
    elif run[0].range:
        at, low, high = ranges[0]
        bar = Markup('<path class="range series-{}" d="M{:.1f} {:.1f}V{:.1f}"/>')
        parts.append(bar.format(number, at, y(low), y(high)))
    corners = "L".join(f"{_x(x, point):.1f} {y(point.value):.1f}" for point in run)
    parts.append(Markup('<path class="{}" d="M{}"/>').format(_line_class(number), corners))
    if len(run) <= MOST_MARKS:
        mark = Markup('<circle class="point series-{}" cx="{:.1f}" cy="{:.1f}" r="3"/>')
        parts += [mark.format(number, _x(x, point), y(point.value)) for point in run]
    return parts


def _range(point: DayPoint) -> tuple[int, int]:
    return point.range or (point.value, point.value)


def _line_class(number: int) -> str:
    return f"line series-{number}{' dashed' if number > 1 else ''}"


def _x(x: Scale, point: DayPoint) -> float:
    return x(_time(point.day).timestamp())


def _time(day: str) -> datetime:
    return datetime.fromisoformat(day).replace(tzinfo=UTC)
