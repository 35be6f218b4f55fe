"""The files that the console writes and reads by itself are those of the service."""

import re
from pathlib import Path

import api
from pipelines.catalog.sources.tables import COLUMN_NAMES, MAX_FILE_BYTES
from warehouse.exports.table_files import _FORMULA

APP = Path(api.__file__).parent / "console" / "app"
SOURCE = APP / "parts" / "export.js"
CATALOGS = APP / "views" / "catalogs"


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
