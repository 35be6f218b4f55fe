"""How tables and plots of reports look: what may break, what an axis names, what has edges."""

import json
import re
from datetime import date, timedelta

import pyarrow as pa
import pytest

from pipelines.reports.figures.display import show_figure, show_table
from pipelines.reports.figures.plots import ReportPlots
from pipelines.reports.texts import load_texts
from warehouse.exports.export_table import to_table

pytestmark = pytest.mark.full

TEXTS = load_texts("en")
PLOTS = ReportPlots(TEXTS)


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("exact_music_id", "exact_<wbr>music_<wbr>id"),
        ("7342451722773117559", "7342451722773117559"),
        ("W" * 45, f"{'W' * 20}<wbr>{'W' * 20}<wbr>{'W' * 5}"),
        ("慢半拍潜水艇" * 5, "慢半拍潜水艇" * 5),
    ],
)
def test_a_word_too_long_for_a_column_may_break_and_an_id_may_not(text: str, reported: str) -> None:
    found = to_table("works", pa.table({"title": [text, "b"]}))
    shown = show_table(found, "W", texts=TEXTS, empty="", shown=2, only=None, mark="0")
    assert f">{reported}</td>" in shown.html


def test_an_axis_of_counts_names_whole_numbers_alone() -> None:
    days = [date(2026, 1, 1), date(2026, 2, 1)]
    chart = PLOTS.columns(pa.table({"x": days, "n": [1, 2]}), x="x", value="n")
    assert chart is not None
    labels = re.findall(r">([\d.,]+)</text>", show_figure(chart, "n", "").html)
    assert {"0", "1", "2"} <= set(labels)
    assert not [label for label in labels if "." in label]


def test_columns_too_narrow_for_edges_have_none() -> None:
    days = [date(2021, 1, 1) + timedelta(days=n) for n in range(1000)]
    table = pa.table({"x": days, "n": [100] * 1000})
    for rows, edge in ((table, 0), (table.slice(0, 5), 0.5)):
        chart = PLOTS.columns(rows, x="x", value="n")
        assert chart is not None
        assert json.loads(chart.to_json())["mark"]["strokeWidth"] == edge


def test_an_axis_of_shares_is_in_percent_and_its_labels_are_whole() -> None:
    source = "the song's page in the music service"
    table = pa.table({"surface": [source], "complete_share": [0.25]})
    chart = PLOTS.bars(table, label="surface", value="complete_share")
    assert chart is not None
    html = show_figure(chart, "n", "").html
    assert ">25%</text>" in html
    assert f">{source}</text>" in html


def test_a_single_day_is_labelled_with_its_date_alone() -> None:
    chart = PLOTS.columns(pa.table({"x": [date(2026, 11, 23)], "n": [3]}), x="x", value="n")
    assert chart is not None
    labels = re.findall(r">(2026[^<]*)</text>", show_figure(chart, "n", "").html)
    assert labels == ["2026-11-23"]
