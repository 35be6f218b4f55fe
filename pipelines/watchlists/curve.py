"""The curve of a figure over the runs of a watchlist, as a PNG without words.

It has numbers and days, which need no translation; the message says what it shows. A run in
which the figure is unknown has no point. Pure: points in, bytes out.
"""

from collections.abc import Sequence
from datetime import datetime
from io import BytesIO

from PIL import Image, ImageDraw, ImageFont

type Points = Sequence[tuple[datetime, int]]

_SIZE = (1000, 520)
_LEFT, _TOP, _RIGHT, _BOTTOM = 150, 40, 960, 450
_INK, _SOFT, _LINE, _ACCENT = "#1d2433", "#5b6478", "#d9dee8", "#3457d5"
_FONT_SIZE = 22
_STEPS = 4
_DOT = 5


def draw_curve(points: Points, *, is_demo: bool = False) -> bytes | None:
    """Return the picture, marked if it is of demo data; None with fewer than two points."""
    if len(points) < 2:  # noqa: PLR2004 -- a line has two ends
        return None
    begins, ends = points[0][0], points[-1][0]
    values = [value for _, value in points]
    low, high = min(values), max(values)
    span_s = (ends - begins).total_seconds() or 1.0
    picture = Image.new("RGB", _SIZE, "white")
    draw = ImageDraw.Draw(picture)
    font = ImageFont.load_default(_FONT_SIZE)

    def place(moment: datetime, value: float) -> tuple[float, float]:
        share = (moment - begins).total_seconds() / span_s
        height = 0.5 if high == low else (value - low) / (high - low)
        return _LEFT + share * (_RIGHT - _LEFT), _BOTTOM - height * (_BOTTOM - _TOP)

    # Few values between the lowest and the highest, both of which are observed
    marks = sorted({low + round((high - low) * step / _STEPS) for step in range(_STEPS + 1)})
    for value in marks:
        _, y = place(begins, value)
        draw.line([(_LEFT, y), (_RIGHT, y)], fill=_LINE, width=1)
        draw.text((_LEFT - 14, y), f"{value:,}", fill=_SOFT, font=font, anchor="rm")
    for moment, anchor in ((begins, "la"), (ends, "ra")):
        x, _ = place(moment, low)
        draw.text((x, _BOTTOM + 22), f"{moment:%Y-%m-%d}", fill=_SOFT, font=font, anchor=anchor)
    line = [place(moment, value) for moment, value in points]
    draw.line(line, fill=_ACCENT, width=4, joint="curve")
    for x, y in line:
        draw.ellipse([(x - _DOT, y - _DOT), (x + _DOT, y + _DOT)], fill=_ACCENT)
    x, y = line[-1]
    draw.text((x, y - 14), f"{values[-1]:,}", fill=_INK, font=font, anchor="rs")
    if is_demo:
        draw.text((_LEFT, 6), "DEMO", fill=_SOFT, font=font)
    content = BytesIO()
    picture.save(content, format="PNG", optimize=True)
    return content.getvalue()
