"""Renders a scene as a file: PNG, or a self-contained SVG document.

PNG is for viewers without vector graphics; its font is Pillow's default, or a CJK font of the
machine where a text needs it. SVG has no script, font or external address: every text is escaped,
characters that XML cannot hold are replaced, and colours follow the reader's light or dark setting.
"""

import base64
import io
import re
from functools import lru_cache
from typing import Literal
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from api.services.evidence.scene import (
    DARK,
    LIGHT,
    Bitmap,
    Line,
    Rect,
    Scene,
    SceneShape,
    Text,
    Tone,
)

SCALE = 2  # for high-density screens
_CJK_FONT = "NotoSansCJK-Regular.ttc"
_FIRST_CJK = "\u2e80"
_ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}

type Font = ImageFont.FreeTypeFont | ImageFont.ImageFont
_UNFIT = re.compile("[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_FONT = "system-ui, sans-serif"


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


def to_picture(scene: Scene, form: Literal["svg", "png"]) -> bytes:
    """Return the file in a format."""
    return to_svg(scene).encode() if form == "svg" else to_png(scene)


def to_svg(scene: Scene) -> str:
    """Return the SVG document as text."""
    shapes = "\n".join(_element(shape) for shape in scene.shapes)
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" '
        f'viewBox="0 0 {scene.width} {scene.height}" width="{scene.width}" '
        f'height="{scene.height}" role="img">\n'
        f"<title>{_words(scene.title)}</title>\n<desc>{_words(scene.description)}</desc>\n"
        f"<style>{_style()}</style>\n{shapes}\n</svg>\n"
    )


def _style() -> str:
    return (
        f"text{{font-family:{_FONT}}}{_rules(LIGHT)}"
        f"@media (prefers-color-scheme:dark){{{_rules(DARK)}}}"
    )


def _rules(colours: dict[Tone, str]) -> str:
    return "".join(
        f".ev-{tone}{{fill:{colour}}}.ev-{tone}-line{{fill:none;stroke:{colour}}}"
        for tone, colour in colours.items()
    )


def _element(shape: SceneShape) -> str:
    match shape:
        case Rect():
            return _rect(shape)
        case Line():
            return (
                f'<line x1="{shape.x1:.1f}" y1="{shape.y1:.1f}" x2="{shape.x2:.1f}" '
                f'y2="{shape.y2:.1f}" class="ev-{shape.tone}-line" stroke-width="{shape.width:g}"/>'
            )
        case Text():
            return _text(shape)
        case Bitmap():
            return _image(shape)


def _rect(shape: Rect) -> str:
    kind = f"ev-{shape.tone}-line" if shape.is_outline else f"ev-{shape.tone}"
    more = ' stroke-width="2"' if shape.is_outline else ""
    return (
        f'<rect x="{shape.x:.1f}" y="{shape.y:.1f}" width="{max(0, shape.width):.1f}" '
        f'height="{max(0, shape.height):.1f}" class="{kind}"{more}/>'
    )


def _text(shape: Text) -> str:
    weight = ' font-weight="600"' if shape.is_bold else ""
    return (
        f'<text x="{shape.x:.1f}" y="{shape.y:.1f}" class="ev-{shape.tone}" '
        f'font-size="{shape.size}" text-anchor="{shape.anchor}"{weight}>{_words(shape.text)}</text>'
    )


def _image(shape: Bitmap) -> str:
    data = base64.b64encode(to_png_bytes(shape.pixels)).decode()
    return (
        f'<image x="{shape.x:.1f}" y="{shape.y:.1f}" width="{shape.width:.1f}" '
        f'height="{shape.height:.1f}" preserveAspectRatio="none" '
        f'href="data:image/png;base64,{data}"/>'
    )


def _words(text: str) -> str:
    return escape(_UNFIT.sub("\ufffd", text))
