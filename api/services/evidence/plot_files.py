"""Writes the evidence plot as a file in the requested format."""

from typing import Literal

from api.services.evidence.cross_check_plot import draw_cross_check
from api.services.evidence.plot import draw_pair
from api.services.evidence.plot_texts import PlotLanguage
from api.services.evidence.png import to_png
from api.services.evidence.scene import Scene
from api.services.evidence.svg import to_svg
from pipelines.audio.cross_check import CrossCheck
from pipelines.audio.explanation import Explanation


def render_plot(
    explanation: Explanation,
    form: Literal["svg", "png"],
    *,
    reference_name: str,
    candidate_name: str,
    language: PlotLanguage = "en",
) -> bytes:
    """Draw the plot and encode it. Names may be any text."""
    scene = draw_pair(
        explanation,
        reference_name=reference_name,
        candidate_name=candidate_name,
        language=language,
    )
    return _encoded(scene, form)


def render_cross_check(
    explanation: Explanation,
    check: CrossCheck,
    form: Literal["svg", "png"],
    *,
    reference_name: str,
    candidate_name: str,
) -> bytes:
    """Draw the matcher and librosa in one picture and encode it. Names may be any text."""
    scene = draw_cross_check(
        explanation, check, reference_name=reference_name, candidate_name=candidate_name
    )
    return _encoded(scene, form)


def _encoded(scene: Scene, form: Literal["svg", "png"]) -> bytes:
    return to_svg(scene).encode() if form == "svg" else to_png(scene)
