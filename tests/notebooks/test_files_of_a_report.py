"""The files that a report leaves: its tables and the error sheet of the newest scan."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pipelines.reports.figures.plots import ReportPlots
from pipelines.reports.figures.report import NotebookReport, open_report
from pipelines.reports.texts import load_texts

pytestmark = pytest.mark.full

TRACK = "7400000000000000001"


def opened(workshop: Any, tables: Path | str = "", *, language: str = "en") -> NotebookReport:
    return open_report("track", home=str(workshop.home.root), tables=str(tables), language=language)


def test_a_table_is_a_file_with_all_its_rows(workshop: Any, tmp_path: Path) -> None:
    found = pa.table({"n": [1, 2, 3]})
    shown = opened(workshop, tmp_path).table("accounts", found, shown=1)
    assert (tmp_path / "accounts.csv").read_text("utf-8-sig").split() == ["n", "1", "2", "3"]
    assert "3 rows, first 1 shown" in shown.text


def test_the_file_of_an_error_sheet_is_the_same_in_every_language(
    workshop: Any, tmp_path: Path
) -> None:
    pages = {}
    for language in ("en", "zh"):
        folder = tmp_path / language
        folder.mkdir()
        pages[language] = opened(workshop, folder, language=language).error_sheet(TRACK).html
    [english], [chinese] = ([*(tmp_path / one).iterdir()] for one in ("en", "zh"))
    assert english.name == chinese.name
    assert english.read_bytes() == chinese.read_bytes()
    assert english.name in pages["en"]
    assert pages["en"] != pages["zh"]


def test_a_track_without_a_scan_has_a_sentence_for_an_error_sheet(
    workshop: Any, tmp_path: Path
) -> None:
    report = opened(workshop, tmp_path)
    assert report.texts.text("page.no_error_sheet") in report.error_sheet("12").html
    assert list(tmp_path.iterdir()) == []


def test_every_table_is_listed_with_its_rows_and_its_age(workshop: Any) -> None:
    report = opened(workshop)
    sizes = {row["name"]: row for row in report.table_sizes().to_pylist()}
    assert sizes["raw.tracks"]["row_count"] > 0
    assert min(row["age_days"] for row in sizes.values() if row["row_count"]) == 0.0
    empty = [row for row in sizes.values() if not row["row_count"]]
    assert all(row["last_commit"] is None and row["age_days"] is None for row in empty)


def test_points_without_a_place_are_not_drawn() -> None:
    draw = ReportPlots(load_texts("en")).points
    unknown = pa.array([None], pa.float64())
    for row in ({"x": unknown, "y": [1.0]}, {"x": [1.0], "y": unknown}):
        assert draw(pa.table(row | {"v": ["rejected"]}), x="x", y="y", by="v", lines=()) is None
