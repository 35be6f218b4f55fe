"""The files that the console writes and reads by itself are those of the service."""

import re
from pathlib import Path

import api
from api.services.exports.tables import _TABLES
from pipelines.catalog.sources.tables import COLUMN_NAMES, MAX_FILE_BYTES
from warehouse.exports.table_files import _FORMULA

APP = Path(api.__file__).parent / "console" / "app"
SOURCE = APP / "parts" / "export.js"
CATALOGS = APP / "views" / "catalogs"


def names_in(constant: str, pattern: str) -> list[str]:
    """The field names that a constant of the module lists, in order."""
    found = re.search(rf"const {constant} = \[(.*?)\](?:\.map|;)", SOURCE.read_text(), re.DOTALL)
    assert found is not None, f"{constant} is gone"
    return re.findall(pattern, found[1])


def columns_of(table: str) -> list[str]:
    return [place.column.name for place in _TABLES[table][0]]


def test_filtered_comparisons_have_the_columns_of_the_service() -> None:
    assert names_in("PAIR_FIELDS", r'"(\w+)"') == columns_of("comparisons")


def test_filtered_videos_have_columns_of_the_service() -> None:
    names = names_in("VIDEO_FIELDS", r'\["(\w+)", \(row\)')
    assert len(names) > 10
    assert set(names) <= {*columns_of("videos"), *columns_of("search_related")}
    assert "search_relevance_level" in names  # what a filtered search is filtered by


def test_a_text_is_a_formula_to_the_console_as_to_the_service() -> None:
    found = re.search(r"/\^\[(.*?)\]/\.test", SOURCE.read_text())
    assert found is not None
    signs = found[1].replace(r"\-", "-").encode("raw_unicode_escape").decode("unicode_escape")
    assert set(signs) == set(_FORMULA)


def test_a_header_of_an_import_is_one_to_the_console_as_to_the_service() -> None:
    text = (CATALOGS / "table_lines.js").read_text(encoding="utf-8")
    listed = re.search(r"const HEADERS = new Set\(\[\s*TRACK,(.*?)\]\)", text, re.DOTALL)
    assert listed is not None
    assert {"track", *re.findall(r'"([^"]+)"', listed[1])} == COLUMN_NAMES


def test_a_file_of_an_import_is_too_large_to_the_console_as_to_the_service() -> None:
    text = (CATALOGS / "catalogs.js").read_text(encoding="utf-8")
    assert f"const MOST_BYTES = {MAX_FILE_BYTES // 1024**2} * 1024 * 1024;" in text
