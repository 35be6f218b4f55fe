"""Renders a scene as a file: PNG, or a self-contained SVG document.

That has no script, font or external address.
Every text is escaped, and characters that XML cannot hold are replaced. Colours follow the reader's
light or dark setting.
"""

import base64
import re
from typing import Literal
from xml.sax.saxutils import escape

from api.services.evidence.png import to_png, to_png_bytes
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

_UNFIT = re.compile("[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_FONT = "system-ui, sans-serif"


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
