"""Lays out the evidence plot of a compared pair, in English or Chinese.

It shows measurements against their limits, both sounds on one time axis, and their similarity with
the compared stretch marked. Takes an explanation, returns a scene. Not here: file formats,
measuring.
"""

import base64
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from pipelines.audio import explanation as explaining
from pipelines.documents import palette
from pipelines.documents.messages import Message, reason_message
from pipelines.documents.verdicts import likely_kind
from warehouse.records.evidence import PairEvidence

# A picture as plain shapes, and its files: PNG, or a self-contained SVG document.
#
# Both files show the same picture. PNG is for viewers without vector graphics; its font is
# Pillow's default, or a CJK font of the machine where a text needs it. SVG has no script, font or
# external address, and its colours follow the reader's light or dark setting.

Tone = Literal["page", "panel", "ink", "soft", "frame", "met", "missed", "unknown", "mark"]
Anchor = Literal["start", "middle", "end"]
type Font = ImageFont.FreeTypeFont | ImageFont.ImageFont

# The tones, by the colour of the palette that plays them.
_ROLES: Mapping[Tone, str] = {
    "page": "card", "panel": "sunk", "ink": "ink", "soft": "soft", "frame": "muted",
    "met": "good", "missed": "bad", "unknown": "edge", "mark": "c2",
}  # fmt: skip
LIGHT: Mapping[Tone, str] = {tone: palette.LIGHT[name] for tone, name in _ROLES.items()}
DARK: Mapping[Tone, str] = {tone: palette.DARK[name] for tone, name in _ROLES.items()}
SCALE = 2
"""Pixels of a PNG per unit of the scene, for high-density screens."""
_CJK_FONT = "NotoSansCJK-Regular.ttc"
_FIRST_CJK = "\u2e80"
_ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}
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
        f"text{{font-family:{palette.FONT}}}{_css_rules(LIGHT)}"
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


def _css_rules(colours: Mapping[Tone, str]) -> str:
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


type PlotLanguage = Literal["en", "zh"]

WIDTH = 860
_LEFT, _RIGHT = 24, 24
_STRIP_TOP, _STRIP_HEIGHT, _STRIP_GAP = 196, 74, 30
_MAP_TOP, _MAP_SIZE = 430, 340
_LEGEND_HEIGHT = 200
_LONGEST_NAME = 84
# Characters that turn the reading direction, by which a name could hide another.
_HIDDEN = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_STEPS_S = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600)
_MOST_TICKS = 10
_VERDICT_TONE: dict[str, Tone] = {
    "confirmed": "met",
    "variant": "mark",
    "rejected": "missed",
    "not_comparable": "unknown",
}
_COLOUR_STOPS = np.array(
    [(16, 11, 42), (74, 18, 94), (149, 41, 87), (214, 76, 52), (246, 149, 40), (250, 230, 140)]
)
"""Dark to bright with evenly increasing lightness, so that it is readable without colour."""


