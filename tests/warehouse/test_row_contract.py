"""Rows are checked against their table before anything is written."""

from datetime import UTC, date, datetime

import numpy as np
import pyarrow as pa
import pytest

from warehouse.records.errors import ContractBrokenError
from warehouse.tables import TABLES, Column, Table
from warehouse.tables.column import (
    BOOLEAN,
    BYTES,
    DATE,
    FLOAT,
    INTEGER,
    TEXT,
    TEXT_LIST,
    TIME,
    to_arrow,
)

NOW = datetime(2026, 11, 1, tzinfo=UTC)
EVERYTHING = Table(
    "raw.everything",
    "thing",
    ("text",),
    (
        Column("text", TEXT, "words", required=True),
        Column("whole", INTEGER, "count"),
        Column("real", FLOAT, "seconds"),
        Column("flag", BOOLEAN, "yes or no"),
        Column("time", TIME, "when"),
        Column("date", DATE, "day"),
        Column("bytes", BYTES, "body"),
        Column("texts", TEXT_LIST, "words"),
        Column("committed_at", TIME, "when written", required=True),
    ),
)
FULL: dict[str, object] = {
    "text": "a",
    "whole": 1,
    "real": 0.5,
    "flag": True,
    "time": NOW,
    "date": date(2026, 11, 1),
    "bytes": b"a",
    "texts": ["a"],
}
EMPTY: dict[str, object] = {**dict.fromkeys(FULL), "text": "a"}


def test_row_that_fits_keeps_every_value() -> None:
    table = to_arrow(EVERYTHING, [FULL, EMPTY], committed_at=NOW)
    assert table.schema == EVERYTHING.schema
    assert table.to_pylist() == [{**FULL, "committed_at": NOW}, {**EMPTY, "committed_at": NOW}]


def test_row_that_brings_its_own_commit_time_keeps_it() -> None:
    earlier = datetime(2020, 1, 1, tzinfo=UTC)
    table = to_arrow(EVERYTHING, [{**FULL, "committed_at": earlier}], committed_at=NOW)
    assert table["committed_at"].to_pylist() == [earlier]


def test_a_table_that_keeps_no_commit_time_gets_none() -> None:
    timeless = Table("raw.timeless", "thing", ("text",), EVERYTHING.columns[:1])
    assert to_arrow(timeless, [{"text": "a"}], committed_at=NOW).to_pylist() == [{"text": "a"}]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("text", None),
        ("text", 1),
        ("text", "\ud800"),
        ("whole", 1.9),
        ("whole", 1.0),
        ("whole", "7"),
        ("whole", True),
        ("whole", 2**63),
        ("real", "0.5"),
        ("real", True),
        ("real", float("nan")),
        ("real", float("inf")),
        ("flag", 1),
        ("time", datetime(2026, 1, 1)),  # noqa: DTZ001  # the naive time is the point
        ("time", 1_700_000_000),
        ("time", "2026-01-01T00:00:00Z"),
        ("date", NOW),
        ("date", "2026-11-01"),
        ("bytes", "a"),
        ("texts", "ab"),
        ("texts", [1]),
        ("texts", ["a", 1]),
        ("texts", [None]),
        ("committed_at", None),
    ],
)
def test_value_that_does_not_fit_is_refused(name: str, value: object) -> None:
    with pytest.raises(ContractBrokenError, match=r"raw\.everything"):
        to_arrow(EVERYTHING, [FULL, {**FULL, name: value}], committed_at=NOW)


def test_missing_and_unknown_keys_are_named() -> None:
    row = {("txt" if name == "text" else name): value for name, value in FULL.items()}
    with pytest.raises(ContractBrokenError, match=r"lacks \['text'\] and has unknown \['txt'\]"):
        to_arrow(EVERYTHING, [row], committed_at=NOW)


def test_numbers_of_the_numeric_libraries_fit() -> None:
    row = {**FULL, "whole": np.int32(3), "real": np.float32(0.25)}
    table = to_arrow(EVERYTHING, [row, {**FULL, "real": 2}], committed_at=NOW)
    assert table["whole"].to_pylist() == [3, 1]
    assert table["real"].to_pylist() == [0.25, 2.0]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_table_of_the_contract_is_sound(table: Table) -> None:
    names = [column.name for column in table.columns]
    required = {column.name for column in table.columns if column.required}
    assert len(names) == len(set(names))
    assert set(table.key) <= required
    assert table.folder.split("/")[0] in {"raw", "marts"}
    assert isinstance(table.schema, pa.Schema)
    assert {column.type for column in table.columns} <= {
        TEXT,
        INTEGER,
        FLOAT,
        BOOLEAN,
        TIME,
        DATE,
        BYTES,
        TEXT_LIST,
    }
    assert all(column.meaning for column in table.columns)
