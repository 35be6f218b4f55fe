"""The plots of a report as inline SVG: posts and likes over time, likes by publication, creators.

Points in, markup out; the words are those of `pipelines/documents/result_plots.py`. Colours are
variables of the page's style sheet, so plots follow its theme; lines and marks have labels beside
them and differ in shape, so that they read in grey print. All outside text is escaped.
"""

import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from markupsafe import Markup

from pipelines.documents.html_pages import plain_text
from pipelines.documents.messages import LINKS, Message
from pipelines.documents.result_plots import AXES, CreatorPlot, LikesPlot, PublicationPlot

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 720, 64, 92, 20, 30
PANEL_HEIGHT = 150
PLOT_HEIGHT = 270
MOST_TICKS = 6
LABEL_CHARS = 18
LABEL_STEP = 14
_TICK_DAYS = (1, 2, 7, 14, 30, 60, 90, 180, 365, 730, 1825)
_SHAPES = {
    "exact_music_id": "M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0 -7.2 0z",
    "audio_fingerprint_match": "M-3.6 -3.6h7.2v7.2h-7.2z",
    "verified_music_id_graph": "M0 -4.6l4.8 8.2h-9.6z",
}

type Scale = Callable[[float], float]


def draw_publication(plot: PublicationPlot) -> Markup:
    """Draw videos and their likes, cumulative, in two panels over one time axis."""
    points = plot["points"]
    if not points:
        return Markup("")
    times = [datetime.fromisoformat(point["published_at"]) for point in points]
    x, axis_days = _time_scale(times)
    parts = []
    panels = (
        (AXES["videos"], [point["video_count"] for point in points], "series-1"),
        (AXES["likes"], [point["digg_count"] for point in points], "series-2"),
    )
    for number, (name, values, series) in enumerate(panels):
        top = TOP + number * (PANEL_HEIGHT + 14)
        bottom = top + PANEL_HEIGHT - BOTTOM
        y = _linear(values[-1], top, bottom)
        # A count holds until the next publication: the line has steps.
        path = f"M{x(times[0].timestamp()):.1f} {y(0):.1f}"
        for time, value in zip(times, values, strict=True):
            path += f"H{x(time.timestamp()):.1f}V{y(value):.1f}"
        parts += [
            _value_axis(y, _ticks(values[-1])),
            _text(2, top - 8, name, "name", "start"),
            Markup('<path class="line {}" d="{}"/>').format(series, path),
            _text(
                WIDTH - RIGHT + 8,
                y(values[-1]) + 4,
                Message(f"{values[-1]:,}", f"{values[-1]:,}"),
                "label",
                "start",
            ),
            _time_axis(x, axis_days, bottom),
        ]
    return _svg(2 * PANEL_HEIGHT + TOP + 8, parts)


