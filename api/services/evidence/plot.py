"""Lays out the evidence plot of a compared pair.

It shows measurements against their limits, both sounds on one time axis, and their similarity with
the compared stretch marked. Takes an explanation, returns a scene. Not here: file formats,
measuring.
"""

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from api.services.evidence.plot_texts import PlotLanguage, PlotTexts
from api.services.evidence.scene import Bitmap, Line, Rect, Scene, SceneShape, Text, Tone
from pipelines.audio.explanation import (
    ChromaStrip,
    ComparedWindow,
    EvidenceMeasure,
    Explanation,
    SimilarityMap,
)

WIDTH = 860
_LEFT, _RIGHT = 24, 24
_STRIP_TOP, _STRIP_HEIGHT, _STRIP_GAP = 196, 74, 30
_MAP_TOP, _MAP_SIZE = 430, 340
_LEGEND_HEIGHT = 200
_LONGEST_NAME = 84
_HIDDEN = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")  # turn the reading direction
_STEPS_S = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600)
_MOST_TICKS = 10
_VERDICT_TONE: dict[str, Tone] = {
    "confirmed": "met", "variant": "mark", "rejected": "missed", "not_comparable": "unknown",
}  # fmt: skip
_COLOUR_STOPS = np.array(
    [(16, 11, 42), (74, 18, 94), (149, 41, 87), (214, 76, 52), (246, 149, 40), (250, 230, 140)]
)
"""Dark to bright with evenly increasing lightness, so that it is readable without colour."""


@dataclass(frozen=True, slots=True)
class Axis:
    """Maps seconds to horizontal positions."""

    first_s: float
    last_s: float
    left: float
    width: float

    def at[Moment: (float, NDArray[np.float64])](self, moment_s: Moment) -> Moment:
        """Return the position of a moment, or of many."""
        return self.left + self.width * (moment_s - self.first_s) / (self.last_s - self.first_s)

    def ticks(self) -> list[float]:
        """Return the moments that are named on the axis."""
        span = self.last_s - self.first_s
        step = next((one for one in _STEPS_S if span / one <= _MOST_TICKS), _STEPS_S[-1] * 6)
        first = int(np.ceil(self.first_s / step))
        return [float(step * k) for k in range(first, int(self.last_s / step) + 1)]


def draw_pair(
    explanation: Explanation, names: tuple[str, str], *, language: PlotLanguage = "en"
) -> Scene:
    """Lay out the plot of a pair.

    The names of reference and candidate may be any text: they are truncated, never interpreted.
    """
    evidence, texts = explanation.evidence, PlotTexts(language)
    reference_name, candidate_name = map(plot_name, names)
    verdict = texts.verdict(evidence)
    height = (
        _MAP_TOP + max(_LEGEND_HEIGHT, round(map_size(explanation.similarity, _MAP_SIZE)[1])) + 48
    )
    shapes = (
        Rect(x=0, y=0, width=WIDTH, height=height, tone="page"),
        Text(
            x=_LEFT, y=34, text=verdict, size=20, is_bold=True, tone=_VERDICT_TONE[evidence.verdict]
        ),
        Text(x=_LEFT + 150, y=34, text=texts.reason(evidence), tone="soft", size=13),
        Text(x=_LEFT, y=58, text=f"{texts.of('reference')}  {reference_name}", size=12),
        Text(x=_LEFT, y=76, text=f"{texts.of('candidate')}  {candidate_name}", size=12),
        *_measures(explanation.measures, texts),
        *_strips(explanation, texts),
        *_map(explanation.similarity, explanation.window, texts),
    )
    return Scene(
        width=WIDTH,
        height=height,
        title=texts.title(verdict, candidate_name, reference_name),
        description="; ".join(texts.measure(measure) for measure in explanation.measures),
        shapes=shapes,
    )


def plot_name(text: str) -> str:
    """Truncate to one line and remove characters that hide others."""
    shown = "".join(char if char.isprintable() else "\ufffd" for char in _HIDDEN.sub("", text))
    return shown if len(shown) <= _LONGEST_NAME else f"{shown[: _LONGEST_NAME - 1]}…"


def _measures(measures: tuple[EvidenceMeasure, ...], texts: PlotTexts) -> list[SceneShape]:
    width = (WIDTH - _LEFT - _RIGHT) / len(measures)
    shapes: list[SceneShape] = []
    for place, measure in enumerate(measures):
        shapes += _gauge(measure, _LEFT + place * width, width - 18, texts)
    return shapes


def _gauge(measure: EvidenceMeasure, x: float, width: float, texts: PlotTexts) -> list[SceneShape]:
    """Draw a bar from 0 with a tick at the limit, and both as text."""
    value = max(0.0, measure.value or 0.0)
    scale = max(1.0 if measure.limit is None else 1.6 * measure.limit, 1.02 * value)
    tones: dict[bool | None, Tone] = {True: "met", False: "missed", None: "unknown"}
    tone = tones[measure.is_met]
    shown = "?" if measure.value is None else f"{measure.value:.3f}"
    shapes: list[SceneShape] = [
        Text(x=x, y=108, text=texts.of(measure.name), tone="soft"),
        Text(x=x, y=130, text=shown, tone=tone, size=17, is_bold=True),
        Text(x=x + width, y=130, text=texts.limit(measure), tone="soft", size=11, anchor="end"),
        Rect(x=x, y=138, width=width, height=8, tone="panel"),
        Rect(x=x, y=138, width=width * value / scale, height=8, tone=tone),
    ]
    if measure.limit is not None:
        tick = x + width * measure.limit / scale
        shapes.append(Line(x1=tick, y1=134, x2=tick, y2=150, tone="ink", width=2))
    return shapes


