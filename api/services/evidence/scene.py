"""A picture as plain shapes, so that SVG and PNG show the same picture.

Defines shapes and their colours. Not here: layout, file formats.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Tone = Literal["page", "panel", "ink", "soft", "frame", "met", "missed", "unknown", "mark"]
Anchor = Literal["start", "middle", "end"]

LIGHT: dict[Tone, str] = {
    "page": "#ffffff", "panel": "#eef1f5", "ink": "#16202c", "soft": "#566475",
    "frame": "#b9c3cf", "met": "#1d7f4e", "missed": "#b3261e", "unknown": "#7a8797",
    "mark": "#ff7a1a",
}  # fmt: skip
DARK: dict[Tone, str] = {
    "page": "#11161d", "panel": "#222b36", "ink": "#eef3f8", "soft": "#a4b1c0",
    "frame": "#3d4a59", "met": "#4cc38a", "missed": "#ff8278", "unknown": "#8796a8",
    "mark": "#ff9d4d",
}  # fmt: skip


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
