"""Lays out the matcher and librosa in one picture: numbers, librosa's chroma, and both alignments.

Takes an explanation and a cross-check, returns a scene. Not here: measuring, file formats.
"""

from textwrap import wrap

import numpy as np
from numpy.typing import NDArray

from api.services.evidence.plot import Axis, coloured, map_size, marked, plot_name
from api.services.evidence.scene import Bitmap, Line, Rect, Scene, SceneShape, Text, Tone
from pipelines.audio.cross_check import CrossCheck, differences, measures
from pipelines.audio.explanation import Explanation
from pipelines.audio.features.grid import HOP_S

WIDTH = 860
_LEFT, _ROW, _TABLE_TOP = 24, 20, 104
_STRIP_TOP, _STRIP, _STRIP_GAP = 262, 60, 34
_MAP_TOP, _MAP = 446, 300
_LINE, _LINE_CHARS = 18, 136
_MOST_STEPS = 160
_LARGEST_STRIP = 900
_PATH: tuple[tuple[Tone, float], ...] = (("page", 4.0), ("ink", 1.6))


def draw_cross_check(explanation: Explanation, check: CrossCheck, names: tuple[str, str]) -> Scene:
    """Lay out the picture. The names of reference and candidate may be any text: they are
    truncated, never interpreted.
    """
    evidence = explanation.evidence
    names = plot_name(names[0]), plot_name(names[1])
    told = [line for one in differences(check, evidence) for line in wrap(f"· {one}", _LINE_CHARS)]
    below = _MAP_TOP + round(map_size(explanation.similarity, _MAP)[1]) + 56
    height = below + _LINE * len(told) + 16
    shapes = (
        Rect(x=0, y=0, width=WIDTH, height=height, tone="page"),
        Text(x=_LEFT, y=34, text=f"{evidence.verdict.replace('_', ' ')}: the matcher and librosa",
             size=20, is_bold=True),
        Text(x=_LEFT, y=58, text=f"reference  {names[0]}"),
        Text(x=_LEFT, y=76, text=f"candidate  {names[1]}"),
        *_table(measures(check, evidence)),
        *_strips(check),
        *_map(explanation, check),
        *(
            Text(x=_LEFT, y=below + _LINE * place, text=line, tone="soft")
            for place, line in enumerate(told)
        ),
    )  # fmt: skip
    return Scene(
        width=WIDTH, height=height, title=f"{names[1]} against {names[0]}, by two implementations",
        description=" ".join(differences(check, evidence)), shapes=shapes,
    )  # fmt: skip


def _table(lines: tuple[tuple[str, str, str], ...]) -> list[SceneShape]:
    head = ("measure", "matcher", "librosa")
    shapes: list[SceneShape] = []
    for place, cells in enumerate((head, *lines)):
        y = _TABLE_TOP + _ROW * place
        for x, text in zip((_LEFT, 330, 470), cells, strict=True):
            is_head = place == 0
            shapes.append(
                Text(x=x, y=y, text=text, tone="soft" if is_head else "ink", is_bold=not is_head)
            )
    return shapes


def _strips(check: CrossCheck) -> list[SceneShape]:
    """Both sounds on one axis of seconds, each from its own start."""
    width = WIDTH - 2 * _LEFT
    longest = max(check.reference_chroma.shape[1], check.candidate_chroma.shape[1])
    shapes: list[SceneShape] = []
    for place, (chroma, label) in enumerate((
        (check.reference_chroma, "chroma of the reference by librosa (chroma_cqt)"),
        (check.candidate_chroma, "chroma of the candidate by librosa"),
    )):  # fmt: skip
        top = _STRIP_TOP + place * (_STRIP + _STRIP_GAP)
        share = chroma.shape[1] / longest
        shapes += [
            Text(x=_LEFT, y=top - 8, tone="soft",
                 text=f"{label}, {chroma.shape[1] * HOP_S:.1f} s"),
            Rect(x=_LEFT, y=top, width=width, height=_STRIP, tone="panel"),
            Bitmap(x=_LEFT, y=top, width=width * share, height=_STRIP,
                   pixels=coloured(_narrow(chroma)[::-1])),
        ]  # fmt: skip
    return shapes


def _narrow(chroma: NDArray[np.float32]) -> NDArray[np.float32]:
    step = -(-chroma.shape[1] // _LARGEST_STRIP)
    return np.maximum.reduceat(chroma, np.arange(0, chroma.shape[1], step), axis=1)


def _map(explanation: Explanation, check: CrossCheck) -> list[SceneShape]:
    """The matcher's similarity with its window (frame), and librosa's path as a line over it."""
    similarity = explanation.similarity
    width, height = map_size(similarity, _MAP)
    left, bottom = _LEFT + 8, _MAP_TOP + height
    across = Axis(0.0, similarity.reference_s, left, width)
    upwards = Axis(0.0, similarity.candidate_s, bottom, -height)
    tempo = explanation.evidence.speed or 1.0
    places = np.unique(np.linspace(0, len(check.reference_s) - 1, _MOST_STEPS).astype(int))
    xs = across.at(check.reference_s[places])
    ys = upwards.at(check.candidate_s[places] * tempo)
    window = explanation.window
    legend = (
        "Similarity of both sounds by the matcher: reference to the right,",
        "candidate upwards, its speed undone.",
        "Frame: the window that the matcher compared.",
        "Line: the path of librosa's dynamic time warping.",
    )
    return [
        Bitmap(x=left, y=_MAP_TOP, width=width, height=height,
               pixels=coloured(similarity.values[::-1] / 2)),
        *(() if window is None else marked(window, across, upwards)),
        *_path(xs, ys),
        Text(x=left, y=bottom + 18, text=f"reference, {similarity.reference_s:.1f} s",
             tone="soft", size=11),
        *(
            Text(x=left + width + 28, y=_MAP_TOP + 16 + 19 * place, text=line, tone="soft")
            for place, line in enumerate(legend)
        ),
    ]  # fmt: skip


def _path(xs: NDArray[np.float64], ys: NDArray[np.float64]) -> list[SceneShape]:
    """A line with an edge, which shows on the map by light and by dark colours."""
    steps = list(zip(xs[:-1], ys[:-1], xs[1:], ys[1:], strict=True))
    return [
        Line(x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2), tone=tone, width=width)
        for tone, width in _PATH
        for x1, y1, x2, y2 in steps
    ]