def draw_likes(plot: LikesPlot) -> Markup:
    """Draw a mark per video, likes on a logarithmic axis, the most liked with their accounts."""
    points = plot["points"]
    if not points:
        return Markup("")
    times = [datetime.fromisoformat(point["published_at"]) for point in points]
    x, axis_days = _time_scale(times)
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
        _value_axis(
            y,
            [
                *(10**exponent for exponent in range(low, high + 1)),
                *([0] if any(point["digg_count"] == 0 for point in points) else []),
            ],
        ),
        _text(2, TOP - 8, AXES["likes"], "name", "start"),
        _time_axis(x, axis_days, bottom),
    ]
    if threshold > 0:
        at = f"{y(threshold):.1f}"
        words = Message(f"{threshold:,} likes", f"{threshold:,} 个点赞")
        parts += [
            Markup('<line class="limit" x1="{}" x2="{}" y1="{}" y2="{}"/>').format(
                LEFT, WIDTH - RIGHT, at, at
            ),
            _text(WIDTH - RIGHT + 8, y(threshold) + 4, words, "tick", "start"),
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
        parts.append(_text(at_x + side, above, words, "label", anchor))
    return _svg(PLOT_HEIGHT, parts)


def draw_creators(plot: CreatorPlot) -> Markup:
    """Draw the cumulative share of the likes by creator, with the fewest that hold half."""
    points = plot["points"]
    if len(points) <= 1:
        return Markup("")
    bottom, end = PLOT_HEIGHT - BOTTOM - 14, WIDTH - RIGHT
    last = points[-1]["account_count"]

    def x(number: float) -> float:
        return LEFT + number / last * (end - LEFT)

    y = _linear(1, TOP, bottom)
    path = f"M{x(0):.1f} {y(0):.1f}" + "".join(
        f"L{x(point['account_count']):.1f} {y(point['digg_share']):.1f}" for point in points
    )
    parts = [
        _value_axis(y, [0, 0.25, 0.5, 0.75, 1], lambda share: f"{share:.0%}"),
        _text(2, TOP - 8, AXES["likes_share"], "name", "start"),
        *(
            _text(
                x(number),
                bottom + 18,
                Message(f"{number:,.0f}", f"{number:,.0f}"),
                "tick",
                "middle",
            )
            for number in _ticks(last)
        ),
        _text(end, bottom + 34, AXES["creators"], "name", "end"),
        Markup('<path class="line series-1" d="{}"/>').format(path),
    ]
    half = next(point for point in points if point["account_count"] == plot["half_count"])
    place = (x(half["account_count"]), y(half["digg_share"]))
    words = Message(plot["mark"], plot["mark_zh"])
    parts += [
        Markup(
            '<path class="mark exact_music_id" d="{}" transform="translate({:.1f} {:.1f})"/>'
        ).format(_SHAPES["exact_music_id"], *place),
        _text(place[0] + 10, place[1] + 14, words, "label", "start"),
    ]
    return _svg(PLOT_HEIGHT, parts)


def draw_key(plot: LikesPlot) -> Markup:
    """Draw the key of the marks: which link type has which shape."""
    link_types = [name for name in LINKS if any(p["link_type"] == name for p in plot["points"])]
    if len(link_types) <= 1:
        return Markup("")
    return Markup("").join(
        Markup(
            '<span class="key"><svg viewBox="-6 -6 12 12" width="12" height="12" '
            'aria-hidden="true"><path class="mark {}" d="{}"/></svg> {}</span>'
        ).format(name, _SHAPES[name], _both(LINKS[name]))
        for name in link_types
    )


def _name(nickname: str | None) -> str:
    name = plain_text(nickname).strip()
    return name if len(name) <= LABEL_CHARS else f"{name[: LABEL_CHARS - 1]}…"


def _svg(height: int, parts: Sequence[Markup]) -> Markup:
    # What it shows stands beside it as text.
    return Markup('<svg class="plot" viewBox="0 0 {} {}" aria-hidden="true">{}</svg>').format(
        WIDTH, height, Markup("").join(parts)
    )


def _text(x: float, y: float, words: Message, kind: str, anchor: str) -> Markup:
    """Write a text; both languages if they differ, of which the page shows one."""
    form = Markup('<text class="{}" x="{:.1f}" y="{:.1f}" text-anchor="{}" lang="{}">{}</text>')
    if words.en == words.zh:
        return form.format(kind, x, y, anchor, "", words.en)
    return Markup("").join(
        form.format(kind, x, y, anchor, language, text)
        for language, text in (("en", words.en), ("zh-Hans", words.zh))
    )


def _both(words: Message) -> Markup:
    return Markup('<span lang="en">{}</span><span lang="zh-Hans">{}</span>').format(
        words.en, words.zh
    )


def _linear(most: float, top: float, bottom: float) -> Scale:
    return lambda value: bottom - (value / most if most else 0) * (bottom - top)


def _ticks(most: float) -> list[int]:
    """Return whole numbers from 0 to at most `most`, in steps of 1, 2 or 5."""
    rough = max(1.0, most / (MOST_TICKS - 1))
    power = 10 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
    return list(range(0, int(most) + 1, int(step)))


def _value_axis(
    y: Scale, values: Sequence[float], form: Callable[[float], str] = lambda value: f"{value:,.0f}"
) -> Markup:
    return Markup("").join(
        Markup('<line class="grid" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/>').format(
            LEFT, WIDTH - RIGHT, y(value), y(value)
        )
        + _text(LEFT - 8, y(value) + 4, Message(form(value), form(value)), "tick", "end")
        for value in values
    )


def _time_scale(times: Sequence[datetime]) -> tuple[Scale, list[datetime]]:
    """Return the scale of a time axis and the days on it, at most `MOST_TICKS`."""
    first, last = min(times), max(times)
    if last - first < timedelta(days=1):
        first, last = first - timedelta(hours=12), last + timedelta(hours=12)
    span = (last - first).total_seconds()
    step = next(
        (days for days in _TICK_DAYS if span / 86_400 / days <= MOST_TICKS - 1), _TICK_DAYS[-1]
    )
    day = first.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    days = []
    while day <= last:
        if day >= first:
            days.append(day)
        day += timedelta(days=step)

    def x(seconds: float) -> float:
        return LEFT + 6 + (seconds - first.timestamp()) / span * (WIDTH - RIGHT - LEFT - 12)

    return x, days


def _time_axis(x: Scale, days: Sequence[datetime], bottom: float) -> Markup:
    return Markup("").join(
        Markup('<line class="grid" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>').format(
            x(day.timestamp()), x(day.timestamp()), bottom, bottom + 4
        )
        + _text(
            x(day.timestamp()),
            bottom + 18,
            Message(f"{day:%Y-%m-%d}", f"{day:%Y-%m-%d}"),
            "tick",
            "middle",
        )
        for day in days
    )
