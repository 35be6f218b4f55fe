"""Rows are checked against their table before anything is written."""

from contextlib import closing
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from warehouse.records.errors import ContractBrokenError
from warehouse.tables import BY_NAME, TABLES, Column, Table
from warehouse.tables.column import (
    BOOLEAN,
    BYTES,
    DATE,
    FLOAT,
    HAS_CAPTURE,
    INTEGER,
    NOT_NEGATIVE,
    REQUIRED_FILLED,
    TEXT,
    TEXT_LIST,
    TIME,
    TIMES_IN_PAST,
    row_rules,
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


OBSERVED = Table(
    "raw.observed",
    "row",
    ("capture_id",),
    (
        Column("capture_id", TEXT, "its capture"),
        Column("digg_count", INTEGER, "likes", required=True),
        Column("cursor_in", INTEGER, "where its page begins"),
        Column("body", BYTES, "what was read", required=True),
        Column("observed_at", TIME, "when observed", required=True),
        Column("committed_at", TIME, "when written", required=True),
    ),
)


def broken(table: Table, **changed: object) -> set[str]:
    """The names of the rules that a row breaks; it is sound but for what is changed."""
    row = {
        "capture_id": "known", "digg_count": 0, "cursor_in": -1, "body": None,
        "observed_at": NOW, "committed_at": NOW,
    }  # fmt: skip
    with closing(duckdb.connect()) as database:
        database.execute("set timezone = 'UTC'; create schema raw; create schema marts")
        database.execute(
            "create table raw.captures as select 'known' capture_id, 'a' payload_sha256"
        )
        database.execute("create table marts.surface_health as select 'b' payload_sha256")
        columns = ", ".join(
            f"${column.name}::{column.sql_type} {column.name}" for column in table.columns
        )
        values = {column.name: {**row, **changed}.get(column.name) for column in table.columns}
        database.execute(f"create table checked as select {columns}", values)  # our own
        return {
            rule.name
            for rule in row_rules(table)
            if database.execute(
                f"select count(*) from checked where {rule.broken}",  # our own
                {"now": NOW} if "$now" in rule.broken else {},
            ).fetchone() != (0,)
        }  # fmt: skip


def test_a_sound_row_breaks_no_rule() -> None:
    assert broken(OBSERVED) == set()
    assert {rule.name for rule in row_rules(OBSERVED)} == {
        REQUIRED_FILLED, NOT_NEGATIVE, TIMES_IN_PAST, HAS_CAPTURE,
    }  # fmt: skip


def test_required_columns_but_long_bodies_are_filled_and_counts_are_not_negative() -> None:
    assert broken(OBSERVED, digg_count=None) == {REQUIRED_FILLED}
    assert broken(OBSERVED, digg_count=-1) == {NOT_NEGATIVE}


@pytest.mark.parametrize(
    ("observed_s", "committed_s", "rules"),
    [
        (300, 300, set()),
        (301, 301, {TIMES_IN_PAST}),
        (0, 301, {TIMES_IN_PAST}),
        (0, -300, set()),
        (0, -301, {TIMES_IN_PAST}),
    ],
)
def test_a_time_may_be_as_far_ahead_as_clocks_differ(
    observed_s: int, committed_s: int, rules: set[str]
) -> None:
    observed_at, committed_at = (NOW + timedelta(seconds=s) for s in (observed_s, committed_s))
    assert broken(OBSERVED, observed_at=observed_at, committed_at=committed_at) == rules


@pytest.mark.parametrize(
    ("capture_id", "minutes", "rules"),
    [("lost", 61, {HAS_CAPTURE}), ("lost", 60, set()), ("known", 61, set()), (None, 61, set())],
)
def test_a_row_has_its_capture_within_an_hour(
    capture_id: str | None, minutes: int, rules: set[str]
) -> None:
    then = NOW - timedelta(minutes=minutes)
    assert broken(OBSERVED, capture_id=capture_id, observed_at=then, committed_at=then) == rules


def test_a_body_belongs_to_a_capture_or_a_probe() -> None:
    bodies = replace(
        OBSERVED,
        name="raw.payloads",
        columns=(Column("sha256", TEXT, "hash"), *OBSERVED.columns[1:]),
    )
    then = {"observed_at": NOW - timedelta(hours=2), "committed_at": NOW - timedelta(hours=2)}
    rules = [broken(bodies, sha256=name, **then) for name in ("a", "b", "c")]
    assert rules == [set(), set(), {HAS_CAPTURE}]


def test_types_in_sql_are_those_of_the_columns() -> None:
    with closing(duckdb.connect()) as database:
        database.execute("set timezone = 'UTC'")
        for column in EVERYTHING.columns:
            made = database.sql(f"select null::{column.sql_type} as made").to_arrow_table()
            assert made.schema.field("made").type == column.type


@pytest.mark.parametrize(
    ("name", "folder", "noun", "is_observed", "counted"),
    [
        ("raw.captures", "raw/captures", "captures", False, "seen.captures"),
        ("raw.videos", "raw/videos", "videos", True, "seen.videos"),
        ("raw.payloads", "raw/payloads", "payloads", False, "seen.payloads"),
    ],
)
def test_names_of_a_table_follow_from_its_own(
    name: str, folder: str, noun: str, is_observed: bool, counted: str
) -> None:
    table = BY_NAME[name]
    assert (table.folder, table.noun, table.is_observed, table.counted_name) == (
        folder, noun, is_observed, counted,
    )  # fmt: skip
