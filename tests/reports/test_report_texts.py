"""The texts of reports: both languages have the same, and every notebook finds its own."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import Any

import pytest

from pipelines.reports import texts
from pipelines.reports.catalogue import read_catalogue
from pipelines.reports.texts import load_texts
from warehouse.records.errors import InvalidParameterError

FOLDER = Path(texts.__file__).parent
REPORTS = read_catalogue()
CALL = re.compile(r'report\.(table|chart)\(\s*"(\w+)"')


def leaves(entries: dict[str, Any], place: str = "") -> Iterator[tuple[str, str]]:
    for key, value in entries.items():
        name = f"{place}.{key}" if place else key
        if isinstance(value, dict):
            yield from leaves(value, name)
        else:
            yield name, value


def read(language: str) -> dict[str, str]:
    return dict(leaves(tomllib.loads((FOLDER / f"{language}.toml").read_text(encoding="utf-8"))))


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def cells(path: Path, kind: str) -> list[dict[str, Any]]:
    found = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in found if cell["cell_type"] == kind]


def test_both_languages_have_the_same_texts() -> None:
    chinese = {name for name in read("zh") if ".sections." not in name}
    assert chinese == set(read("en"))


def test_a_translation_uses_the_numbers_of_the_original_and_no_others() -> None:
    english = read("en")
    wrong = {
        name: fields(text) ^ fields(english[name])
        for name, text in read("zh").items()
        if name in english and not fields(text) <= fields(english[name]) | {"total"}
    }
    assert wrong == {}


def test_chinese_texts_are_chinese() -> None:
    same = {
        name for name, text in read("zh").items() if re.search(r"[\u4e00-\u9fff]", text) is None
    }
    assert same <= {"facts.table", "facts.judged"}


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.name)
def test_every_section_of_a_notebook_is_translated(report: Any) -> None:
    sections = load_texts("zh").entries[report.name]["sections"]
    assert set(sections) == {cell["id"] for cell in cells(report.path, "markdown")}


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.name)
def test_tables_and_charts_have_texts_and_no_text_is_left_over(report: Any) -> None:
    source = "\n".join("".join(cell["source"]) for cell in cells(report.path, "code"))
    for kind, section in (("table", "tables"), ("chart", "charts")):
        used = {name for found, name in CALL.findall(source) if found == kind}
        assert used == set(load_texts("en").entries[report.name][section])


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.name)
def test_the_title_of_a_page_is_that_of_its_notebook(report: Any) -> None:
    assert load_texts("en").text(f"{report.name}.title") == report.title


def test_an_unknown_language_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidParameterError, match="'fr' is not a language") as caught:
        load_texts("fr")
    assert "en, zh" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("language", "value", "shown"),
    [
        ("en", 999_999, "999,999"), ("en", 12_345_678, "12.3 M"), ("en", None, "—"),
        ("zh", 99_999, "99,999"), ("zh", 123_456, "12.3 万"), ("zh", 234_000_000, "2.3 亿"),
    ],
)  # fmt: skip
def test_a_key_figure_has_few_digits(language: str, value: int | None, shown: str) -> None:
    assert load_texts(language).key_figure(value) == shown