_TEXTS: Mapping[str, Message] = {
    "at_least": Message("at least {limit:g}", "不低于 {limit:g}"),
    "at_most": Message("at most {limit:g}", "不高于 {limit:g}"),
    "candidate": Message("candidate", "候选"),
    "candidate_chroma": Message(
        "Chroma of the candidate, shifted to the best alignment", "候选的色度，已移至最佳对齐位置"
    ),
    "chroma_distance": Message("Chroma distance", "色度距离"),
    "confirmed": Message("confirmed", "已确认"),
    "identical": Message("2 identical", "2 相同"),
    "legend": Message(
        "Similarity of each second of the candidate (upwards, in\n"
        "seconds, speed compensated) to each second of the reference.\n"
        "\n"
        "Bright diagonal: the same music plays in both sounds.\n"
        "Parallel diagonals: repetition. Single spots: chance.\n"
        "\n"
        "Orange frame: the compared segment.",
        "候选的每一秒（向上，单位秒，已还原速度）\n"
        "与参考的每一秒之间的相似度。\n"
        "\n"
        "明亮的对角线：两段声音中是同一音乐。\n"
        "平行的对角线：重复段落。零散的亮点：偶然相似。\n"
        "\n"
        "橙色框：比对的片段。",
    ),
    "local": Message("decided on the local segment", "依据局部片段判定"),
    "mfcc_distance": Message("MFCC distance", "MFCC 距离"),
    "name": Message("video {video}, music {music}", "作品 {video}，音乐 ID {music}"),
    "no_limit": Message("no limit", "无阈值"),
    "not_comparable": Message("not comparable", "无法比对"),
    "not_measured": Message("not measured", "未测量"),
    "overlap_s": Message("Compared", "比对时长"),
    "peak_agreement": Message("Peak agreement", "峰值一致度"),
    "rejected": Message("rejected", "未通过"),
    "reference": Message("reference", "参考"),
    "reference_chroma": Message("Chroma of the reference", "参考的色度"),
    "reference_seconds": Message("reference, seconds", "参考，秒"),
    "score": Message("Score", "综合得分"),
    "semitones": Message("{steps:+.2f} semitones", "{steps:+.2f} 个半音"),
    "speed": Message(
        "plays at {factor:g}x speed, compensated here", "播放速度为 {factor:g} 倍，图中已还原"
    ),
    "title": Message(
        "{verdict}: {candidate} against {reference}", "{verdict}：{candidate} 与 {reference} 比对"
    ),
    "unrelated": Message("0 unrelated", "0 无关"),
    "variant": Message("variant", "变体"),
    "whole": Message("decided on the whole segment", "依据整段重叠判定"),
}


class PlotTexts:
    """The texts of a plot in one language."""

    def __init__(self, language: PlotLanguage) -> None:
        self._is_chinese = language == "zh"

    def of(self, name: str, **values: object) -> str:
        """Return a text of the plot by its name, with its values filled in."""
        return self._translate(_TEXTS[name]).format(**values)

    def reason(self, evidence: PairEvidence) -> str:
        """Return the reason of the verdict, and what the candidate changes, as one line."""
        parts = [self._translate(reason_message(evidence.reason))]
        kind = likely_kind(evidence)
        if kind is not None:
            parts.insert(0, self._translate(kind))
        if evidence.segment:
            parts.append(self.of(evidence.segment))
        if evidence.speed not in {None, 1.0}:
            parts.append(self.of("speed", factor=evidence.speed))
        if evidence.semitones:
            parts.append(self.of("semitones", steps=evidence.semitones))
        return ("，" if self._is_chinese else ", ").join(parts)

    def limit(self, measure: explaining.EvidenceMeasure) -> str:
        """Return the limit of a measure in words."""
        if measure.limit is None:
            return self.of("no_limit")
        return self.of("at_most" if measure.lower_is_better else "at_least", limit=measure.limit)

    def measure(self, measure: explaining.EvidenceMeasure) -> str:
        """Return a measure with its value and its limit, for readers who cannot see the plot."""
        value = self.of("not_measured") if measure.value is None else f"{measure.value:.3f}"
        text = f"{self.of(measure.name)} {value}"
        if measure.limit is None:
            return text
        limit = self.limit(measure)
        return f"{text}（{limit}）" if self._is_chinese else f"{text} ({limit})"

    def _translate(self, message: Message) -> str:
        return message.zh if self._is_chinese else message.en


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
        steps = (step for step in _STEPS_S if span / step <= _MOST_TICKS)
        step = next(steps, _STEPS_S[-1] * 6)
        first = int(np.ceil(self.first_s / step))
        return [float(step * k) for k in range(first, int(self.last_s / step) + 1)]


def draw_pair(
    explanation: explaining.Explanation, names: tuple[str, str], *, language: PlotLanguage = "en"
) -> Scene:
    """Lay out the plot of a pair.

    The names of reference and candidate may be any text: they are truncated, never interpreted.
    """
    evidence, texts = explanation.evidence, PlotTexts(language)
    reference_name, candidate_name = map(plot_name, names)
    verdict = texts.of(evidence.verdict)
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
        *_draw_measures(explanation.measures, texts),
        *_draw_strips(explanation, texts),
        *_draw_map(explanation.similarity, explanation.window, texts),
    )
    return Scene(
        width=WIDTH,
        height=height,
        title=texts.of(
            "title", verdict=verdict, candidate=candidate_name, reference=reference_name
        ),
        description="; ".join(texts.measure(measure) for measure in explanation.measures),
        shapes=shapes,
    )


