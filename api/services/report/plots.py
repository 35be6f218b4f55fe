"""The plots of a result as inline SVG: posts and likes over time, likes by publication, creators.

Points in, markup out; the words are those of `pipelines/documents/result_plots.py`. Lines and
marks have labels beside them and differ in shape, so that they read in grey print. All outside text
is escaped.
"""

import math
from datetime import datetime

from markupsafe import Markup

from api.services.report.svg import (
    BOTTOM,
    LABEL_STEP,
    LEFT,
    PLOT_HEIGHT,
    RIGHT,
    TOP,
    WIDTH,
    both_languages,
    draw_svg,
    draw_text,
    draw_time_axis,
    draw_value_axis,
    linear_scale,
    ticks,
    time_scale,
)
from pipelines.documents.html_pages import plain_text
from pipelines.documents.messages import LINKS, Message
from pipelines.documents.result_plots import AXES, CreatorPlot, LikesPlot, PublicationPlot

PANEL_HEIGHT = 150
LABEL_CHARS = 18
_SHAPES = {
    "exact_music_id": "M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0 -7.2 0z",
    "audio_fingerprint_match": "M-3.6 -3.6h7.2v7.2h-7.2z",
    "verified_music_id_graph": "M0 -4.6l4.8 8.2h-9.6z",
}


def draw_publication(plot: PublicationPlot) -> Markup:
    """Draw videos and their likes, cumulative, in two panels over one time axis."""
    points = plot["points"]
    if not points:
        return Markup("")
    times = [datetime.fromisoformat(point["published_at"]) for point in points]
    x, axis_days = time_scale(times)
    parts = []
    panels = (
        (AXES["videos"], [point["video_count"] for point in points], "series-1"),
        (AXES["likes"], [point["digg_count"] for point in points], "series-2"),
    )
    for number, (name, values, series) in enumerate(panels):
        top = TOP + number * (PANEL_HEIGHT + 14)
        bottom = top + PANEL_HEIGHT - BOTTOM
        y = linear_scale(values[-1], top, bottom)
        # A count holds until the next publication: the line has steps.
        path = f"M{x(times[0].timestamp()):.1f} {y(0):.1f}"
        for time, value in zip(times, values, strict=True):
            path += f"H{x(time.timestamp()):.1f}V{y(value):.1f}"
        parts += [
            draw_value_axis(y, ticks(values[-1])),
            draw_text(2, top - 8, name, "name", "start"),
            Markup('<path class="line {}" d="{}"/>').format(series, path),
            draw_text(
                WIDTH - RIGHT + 8,
                y(values[-1]) + 4,
                Message(f"{values[-1]:,}", f"{values[-1]:,}"),
                "label",
                "start",
            ),
            draw_time_axis(x, axis_days, bottom),
        ]
    return draw_svg(2 * PANEL_HEIGHT + TOP + 8, parts)


