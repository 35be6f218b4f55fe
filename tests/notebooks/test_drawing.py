"""The process that draws plots: its pictures, its errors, its end."""

import psutil
import pytest

from pipelines.reports.drawing import PlotRenderer

pytestmark = pytest.mark.full

BAR = """{"data": {"values": [{"name": "%s", "count": 3}]}, "mark": "bar", "encoding": {
    "y": {"field": "name", "type": "nominal"}, "x": {"field": "count", "type": "quantitative"}
}}"""


@pytest.fixture(scope="module")
def renderer() -> PlotRenderer:
    return PlotRenderer()


def test_a_plot_becomes_a_picture_with_its_words(renderer: PlotRenderer) -> None:
    picture = renderer.draw(BAR % "\u539f\u58f0 & <b>")
    assert picture.startswith("<svg")
    assert "\u539f\u58f0 &amp; &lt;b" in picture


def test_an_invalid_plot_is_refused_and_the_next_is_drawn(renderer: PlotRenderer) -> None:
    with pytest.raises(ValueError, match="conversion failed"):
        renderer.draw('{"mark": "nothing", "data": {"values": []}, "encoding": 3}')
    assert renderer.draw(BAR % "Lin").startswith("<svg")


def test_plot_process_ends_with_its_connection() -> None:
    renderer = PlotRenderer()
    renderer.draw(BAR % "Lin")
    process = psutil.Process(renderer.process.pid)
    renderer.close()
    process.wait(timeout=240)
    assert not process.is_running()
