"""The contract says what everything is, and the page in `docs` says the same."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pytest

from warehouse.tables import RELATIONS, Column, Table
from warehouse.tables.column import (
    BOOLEAN,
    BYTES,
    DATE,
    EXCEPTIONS,
    FLOAT,
    INTEGER,
    NAMING_SCHEME,
    TEXT,
    TEXT_LIST,
    TIME,
)
from warehouse.tables.dictionary import LEFT_OUT, PAGE, render_dictionary, treatment_of

COLUMNS = [(table, column) for table in RELATIONS for column in table.columns]
_ENDINGS: Mapping[pa.DataType, tuple[str, ...]] = {
    TIME: ("_at",),
    DATE: ("_date",),
    INTEGER: ("_count", "_gained", "_s", "_ms", "_days", "_bytes", "_hz"),
    FLOAT: ("_s", "_days"),
    TEXT_LIST: ("s",),
    TEXT: ("",),
    BYTES: ("",),
    BOOLEAN: ("",),
}
_RESERVED: Mapping[str, tuple[pa.DataType, ...]] = {
    "_at": (TIME,),
    "_date": (DATE,),
    "_id": (TEXT,),
    "_ids": (TEXT_LIST,),
    "_count": (INTEGER,),
    "_gained": (INTEGER,),
    "_days": (INTEGER, FLOAT),
}
_UNITLESS = frozenset({
    "HTTP status", "cursor of the platform", "distance", "ordinal", "ordinal of the source",
    "ratio", "score", "semitone", "share", "weight",
})  # fmt: skip


def name_of(value: object) -> str:
    return value.name if isinstance(value, Table | Column) else str(value)


def test_the_committed_page_is_the_generated_one() -> None:
    assert PAGE.read_text(encoding="utf-8") == render_dictionary(), "run `make docs`"


def test_every_column_says_what_it_means() -> None:
    assert [f"{table.name}.{column.name}" for table, column in COLUMNS if not column.meaning] == []
    assert [table.name for table in RELATIONS if not table.row] == []


def test_every_number_has_a_unit() -> None:
    numbers = [(table, column) for table, column in COLUMNS if column.type in (INTEGER, FLOAT)]
    assert [f"{t.name}.{c.name}" for t, c in numbers if c.unit is None] == []
    assert len(numbers) > 50


def test_every_column_was_decided_on_for_exports_without_names() -> None:
    by_default = {
        column.name
        for _, column in COLUMNS
        if treatment_of(column) == "out" and column.type != BYTES
    }
    undecided = by_default - LEFT_OUT
    assert undecided == set(), "decide in warehouse/tables/dictionary.py"


@pytest.mark.parametrize("table", RELATIONS, ids=name_of)
def test_a_table_is_on_the_page_with_its_key(table: Table) -> None:
    section = render_dictionary([table])
    assert f"## {table.name}\n" in section
    assert all(f"`{name}`" in section for name in table.key)


def follows_scheme(column: Column) -> bool:
    """Return whether the name of a column says what it has to say."""
    name = column.name
    if name != name.lower() or name.strip("_") != name or "__" in name:
        return False
    if name.endswith("id") and not name.endswith("_id"):
        return False
    if any(column.type not in types for end, types in _RESERVED.items() if name.endswith(end)):
        return False
    is_boolean = name.startswith(("is_", "has_")) or "_is_" in name
    if is_boolean or column.type == BOOLEAN:
        return is_boolean and column.type == BOOLEAN
    return name.endswith(_ENDINGS[column.type]) or name == "day" or _has_no_unit(column)


def _has_no_unit(column: Column) -> bool:
    return column.type in (INTEGER, FLOAT) and (column.unit or "").partition(",")[0] in _UNITLESS


def test_every_column_is_named_by_the_scheme_or_an_exception_with_a_reason() -> None:
    outside = {column.name for _, column in COLUMNS if not follows_scheme(column)}
    assert outside == set(EXCEPTIONS)
    assert all(len(reason) > 5 for reason in EXCEPTIONS.values())


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("seenAt", TIME), ("seen", TIME), ("seen_at", TEXT), ("exact", BOOLEAN), ("is_exact", TEXT),
        ("likes", INTEGER), ("like_count", TEXT), ("music_ids", TEXT), ("name", TEXT_LIST),
        ("seen__at", TIME), ("height", FLOAT), ("videoid", TEXT),
    ],
)  # fmt: skip
def test_a_name_that_does_not_say_what_it_is_is_outside_the_scheme(name: str, kind: Any) -> None:
    assert not follows_scheme(Column(name, kind, "meaning"))


def test_the_page_states_the_scheme_and_what_is_outside_it() -> None:
    page = render_dictionary()
    assert all(f"- {rule}\n" in page for rule in NAMING_SCHEME)
    assert all(f"- `{name}`: {reason}\n" in page for name, reason in EXCEPTIONS.items())


def test_a_section_tells_joins_and_examples() -> None:
    section = render_dictionary([table for table in RELATIONS if table.name == "marts.rankings"])
    assert "- `music_id` is `track_music_id` of [`marts.tracks`](#martstracks)\n" in section
    assert "```sql\nselect title, rank" in section
