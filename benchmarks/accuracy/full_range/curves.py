"""Recall over speed, tempo, pitch, length and voice level, a line per tool, as plain SVG."""

import math
from collections.abc import Sequence
from typing import Any

from benchmarks.accuracy.full_range import plan

type Document = dict[str, Any]
type Point = tuple[float, float]
_PANELS = (
    (plan.SPEED, "speed, tempo and pitch together", True),
    (plan.TEMPO, "tempo at the same pitch", True),
    (plan.PITCH, "pitch in semitones", False),
    (plan.EXCERPT, "length of the excerpt in seconds", False),
    (plan.VOICE, "voice over the music in dB", False),
)
_TOOLS = {
    "matcher": ("matcher", "#2f9e6e", ""),
    "first": ("earlier release", "#3d7fc4", "7 3"),
    "chromaprint": ("Chromaprint", "#d39b1f", "3 3"),
    "landmarks": ("landmarks (audfprint2)", "#d0483e", "10 3 2 3"),
}
"""Name, colour and dashes: a line is known without its colour."""
_STYLE = "font-family='system-ui,sans-serif' font-size='12' fill='#7a7f87'"
_WIDTH, _LEFT, _RIGHT, _PANEL, _HEIGHT, _TOP = 720, 48, 24, 172, 104, 46
_LEFT_OUT_BETWEEN = 1.0  # between 0.9 and 1.1 nothing is edited: a line would claim what none saw


def range_curves(measured: Document) -> str:
    """One panel per edit; recall from 0 to 1 upwards."""
    tools = {"matcher": measured, **measured["others"]}
    parts = _legend([name for name in _TOOLS if name in tools])
    for row, (family, title, is_log) in enumerate(_PANELS):
        lines = {name: _points(tools[name]["families"], family) for name in _TOOLS if name in tools}
        parts += _panel(_TOP + row * _PANEL, title, lines, is_log=is_log)
    height = _TOP + len(_PANELS) * _PANEL
    head = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {_WIDTH} {height}' role='img'>"
    return "\n".join((head, *parts, "</svg>")) + "\n"


def _points(families: Document, family: str) -> list[Point]:
    labels = families.get(family, {"labels": {}})["labels"].values()
    return sorted((one["value"], one["hits"] / one["total"]) for one in labels)


def _legend(names: Sequence[str]) -> list[str]:
    parts, x = [], _LEFT
    for name in names:
        word, colour, dashes = _TOOLS[name]
        parts.append(
            f"<line x1='{x}' y1='16' x2='{x + 30}' y2='16' stroke='{colour}' stroke-width='2.5' "
            f"stroke-dasharray='{dashes}'/><text x='{x + 36}' y='20' {_STYLE}>{word}</text>"
        )
        x += 60 + 7 * len(word)
    return parts


def _panel(top: int, title: str, lines: dict[str, list[Point]], *, is_log: bool) -> list[str]:
    values = sorted({value for points in lines.values() for value, _ in points})
    if not values:
        return []
    scale = math.log if is_log else float
    first, last = scale(values[0]), scale(values[-1])

    def at(value: float) -> float:
        return _LEFT + (scale(value) - first) / (last - first) * (_WIDTH - _LEFT - _RIGHT)

    floor = top + 18 + _HEIGHT
    parts = [f"<text x='{_LEFT}' y='{top + 8}' {_STYLE}>recall by {title}</text>"]
    for level in (0.0, 0.5, 1.0):
        y = floor - level * _HEIGHT
        parts.append(
            f"<line x1='{_LEFT}' y1='{y:.1f}' x2='{_WIDTH - _RIGHT}' y2='{y:.1f}' "
            f"stroke='#7a7f87' stroke-opacity='0.25'/>"
            f"<text x='{_LEFT - 8}' y='{y + 4:.1f}' text-anchor='end' {_STYLE}>{level:g}</text>"
        )
    parts += [
        f"<text x='{at(value):.1f}' y='{floor + 18}' text-anchor='middle' {_STYLE}>{value:g}</text>"
        for value in values
    ]
    for name, points in lines.items():
        _, colour, dashes = _TOOLS[name]
        for piece in _pieces(points, is_log=is_log):
            path = " ".join(f"{at(x):.1f},{floor - y * _HEIGHT:.1f}" for x, y in piece)
            parts.append(
                f"<polyline points='{path}' fill='none' stroke='{colour}' stroke-width='2.5' "
                f"stroke-dasharray='{dashes}'/>"
            )
    return parts


def _pieces(points: list[Point], *, is_log: bool) -> list[list[Point]]:
    """Split a curve of factors at 1, where nothing is edited."""
    if not is_log:
        return [points]
    slow = [point for point in points if point[0] < _LEFT_OUT_BETWEEN]
    return [slow, [point for point in points if point[0] > _LEFT_OUT_BETWEEN]]
