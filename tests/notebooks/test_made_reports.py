"""Reports as they are made: by a kernel, out of a small lake.

One kernel makes all six in turn. One of its own, as in the product, makes that of a track again,
with the same bytes. In `make soak`: five reports in Chinese, and what plain papermill makes.
"""

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import pytest
from selectolax.lexbor import LexborHTMLParser

from pipelines.reports.build import RenderedReport, run_notebook
from pipelines.reports.catalogue import NOTEBOOKS, find_report, read_catalogue
from pipelines.reports.pdf import open_printer
from pipelines.reports.texts import load_texts
from tests.notebooks.conftest import one_kernel_for_reports
from tests.notebooks.kernels import Kernel
from warehouse.records.errors import InvalidParameterError

pytestmark = pytest.mark.full

NAMES = [one.name for one in read_catalogue()]
LONG = "track"
"""The report with the most texts; the others are made in Chinese by `make soak`."""
ASKING = {"src", "href", "xlink:href", "action", "srcset", "data", "poster", "background"}
LOADING = {"script", "link", "img", "image", "iframe", "object", "embed", "base", "use", "form"}


def text_of(made: RenderedReport) -> str:
    return made.page.read_text()


@pytest.mark.parametrize("name", NAMES)
def test_the_page_asks_for_nothing_and_runs_nothing(
    all_made: dict[str, RenderedReport], name: str
) -> None:
    page = text_of(all_made[name])
    nodes = LexborHTMLParser(page).css("*")
    assert len(nodes) > 50
    assert {node.tag for node in nodes} & LOADING == set()
    attributes = {key.lower() for node in nodes for key in node.attributes}
    assert {key for key in attributes if key in ASKING or key.startswith("on")} == set()
    assert re.findall(r"url\((?!#)|@import", page) == []  # `#`: a part of the page itself
    assert "default-src 'none'" in page


@pytest.mark.parametrize("name", NAMES)
def test_the_page_tells_what_it_rests_on(all_made: dict[str, RenderedReport], name: str) -> None:
    made = all_made[name]
    page = text_of(made)
    assert made.run_id in page
    assert "Demo data" in page
    assert "Method and coverage" in page
    assert "2026-10-20T23:59:59.999999Z" in page
    assert f"sametrack report {name}" in page
    assert "marts.confirmed_videos" in page  # with its rows and last commit
    assert "never a full list" in page


@pytest.mark.parametrize("name", NAMES)
def test_every_table_lies_beside_the_page_and_is_named_in_it(
    all_made: dict[str, RenderedReport], name: str
) -> None:
    made = all_made[name]
    assert made.tables
    assert [path.name for path in made.tables if f"{path.name}:" not in text_of(made)] == []
    assert all(path.read_bytes().startswith(b"\xef\xbb\xbf") for path in made.tables)


def test_hostile_text_is_text(all_made: dict[str, RenderedReport]) -> None:
    for name in ("track", "comparison", "creator"):
        assert "&lt;script src=http" in text_of(all_made[name])


def test_plots_are_pictures_in_the_page(all_made: dict[str, RenderedReport]) -> None:
    counts = {name: text_of(made).count("<svg") for name, made in all_made.items()}
    assert counts == {
        "chart": 2,
        "comparison": 4,
        "creator": 3,
        "matcher": 5,
        "quality": 3,
        "track": 7,
    }


def test_report_says_which_data_is_missing(all_made: dict[str, RenderedReport]) -> None:
    assert "No song is linked to a track" in text_of(all_made["chart"])
    assert "No pair has been annotated yet." in text_of(all_made["matcher"])


def test_the_same_moment_gives_the_same_bytes_whatever_came_later(
    workshop: Any, all_made: dict[str, RenderedReport]
) -> None:
    before = all_made["track"]
    workshop.add_scan("7400000000000000003", day=30, likes=90_000, works=6)
    after = workshop.make("track", to="again", as_of="2026-10-20")
    assert _bytes(after.tables) == _bytes(before.tables)
    differing = [
        pair
        for pair in zip(text_of(before).splitlines(), text_of(after).splitlines(), strict=True)
        if pair[0] != pair[1]
    ]
    assert [one[0].startswith('<p class="making">Run ') for one in differing] == [True]


def test_error_of_a_notebook_cell_is_the_error_of_the_report(tmp_path: Path) -> None:
    refusing = (
        "from warehouse.records.errors import InvalidParameterError as E\nraise E('no track')"
    )
    notebook = nbformat.v4.new_notebook()  # type: ignore[no-untyped-call]
    notebook.cells = [nbformat.v4.new_code_cell(refusing)]  # type: ignore[no-untyped-call]
    nbformat.write(notebook, tmp_path / "refusing.ipynb")  # type: ignore[no-untyped-call]
    report = replace(find_report("track"), path=tmp_path / "refusing.ipynb")
    with pytest.raises(InvalidParameterError, match="no track"):
        run_notebook(report, {}, progress=lambda _: None)


@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=[] if one == LONG else pytest.mark.soak) for one in NAMES],
)
def test_a_report_in_chinese_has_the_same_tables_and_chinese_texts(
    workshop: Any, kernel: Kernel, all_made: dict[str, RenderedReport], name: str
) -> None:
    with one_kernel_for_reports(kernel):
        made = workshop.make(name, to=f"{name}-zh", as_of="2026-10-20", language="zh")
    assert _bytes(made.tables) == _bytes(all_made[name].tables)
    page = text_of(made)
    assert '<html lang="zh-Hans">' in page
    chinese = load_texts("zh")
    for place in (f"{name}.title", f"{name}.question", "facts.title", "page.appendix"):
        assert chinese.text(place) in page
    headings = [node.text() for node in LexborHTMLParser(page).css("h2, h3, .message, figcaption")]
    english = set(load_texts("en").entries[name]["tables"]) | {"Method and coverage", "Tables"}
    assert [heading for heading in headings if heading in english] == []


@pytest.mark.soak
@pytest.mark.parametrize("folder", ["", "notebooks/reports"])
def test_plain_papermill_runs_a_report_with_an_id_typed_as_a_number(
    workshop: Any, tmp_path: Path, folder: str
) -> None:
    root = NOTEBOOKS.parents[1]
    found = workshop.settings
    environment = os.environ | {
        "PROFILE": found.profile, "DATA_HOME": str(found.data_home), "PYTHONPATH": str(root),
        "IPYTHONDIR": str(tmp_path),
    }  # fmt: skip
    out = tmp_path / "out.ipynb"
    notebook = os.path.relpath(NOTEBOOKS / "track.ipynb", root / folder)
    parameters = ("-p", "music_id", "7400000000000000002")
    subprocess.run(
        [sys.executable, "-m", "papermill", notebook, str(out), *parameters],
        cwd=root / folder, env=environment, check=True, capture_output=True, timeout=600,
    )  # fmt: skip
    assert "Song 2" in out.read_text()


@pytest.mark.browser
def test_a_page_is_printed_without_a_network(all_made: dict[str, RenderedReport]) -> None:
    with open_printer(None) as printer:
        printed = printer.print_page(text_of(all_made["quality"]))
    assert printed.startswith(b"%PDF-")


def _bytes(paths: tuple[Path, ...]) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in paths}
