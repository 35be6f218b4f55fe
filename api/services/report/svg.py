"""What the plots of reports are made of: their size, scales, axes, texts and labels, as inline SVG.

Colours are variables of the page's style sheet, so plots follow its theme. Texts are escaped.
"""

import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from markupsafe import Markup

from pipelines.documents.messages import Message

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 720, 64, 92, 20, 30
PLOT_HEIGHT = 270
MOST_TICKS = 6
LABEL_STEP = 14
_TICK_DAYS = (1, 2, 7, 14, 30, 60, 90, 180, 365, 730, 1825)

type Scale = Callable[[float], float]


def draw_svg(height: int, parts: Sequence[Markup]) -> Markup:
    """Join the parts of a plot. Screen readers skip it: the page has what it shows as text."""
    return Markup('<svg class="plot" viewBox="0 0 {} {}" aria-hidden="true">{}</svg>').format(
        WIDTH, height, Markup("").join(parts)
    )


def draw_text(x: float, y: float, words: Message, kind: str, anchor: str) -> Markup:
    """Write a text; both languages if they differ, of which the page shows one."""
    form = Markup('<text class="{}" x="{:.1f}" y="{:.1f}" text-anchor="{}" lang="{}">{}</text>')
    if words.en == words.zh:
        return form.format(kind, x, y, anchor, "", words.en)
    return Markup("").join(
        form.format(kind, x, y, anchor, language, text)
        for language, text in (("en", words.en), ("zh-Hans", words.zh))
    )


def both_languages(words: Message) -> Markup:
    """Return a text of the page in both languages, of which it shows one."""
    return Markup('<span lang="en">{}</span><span lang="zh-Hans">{}</span>').format(
        words.en, words.zh
    )


def linear_scale(most: float, top: float, bottom: float, *, least: float = 0) -> Scale:
    """Return the scale of an axis of values from `least`, at the bottom, to `most`."""
    span = most - least
    return lambda value: bottom - ((value - least) / span if span else 0) * (bottom - top)


def ticks(most: float, *, least: float = 0) -> list[int]:
    """Return whole numbers from `least` to `most`, in steps of 1, 2 or 5 and their tens."""
    rough = max(1.0, (most - least) / (MOST_TICKS - 1))
    power = 10 ** math.floor(math.log10(rough))
    step = int(next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough))
    return list(range(math.ceil(least / step) * step, int(most) + 1, step))


def draw_value_axis(
    y: Scale, values: Sequence[float], form: Callable[[float], str] = lambda value: f"{value:,.0f}"
) -> Markup:
    """Draw a line across the plot for each value, with its number on the left."""
    return Markup("").join(
        Markup('<line class="grid" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/>').format(
            LEFT, WIDTH - RIGHT, y(value), y(value)
        )
        + draw_text(LEFT - 8, y(value) + 4, Message(form(value), form(value)), "tick", "end")
        for value in values
    )


def time_scale(times: Sequence[datetime]) -> tuple[Scale, list[datetime]]:
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


def draw_time_axis(x: Scale, days: Sequence[datetime], bottom: float) -> Markup:
    """Draw a tick with its date for each day."""
    return Markup("").join(
        Markup('<line class="grid" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>').format(
            x(day.timestamp()), x(day.timestamp()), bottom, bottom + 4
        )
        + draw_text(
            x(day.timestamp()),
            bottom + 18,
            Message(f"{day:%Y-%m-%d}", f"{day:%Y-%m-%d}"),
            "tick",
            "middle",
        )
        for day in days
    )