def plot_name(text: str) -> str:
    """Truncate to one line and remove characters that hide others."""
    name = "".join(char if char.isprintable() else "\ufffd" for char in _HIDDEN.sub("", text))
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def _draw_measures(
    measures: tuple[explaining.EvidenceMeasure, ...], texts: PlotTexts
) -> list[SceneShape]:
    """Draw each measure as a bar from 0 with a tick at its limit, and both as text."""
    tones: dict[bool | None, Tone] = {True: "met", False: "missed", None: "unknown"}
    column = (WIDTH - _LEFT - _RIGHT) / len(measures)
    width = column - 18
    shapes: list[SceneShape] = []
    for place, measure in enumerate(measures):
        x, tone = _LEFT + place * column, tones[measure.is_met]
        value = max(0.0, measure.value or 0.0)
        # The limit stands at 5/8 of the bar, unless the value needs more room.
        scale = max(1.0 if measure.limit is None else 1.6 * measure.limit, 1.02 * value)
        number = "?" if measure.value is None else f"{measure.value:.3f}"
        limit = texts.limit(measure)
        shapes += [
            Text(x=x, y=108, text=texts.of(measure.name), tone="soft"),
            Text(x=x, y=130, text=number, tone=tone, size=17, is_bold=True),
            Text(x=x + width, y=130, text=limit, tone="soft", size=11, anchor="end"),
            Rect(x=x, y=138, width=width, height=8, tone="panel"),
            Rect(x=x, y=138, width=width * value / scale, height=8, tone=tone),
        ]
        if measure.limit is not None:
            tick = x + width * measure.limit / scale
            shapes.append(Line(x1=tick, y1=134, x2=tick, y2=150, tone="ink", width=2))
    return shapes


def _draw_strips(explanation: explaining.Explanation, texts: PlotTexts) -> list[SceneShape]:
    """Draw the chroma of both sounds on one time axis, with the compared stretch framed."""
    first, second = explanation.reference, explanation.candidate
    axis = Axis(
        min(first.start_s, second.start_s),
        max(first.start_s + first.duration_s, second.start_s + second.duration_s),
        _LEFT,
        WIDTH - _LEFT - _RIGHT,
    )
    # Both strips share one axis, on which the candidate is shifted to its best alignment.
    lower = _STRIP_TOP + _STRIP_HEIGHT + _STRIP_GAP
    bottom = lower + _STRIP_HEIGHT
    shapes: list[SceneShape] = [
        *_strip(first, axis, _STRIP_TOP, texts.of("reference_chroma")),
        *_strip(second, axis, lower, texts.of("candidate_chroma")),
    ]
    if explanation.window is not None:
        start_x = axis.at(explanation.window.reference_start_s)
        width = (
            axis.at(explanation.window.reference_start_s + explanation.window.duration_s) - start_x
        )
        shapes += [
            Rect(
                x=start_x,
                y=top - 2,
                width=width,
                height=_STRIP_HEIGHT + 4,
                tone="mark",
                is_outline=True,
            )
            for top in (_STRIP_TOP, lower)
        ]
    for moment in axis.ticks():
        x = axis.at(moment)
        shapes.append(Line(x1=x, y1=bottom + 4, x2=x, y2=bottom + 9, tone="soft"))
        shapes.append(
            Text(x=x, y=bottom + 22, text=f"{moment:g} s", tone="soft", size=11, anchor="middle")
        )
    return shapes


def _strip(strip: explaining.ChromaStrip, axis: Axis, top: float, label: str) -> list[SceneShape]:
    start_x = axis.at(strip.start_s)
    return [
        Text(x=_LEFT, y=top - 8, text=label, tone="soft"),
        Rect(x=axis.left, y=top, width=axis.width, height=_STRIP_HEIGHT, tone="panel"),
        Bitmap(
            x=start_x,
            y=top,
            width=axis.at(strip.start_s + strip.duration_s) - start_x,
            height=_STRIP_HEIGHT,
            pixels=coloured(strip.levels[::-1]),
        ),
    ]