def _strips(explanation: Explanation, texts: PlotTexts) -> list[SceneShape]:
    first, second = explanation.reference, explanation.candidate
    axis = Axis(
        min(first.start_s, second.start_s),
        max(first.start_s + first.duration_s, second.start_s + second.duration_s),
        _LEFT,
        WIDTH - _LEFT - _RIGHT,
    )
    lower = _STRIP_TOP + _STRIP_HEIGHT + _STRIP_GAP
    bottom = lower + _STRIP_HEIGHT
    shapes: list[SceneShape] = [
        *_strip(first, axis, _STRIP_TOP, texts.of("reference_chroma")),
        *_strip(second, axis, lower, texts.of("candidate_chroma")),
    ]
    if explanation.window is not None:
        left = axis.at(explanation.window.reference_start_s)
        width = axis.at(explanation.window.reference_start_s + explanation.window.duration_s) - left
        shapes += [
            Rect(
                x=left, y=top - 2, width=width, height=_STRIP_HEIGHT + 4, tone="mark",
                is_outline=True,
            )
            for top in (_STRIP_TOP, lower)
        ]  # fmt: skip
    for moment in axis.ticks():
        x = axis.at(moment)
        shapes.append(Line(x1=x, y1=bottom + 4, x2=x, y2=bottom + 9, tone="soft"))
        shapes.append(
            Text(x=x, y=bottom + 22, text=f"{moment:g} s", tone="soft", size=11, anchor="middle")
        )
    return shapes


def _strip(strip: ChromaStrip, axis: Axis, top: float, label: str) -> list[SceneShape]:
    left = axis.at(strip.start_s)
    return [
        Text(x=_LEFT, y=top - 8, text=label, tone="soft"),
        Rect(x=axis.left, y=top, width=axis.width, height=_STRIP_HEIGHT, tone="panel"),
        Bitmap(
            x=left,
            y=top,
            width=axis.at(strip.start_s + strip.duration_s) - left,
            height=_STRIP_HEIGHT,
            pixels=coloured(strip.levels[::-1]),
        ),
    ]


def _map(
    similarity: SimilarityMap, window: ComparedWindow | None, texts: PlotTexts
) -> list[SceneShape]:
    """Draw the similarity map; the same recording shows as a diagonal.

    Reference time runs to the right, candidate time upwards.
    """
    width, height = map_size(similarity, _MAP_SIZE)
    left, bottom = _LEFT + 36, _MAP_TOP + height
    across = Axis(0.0, similarity.reference_s, left, width)
    upwards = Axis(0.0, similarity.candidate_s, bottom, -height)
    shapes: list[SceneShape] = [
        Bitmap(
            x=left, y=bottom - height, width=width, height=height,
            pixels=coloured(similarity.values[::-1] / 2),
        ),
        *(
            Text(x=across.at(t), y=bottom + 16, text=f"{t:g}", tone="soft", size=11,
                 anchor="middle")
            for t in across.ticks()
        ),
        *(
            Text(x=left - 6, y=upwards.at(t) + 4, text=f"{t:g}", tone="soft", size=11,
                 anchor="end")
            for t in upwards.ticks()
        ),
        Text(x=left, y=bottom + 34, text=texts.of("reference_seconds"), tone="soft", size=11),
    ]  # fmt: skip
    if window is not None:
        shapes += marked(window, across, upwards)
    return [*shapes, *_legend(left + _MAP_SIZE + 36, texts)]


def map_size(similarity: SimilarityMap, longest: float) -> tuple[float, float]:
    """Return width and height; one second has the same length in both directions."""
    scale = longest / max(similarity.reference_s, similarity.candidate_s)
    return scale * similarity.reference_s, scale * similarity.candidate_s


def marked(window: ComparedWindow, across: Axis, upwards: Axis) -> list[SceneShape]:
    """Frame the compared window on a similarity map."""
    x1 = across.at(window.reference_start_s)
    x2 = across.at(window.reference_start_s + window.duration_s)
    y1 = upwards.at(window.candidate_start_s)
    y2 = upwards.at(window.candidate_start_s + window.duration_s)
    return [Rect(x=x1, y=y2, width=x2 - x1, height=y1 - y2, tone="mark", is_outline=True)]


def _legend(x: float, texts: PlotTexts) -> list[SceneShape]:
    lines = texts.of("legend").split("\n")
    ramp = np.repeat(np.linspace(0, 1, 128, dtype=np.float32)[None], 4, axis=0)
    return [
        *(
            Text(x=x, y=_MAP_TOP + 16 + 19 * place, text=line, tone="soft")
            for place, line in enumerate(lines)
        ),
        Bitmap(x=x, y=_MAP_TOP + 168, width=220, height=12, pixels=coloured(ramp)),
        Text(x=x, y=_MAP_TOP + 196, text=texts.of("unrelated"), tone="soft", size=11),
        Text(
            x=x + 220,
            y=_MAP_TOP + 196,
            text=texts.of("identical"),
            tone="soft",
            size=11,
            anchor="end",
        ),
    ]


def coloured(values: NDArray[np.floating]) -> NDArray[np.uint8]:
    """Convert values 0..1 (rows, columns) to colours (rows, columns, 3)."""
    places = np.nan_to_num(values).clip(0, 1) * (len(_COLOUR_STOPS) - 1)
    steps = np.arange(len(_COLOUR_STOPS))
    channels = [np.interp(places, steps, _COLOUR_STOPS[:, channel]) for channel in range(3)]
    pixels: NDArray[np.uint8] = np.stack(channels, axis=-1).round().astype(np.uint8)
    return pixels
