"""The contract says what everything is, and the page in `docs` says the same."""

import pytest

from warehouse.tables import BYTES, FLOAT, INTEGER, TABLES, Column, Table
from warehouse.tables.dictionary import PAGE, render_dictionary
from warehouse.tables.privacy import LEFT_OUT, treatment_of

COLUMNS = [(table, column) for table in TABLES for column in table.columns]


def name_of(value: object) -> str:
    return value.name if isinstance(value, Table | Column) else str(value)


def test_the_committed_page_is_the_generated_one() -> None:
    assert PAGE.read_text(encoding="utf-8") == render_dictionary(), "run `make docs`"


def test_every_column_says_what_it_means() -> None:
    assert [f"{table.name}.{column.name}" for table, column in COLUMNS if not column.meaning] == []
    assert [table.name for table in TABLES if not table.row] == []


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
    assert undecided == set(), "decide in warehouse/tables/privacy.py"


@pytest.mark.parametrize("table", TABLES, ids=name_of)
def test_a_table_is_on_the_page_with_its_key(table: Table) -> None:
    section = render_dictionary([table])
    assert f"## {table.name}\n" in section
    assert all(f"`{name}`" in section for name in table.key)