def _draw_map(
    similarity: explaining.SimilarityMap, window: explaining.ComparedWindow | None, texts: PlotTexts
) -> list[SceneShape]:
    """Draw the similarity map with its legend; the same recording shows as a diagonal.

    Reference time runs to the right, candidate time upwards.
    """
    width, height = map_size(similarity, _MAP_SIZE)
    map_x, bottom = _LEFT + 36, _MAP_TOP + height
    across = Axis(0.0, similarity.reference_s, map_x, width)
    upwards = Axis(0.0, similarity.candidate_s, bottom, -height)
    pixels = coloured(similarity.values[::-1] / 2)  # similarity ends at 2, the first row is on top
    shapes: list[SceneShape] = [
        Bitmap(x=map_x, y=bottom - height, width=width, height=height, pixels=pixels)
    ]
    for moment in across.ticks():
        x, label = across.at(moment), f"{moment:g}"
        shapes.append(Text(x=x, y=bottom + 16, text=label, tone="soft", size=11, anchor="middle"))
    for moment in upwards.ticks():
        y, label = upwards.at(moment) + 4, f"{moment:g}"
        shapes.append(Text(x=map_x - 6, y=y, text=label, tone="soft", size=11, anchor="end"))
    label = texts.of("reference_seconds")
    shapes.append(Text(x=map_x, y=bottom + 34, text=label, tone="soft", size=11))
    if window is not None:
        shapes += marked(window, across, upwards)

    # The legend: how to read the map, and its scale of colours.
    x = map_x + _MAP_SIZE + 36
    for place, line in enumerate(texts.of("legend").split("\n")):
        shapes.append(Text(x=x, y=_MAP_TOP + 16 + 19 * place, text=line, tone="soft"))
    ramp = np.repeat(np.linspace(0, 1, 128, dtype=np.float32)[None], 4, axis=0)
    y, low, high = _MAP_TOP + 196, texts.of("unrelated"), texts.of("identical")
    return [
        *shapes,
        Bitmap(x=x, y=_MAP_TOP + 168, width=220, height=12, pixels=coloured(ramp)),
        Text(x=x, y=y, text=low, tone="soft", size=11),
        Text(x=x + 220, y=y, text=high, tone="soft", size=11, anchor="end"),
    ]


def map_size(similarity: explaining.SimilarityMap, longest: float) -> tuple[float, float]:
    """Return width and height; one second has the same length in both directions."""
    # Equal scales, so that the same recording at the same speed is a diagonal of 45 degrees.
    scale = longest / max(similarity.reference_s, similarity.candidate_s)
    return scale * similarity.reference_s, scale * similarity.candidate_s


def marked(window: explaining.ComparedWindow, across: Axis, upwards: Axis) -> list[SceneShape]:
    """Frame the compared window on a similarity map."""
    x1 = across.at(window.reference_start_s)
    x2 = across.at(window.reference_start_s + window.duration_s)
    y1 = upwards.at(window.candidate_start_s)
    y2 = upwards.at(window.candidate_start_s + window.duration_s)
    return [Rect(x=x1, y=y2, width=x2 - x1, height=y1 - y2, tone="mark", is_outline=True)]


def coloured(values: NDArray[np.floating]) -> NDArray[np.uint8]:
    """Convert values 0..1 (rows, columns) to colours (rows, columns, 3)."""
    # Interpolate between the colour stops, each channel on its own.
    places = np.nan_to_num(values).clip(0, 1) * (len(_COLOUR_STOPS) - 1)
    steps = np.arange(len(_COLOUR_STOPS))
    channels = [np.interp(places, steps, _COLOUR_STOPS[:, channel]) for channel in range(3)]
    pixels: NDArray[np.uint8] = np.stack(channels, axis=-1).round().astype(np.uint8)
    return pixels
