"""A picture as plain shapes, and its files: PNG, or a self-contained SVG document.

Both files show the same picture. PNG is for viewers without vector graphics; its font is Pillow's
default, or a CJK font of the machine where a text needs it. SVG has no script, font or external
address, and its colours follow the reader's light or dark setting. Not here: layout.
"""

import base64
import io
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

Tone = Literal["page", "panel", "ink", "soft", "frame", "met", "missed", "unknown", "mark"]
Anchor = Literal["start", "middle", "end"]
type Font = ImageFont.FreeTypeFont | ImageFont.ImageFont

LIGHT: dict[Tone, str] = {
    "page": "#ffffff",
    "panel": "#eef1f5",
    "ink": "#16202c",
    "soft": "#566475",
    "frame": "#b9c3cf",
    "met": "#1d7f4e",
    "missed": "#b3261e",
    "unknown": "#7a8797",
    "mark": "#ff7a1a",
}
DARK: dict[Tone, str] = {
    "page": "#11161d",
    "panel": "#222b36",
    "ink": "#eef3f8",
    "soft": "#a4b1c0",
    "frame": "#3d4a59",
    "met": "#4cc38a",
    "missed": "#ff8278",
    "unknown": "#8796a8",
    "mark": "#ff9d4d",
}
SCALE = 2
"""Pixels of a PNG per unit of the scene, for high-density screens."""
_CJK_FONT = "NotoSansCJK-Regular.ttc"
_FIRST_CJK = "\u2e80"
_ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}
_SVG_FONT = "system-ui, sans-serif"
# Characters that XML cannot hold.
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rect:
    """A rectangle, filled or as an outline."""

    x: float
    y: float
    width: float
    height: float
    tone: Tone
    is_outline: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A straight line."""

    x1: float
    y1: float
    x2: float
    y2: float
    tone: Tone
    width: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """One line of text; `y` is its baseline."""

    x: float
    y: float
    text: str
    tone: Tone = "ink"
    size: int = 12
    anchor: Anchor = "start"
    is_bold: bool = False


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Bitmap:
    """Pixels (rows, columns, 3) stretched over a rectangle, top row first."""

    x: float
    y: float
    width: float
    height: float
    pixels: NDArray[np.uint8]


type SceneShape = Rect | Line | Text | Bitmap


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Shapes in painting order. `description` is the text alternative."""

    width: int
    height: int
    title: str
    description: str
    shapes: tuple[SceneShape, ...]


def to_picture(scene: Scene, form: Literal["svg", "png"]) -> bytes:
    """Return the file in a format."""
    return to_svg(scene).encode() if form == "svg" else to_png(scene)


def to_png(scene: Scene, *, is_dark: bool = False) -> bytes:
    """Render a PNG file with twice as many pixels as the scene has units."""
    colours = DARK if is_dark else LIGHT
    size = (SCALE * scene.width, SCALE * scene.height)
    picture = Image.new("RGB", size, colours["page"])
    pen = ImageDraw.Draw(picture)
    for shape in scene.shapes:
        match shape:
            case Rect(x=x, y=y, width=width, height=height):
                # Pillow refuses a rectangle whose corners are exchanged.
                if width <= 0 or height <= 0:
                    continue
                corners = [SCALE * x, SCALE * y, SCALE * (x + width), SCALE * (y + height)]
                colour = colours[shape.tone]
                if shape.is_outline:
                    pen.rectangle(corners, outline=colour, width=2 * SCALE)
                else:
                    pen.rectangle(corners, fill=colour)
            case Line():
                ends = [SCALE * value for value in (shape.x1, shape.y1, shape.x2, shape.y2)]
                pen.line(ends, fill=colours[shape.tone], width=round(SCALE * shape.width))
            case Text():
                text = "".join(char if char.isprintable() else "\ufffd" for char in shape.text)
                pen.text(
                    (SCALE * shape.x, SCALE * shape.y),
                    text,
                    fill=colours[shape.tone],
                    font=_font(SCALE * shape.size, any(char >= _FIRST_CJK for char in text)),
                    anchor=_ANCHORS[shape.anchor],
                    # The font has no bold face, so its strokes are made wider.
                    stroke_width=0.5 if shape.is_bold else 0,
                )
            case Bitmap():
                pixels = (max(1, round(SCALE * shape.width)), max(1, round(SCALE * shape.height)))
                bitmap = Image.fromarray(shape.pixels, "RGB")
                picture.paste(
                    bitmap.resize(pixels, Image.Resampling.BOX),
                    (round(SCALE * shape.x), round(SCALE * shape.y)),
                )
    return _encode_png(picture)