def draw_likes(plot: LikesPlot) -> Markup:
    """Draw a mark per video, likes on a logarithmic axis, the most liked with their accounts."""
    points = plot["points"]
    if not points:
        return Markup("")
    times = [datetime.fromisoformat(point["published_at"]) for point in points]
    x, axis_days = time_scale(times)
    threshold = plot["viral_threshold"]
    most = max(threshold, *(point["digg_count"] for point in points))
    least = min((point["digg_count"] for point in points if point["digg_count"]), default=1)
    low, high = math.floor(math.log10(least)), math.ceil(math.log10(max(10, most)) + 0.05)
    floor, bottom = PLOT_HEIGHT - BOTTOM - 16, PLOT_HEIGHT - BOTTOM

    def y(likes: float) -> float:
        """Return the place of a count; 0, which no logarithm has, is below the scale."""
        if likes <= 0:
            return bottom
        return floor - (math.log10(likes) - low) / (high - low) * (floor - TOP)

    parts = [
        draw_value_axis(
            y,
            [
                *(10**exponent for exponent in range(low, high + 1)),
                *([0] if any(point["digg_count"] == 0 for point in points) else []),
            ],
        ),
        draw_text(2, TOP - 8, AXES["likes"], "name", "start"),
        draw_time_axis(x, axis_days, bottom),
    ]
    if threshold > 0:
        at = f"{y(threshold):.1f}"
        words = Message(f"{threshold:,} likes", f"{threshold:,} 个点赞")
        parts += [
            Markup('<line class="limit" x1="{}" x2="{}" y1="{}" y2="{}"/>').format(
                LEFT, WIDTH - RIGHT, at, at
            ),
            draw_text(WIDTH - RIGHT + 8, y(threshold) + 4, words, "tick", "start"),
        ]
    labels = []
    for point, time in zip(points, times, strict=True):
        place = (x(time.timestamp()), y(point["digg_count"]))
        parts.append(
            Markup('<path class="mark {}" d="{}" transform="translate({:.1f} {:.1f})"/>').format(
                point["link_type"], _SHAPES[point["link_type"]], *place
            )
        )
        if point["is_labelled"]:
            labels.append((place, _name(point["nickname"]), point["digg_count"]))
    above = 0.0
    for (at_x, at_y), name, likes in sorted(labels, key=lambda label: label[0][1]):
        above = max(at_y + 4, above + LABEL_STEP)
        anchor, side = ("end", -8) if at_x > WIDTH / 2 else ("start", 8)
        words = Message(f"{name} {likes:,}".strip(), f"{name} {likes:,}".strip())
        parts.append(draw_text(at_x + side, above, words, "label", anchor))
    return draw_svg(PLOT_HEIGHT, parts)


def draw_creators(plot: CreatorPlot) -> Markup:
    """Draw the cumulative share of the likes by creator, with the fewest that hold half."""
    points = plot["points"]
    if len(points) <= 1:
        return Markup("")
    bottom, end = PLOT_HEIGHT - BOTTOM - 14, WIDTH - RIGHT
    last = points[-1]["account_count"]

    def x(number: float) -> float:
        return LEFT + number / last * (end - LEFT)

    y = linear_scale(1, TOP, bottom)
    path = f"M{x(0):.1f} {y(0):.1f}" + "".join(
        f"L{x(point['account_count']):.1f} {y(point['digg_share']):.1f}" for point in points
    )
    parts = [
        draw_value_axis(y, [0, 0.25, 0.5, 0.75, 1], lambda share: f"{share:.0%}"),
        draw_text(2, TOP - 8, AXES["likes_share"], "name", "start"),
        *(
            draw_text(
                x(number),
                bottom + 18,
                Message(f"{number:,.0f}", f"{number:,.0f}"),
                "tick",
                "middle",
            )
            for number in ticks(last)
        ),
        draw_text(end, bottom + 34, AXES["creators"], "name", "end"),
        Markup('<path class="line series-1" d="{}"/>').format(path),
    ]
    half = next(point for point in points if point["account_count"] == plot["half_count"])
    place = (x(half["account_count"]), y(half["digg_share"]))
    words = Message(plot["mark"], plot["mark_zh"])
    parts += [
        Markup(
            '<path class="mark exact_music_id" d="{}" transform="translate({:.1f} {:.1f})"/>'
        ).format(_SHAPES["exact_music_id"], *place),
        draw_text(place[0] + 10, place[1] + 14, words, "label", "start"),
    ]
    return draw_svg(PLOT_HEIGHT, parts)


def draw_key(plot: LikesPlot) -> Markup:
    """Draw the key of the marks: which link type has which shape."""
    link_types = [name for name in LINKS if any(p["link_type"] == name for p in plot["points"])]
    if len(link_types) <= 1:
        return Markup("")
    return Markup("").join(
        Markup(
            '<span class="key"><svg viewBox="-6 -6 12 12" width="12" height="12" '
            'aria-hidden="true"><path class="mark {}" d="{}"/></svg> {}</span>'
        ).format(name, _SHAPES[name], both_languages(LINKS[name]))
        for name in link_types
    )


def _name(nickname: str | None) -> str:
    name = plain_text(nickname).strip()
    return name if len(name) <= LABEL_CHARS else f"{name[: LABEL_CHARS - 1]}…"
