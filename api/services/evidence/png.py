"""Renders a scene as pixels, for viewers without vector graphics.

The font is Pillow's default, or a CJK font of the machine where a text needs it.
"""

import io
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from api.services.evidence.scene import DARK, LIGHT, Bitmap, Line, Rect, Scene, Text, Tone

SCALE = 2  # for high-density screens
_CJK_FONT = "NotoSansCJK-Regular.ttc"
_FIRST_CJK = "\u2e80"
_ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}

type Font = ImageFont.FreeTypeFont | ImageFont.ImageFont


def to_png(scene: Scene, *, is_dark: bool = False) -> bytes:
    """Render a PNG file with twice as many pixels as the scene has units."""
    colours = DARK if is_dark else LIGHT
    size = (SCALE * scene.width, SCALE * scene.height)
    picture = Image.new("RGB", size, colours["page"])
    pen = ImageDraw.Draw(picture)
    for shape in scene.shapes:
        match shape:
            case Rect():
                _draw_rect(pen, shape, colours)
            case Line():
                ends = [SCALE * value for value in (shape.x1, shape.y1, shape.x2, shape.y2)]
                pen.line(ends, fill=colours[shape.tone], width=round(SCALE * shape.width))
            case Text():
                _write(pen, shape, colours)
            case Bitmap():
                _paste(picture, shape)
    return _encoded(picture)


def to_png_bytes(pixels: NDArray[np.uint8]) -> bytes:
    """Encode pixels (rows, columns, 3) as a PNG file with a small palette."""
    return _encoded(Image.fromarray(pixels, "RGB").quantize(64, dither=Image.Dither.NONE))


def _encoded(picture: Image.Image) -> bytes:
    file = io.BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


def _draw_rect(pen: ImageDraw.ImageDraw, shape: Rect, colours: dict[Tone, str]) -> None:
    if shape.width <= 0 or shape.height <= 0:
        return
    corners = [
        SCALE * shape.x,
        SCALE * shape.y,
        SCALE * (shape.x + shape.width),
        SCALE * (shape.y + shape.height),
    ]
    if shape.is_outline:
        pen.rectangle(corners, outline=colours[shape.tone], width=2 * SCALE)
    else:
        pen.rectangle(corners, fill=colours[shape.tone])


def _write(pen: ImageDraw.ImageDraw, shape: Text, colours: dict[Tone, str]) -> None:
    text = "".join(char if char.isprintable() else "\ufffd" for char in shape.text)
    font = _font(SCALE * shape.size, any(char >= _FIRST_CJK for char in text))
    place = (SCALE * shape.x, SCALE * shape.y)
    stroke = 0.5 if shape.is_bold else 0
    colour = colours[shape.tone]
    pen.text(
        place, text, fill=colour, font=font, anchor=_ANCHORS[shape.anchor], stroke_width=stroke
    )


@lru_cache(maxsize=16)
def _font(size: int, is_cjk: bool) -> Font:
    if is_cjk:
        try:
            return ImageFont.truetype(_CJK_FONT, size)
        except OSError:
            pass  # no such font: the text shows boxes, the plot is still useful
    return ImageFont.load_default(size)


def _paste(picture: Image.Image, shape: Bitmap) -> None:
    size = (max(1, round(SCALE * shape.width)), max(1, round(SCALE * shape.height)))
    stretched = Image.fromarray(shape.pixels, "RGB").resize(size, Image.Resampling.BOX)
    picture.paste(stretched, (round(SCALE * shape.x), round(SCALE * shape.y)))