def to_png_bytes(pixels: NDArray[np.uint8]) -> bytes:
    """Encode pixels (rows, columns, 3) as a PNG file with a small palette."""
    return _encode_png(Image.fromarray(pixels, "RGB").quantize(64, dither=Image.Dither.NONE))


def _encode_png(picture: Image.Image) -> bytes:
    file = io.BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


@lru_cache(maxsize=16)
def _font(size: int, is_cjk: bool) -> Font:
    if is_cjk:
        try:
            return ImageFont.truetype(_CJK_FONT, size)
        except OSError:
            pass  # without the font the text shows boxes, and the plot is still useful
    return ImageFont.load_default(size)


def to_svg(scene: Scene) -> str:
    """Return the SVG document as text."""
    style = (
        f"text{{font-family:{_SVG_FONT}}}{_css_rules(LIGHT)}"
        f"@media (prefers-color-scheme:dark){{{_css_rules(DARK)}}}"
    )
    shapes = "\n".join(_svg_element(shape) for shape in scene.shapes)
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" '
        f'viewBox="0 0 {scene.width} {scene.height}" width="{scene.width}" '
        f'height="{scene.height}" role="img">\n'
        f"<title>{_escape(scene.title)}</title>\n<desc>{_escape(scene.description)}</desc>\n"
        f"<style>{style}</style>\n{shapes}\n</svg>\n"
    )


def _css_rules(colours: dict[Tone, str]) -> str:
    return "".join(
        f".ev-{tone}{{fill:{colour}}}.ev-{tone}-line{{fill:none;stroke:{colour}}}"
        for tone, colour in colours.items()
    )


def _svg_element(shape: SceneShape) -> str:
    match shape:
        case Rect():
            kind = f"ev-{shape.tone}-line" if shape.is_outline else f"ev-{shape.tone}"
            stroke = ' stroke-width="2"' if shape.is_outline else ""
            return (
                f'<rect x="{shape.x:.1f}" y="{shape.y:.1f}" width="{max(0, shape.width):.1f}" '
                f'height="{max(0, shape.height):.1f}" class="{kind}"{stroke}/>'
            )
        case Line():
            return (
                f'<line x1="{shape.x1:.1f}" y1="{shape.y1:.1f}" x2="{shape.x2:.1f}" '
                f'y2="{shape.y2:.1f}" class="ev-{shape.tone}-line" stroke-width="{shape.width:g}"/>'
            )
        case Text():
            weight = ' font-weight="600"' if shape.is_bold else ""
            return (
                f'<text x="{shape.x:.1f}" y="{shape.y:.1f}" class="ev-{shape.tone}" '
                f'font-size="{shape.size}" text-anchor="{shape.anchor}"{weight}>'
                f"{_escape(shape.text)}</text>"
            )
        case Bitmap():
            data = base64.b64encode(to_png_bytes(shape.pixels)).decode()
            return (
                f'<image x="{shape.x:.1f}" y="{shape.y:.1f}" width="{shape.width:.1f}" '
                f'height="{shape.height:.1f}" preserveAspectRatio="none" '
                f'href="data:image/png;base64,{data}"/>'
            )


def _escape(text: str) -> str:
    return escape(_NOT_IN_XML.sub("\ufffd", text))
