"""The picture of a pair: well-formed whatever the names are, the same in both file forms."""

import io
import re
import subprocess
import sys
from dataclasses import replace
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from PIL import Image

from api.services.evidence.plot import (
    DARK,
    LIGHT,
    SCALE,
    WIDTH,
    PlotLanguage,
    Scene,
    draw_pair,
    to_png,
    to_svg,
)
from pipelines.audio.explanation import explain_pair
from pipelines.audio.features.sound_features import Features, Peaks
from pipelines.documents import palette
from warehouse.records.evidence import MatchThresholds, PairEvidence

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = (
    '</text><script>alert(1)</script>"&<![CDATA[',
    "\x00\x1b[31m\u202egnp.exe\ud800",
    "纸船 🎵 " * 60,
    "",
)
COMPARED = PairEvidence(
    verdict="variant", reason="speed_variant", segment="local", chroma_distance=0.2,
    mfcc_distance=0.5, overlap_s=6.0, reference_start_s=2.0, candidate_start_s=1.0,
    peak_agreement=0.3, score=0.8, speed=1.25, semitones=3.863,
)  # fmt: skip
NOT_COMPARED = PairEvidence(verdict="not_comparable", reason="overlap_too_short")


def features(seed: int, frames: int = 200) -> Features:
    numbers = np.random.default_rng(seed)
    none = Peaks(np.zeros(0, np.int32), np.zeros(0, np.float32), np.zeros(0, np.uint8))
    return Features(numbers.random((frames, 36)), -60 * numbers.random((frames, 64)), none)


def scene(name: str, evidence: PairEvidence = COMPARED, language: PlotLanguage = "en") -> Scene:
    explanation = explain_pair(features(1), features(2, 150), evidence, limits=MatchThresholds())
    return draw_pair(explanation, (name, name), language=language)


@pytest.mark.parametrize("name", HOSTILE)
def test_the_vector_picture_is_well_formed_and_harmless(name: str) -> None:
    text = to_svg(scene(name))
    root = ET.fromstring(text)
    kinds = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert kinds == {"svg", "title", "desc", "style", "rect", "line", "text", "image"}
    assert "\u202e" not in text
    for element in root.iter():
        assert not any(key.startswith("on") for key in element.attrib)
        assert element.attrib.get("href", "data:image/png").startswith("data:image/png")


def test_evidence_plot_contains_no_address_but_the_svg_namespace() -> None:
    assert to_svg(scene("a")).count("http") == 1


def test_evidence_plot_has_the_colours_and_the_font_of_the_palette() -> None:
    text = to_svg(scene("a"))
    colours = set(re.findall(r"#[0-9a-f]{6}\b", text))
    assert colours == {*LIGHT.values(), *DARK.values()}
    assert colours <= {*palette.LIGHT.values(), *palette.DARK.values()}
    assert f"text{{font-family:{palette.FONT}}}" in text


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("is_dark", [False, True])
def test_the_pixel_picture_decodes(name: str, is_dark: bool) -> None:
    drawn = scene(name)
    picture = Image.open(io.BytesIO(to_png(drawn, is_dark=is_dark)))
    picture.load()
    assert picture.size == (SCALE * WIDTH, SCALE * drawn.height)
    page = (DARK if is_dark else LIGHT)["page"]
    assert "#{:02x}{:02x}{:02x}".format(*picture.convert("RGB").getpixel((1, 1))) == page  # type: ignore[misc]  # three channels


def test_a_pair_that_could_not_be_compared_has_a_picture_without_a_window() -> None:
    drawn = scene("a", NOT_COMPARED)
    assert not any(getattr(shape, "is_outline", False) for shape in drawn.shapes)
    assert "not measured" in to_svg(drawn)


@pytest.mark.parametrize(
    "unnamed",
    [
        replace(NOT_COMPARED, reason="candidate_of_an_earlier_release"),
        replace(COMPARED, verdict="rejected", observation="of_an_earlier_release"),  # type: ignore[arg-type]  # as stored
    ],
)
def test_a_word_that_has_no_text_is_shown_as_it_is(unnamed: PairEvidence) -> None:
    word = unnamed.observation or unnamed.reason
    assert word.replace("_", " ") in to_svg(scene("a", unnamed))
    assert word in to_svg(scene("a", unnamed, "zh"))


def test_evidence_plot_describes_its_numbers_in_words() -> None:
    root = ET.fromstring(to_svg(scene("a")))
    words = root.findtext(f"{SVG}desc") or ""
    assert "Chroma distance 0.200 (at most 0.65)" in words
    assert "Score 0.800 (at least 0.65)" in words


def test_in_chinese_no_english_word_is_left_but_names_of_measures() -> None:
    root = ET.fromstring(to_svg(scene("纸船", language="zh")))
    texts = [root.findtext(f"{SVG}title"), root.findtext(f"{SVG}desc")]
    texts += [element.text for element in root.iter(f"{SVG}text")]
    assert {word for text in texts for word in re.findall("[A-Za-z]{2,}", text or "")} == {"MFCC"}
    assert "色度距离 0.200（不高于 0.65）" in (texts[1] or "")
    assert texts[0] == "变体：纸船 与 纸船 比对"


def test_drawing_loads_neither_a_decoder_nor_compiled_loops() -> None:
    drawing = "api.services.evidence.plot, api.services.evidence.plot"
    code = f"import {drawing}, pipelines.audio.features.sounds, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"av", "numba", "scipy", "dagster"}.isdisjoint(done.stdout.split())
