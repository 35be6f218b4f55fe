"""Validation of rows against their table, before every append.

Checks keys, nulls and types. Delta casts silently (1.9 becomes 1 in an integer column) and Arrow
drops unknown keys, so neither can be relied on.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from numbers import Integral, Real
from typing import Any

import pyarrow as pa

from warehouse.records.errors import ContractBrokenError
from warehouse.tables import Column, Table
from warehouse.tables.column import BOOLEAN, BYTES, DATE, FLOAT, INTEGER, TEXT, TEXT_LIST, TIME

# Rules for the rows of a table, derived from its contract: one SQL condition per rule.
#
# The rules are checked in `maintenance.table_review`.

SCHEMA = "schema_is_as_agreed"
KEYS = "keys_are_unique"
REQUIRED_FILLED = "required_columns_are_filled"
NOT_NEGATIVE = "numbers_are_not_negative"
TIMES_IN_PAST = "times_are_past"
HAS_CAPTURE = "rows_have_their_capture"
IS_FRESH = "rows_are_fresh"

MEANINGS: Mapping[str, str] = {
    SCHEMA: "The stored table has the columns and the schema version of the data contract.",
    KEYS: "No two rows have the same key.",
    REQUIRED_FILLED: "No required column is null.",
    NOT_NEGATIVE: "No count, size, length or position is below zero.",
    TIMES_IN_PAST: "No time is in the future, and nothing was observed after it was written.",
    HAS_CAPTURE: "Every row belongs to a complete capture.",
    IS_FRESH: "Rows were written recently.",
}
WARNINGS = frozenset({HAS_CAPTURE, IS_FRESH})
"""Rules that are reported without being a fault of the data.

Maintenance deletes rows of a writer that died, and users need not scan.
"""

CLOCK_SKEW = timedelta(minutes=5)
"""Tolerated difference between the clocks of two machines."""
CAPTURE_TIMEOUT = timedelta(hours=1)
"""A capture that is not complete after this time never will be."""
FRESH_WITHIN: Mapping[str, timedelta] = {
    "raw.captures": timedelta(days=2),
    "raw.chart_issues": timedelta(days=8),
    "marts.surface_health": timedelta(days=8),
}
WRITE_TEST_SURFACE = "warehouse"
"""Value of `surface` in rows that only prove that the lake is writable."""
FRESH_ROWS: Mapping[str, str] = {"marts.surface_health": f"surface <> '{WRITE_TEST_SURFACE}'"}
"""SQL condition of the rows that make a table fresh, where not every row does."""
# The platform chooses these numbers; they may be below zero.
_SIGNED_UNITS = frozenset({"cursor of the platform", "ordinal of the source"})
_OF_PAYLOAD = """sha256 not in (
    select payload_sha256 from raw.captures where payload_sha256 is not null
    union all
    select payload_sha256 from marts.surface_health where payload_sha256 is not null
)"""
_OF_CAPTURE = """capture_id is not null
    and capture_id not in (select capture_id from raw.captures)"""


@dataclass(frozen=True, slots=True)
class RowRule:
    """A rule of a table. `broken`: SQL condition of the rows that violate it."""

    name: str
    broken: str


def rule_names(table: Table) -> tuple[str, ...]:
    """Return the names of all rules of a table, including those that are not conditions on rows."""
    of_rows = {rule.name for rule in row_rules(table)}
    if table.name in FRESH_WITHIN:
        of_rows.add(IS_FRESH)
    return tuple(name for name in MEANINGS if name in {SCHEMA, KEYS, *of_rows})


def row_rules(table: Table) -> list[RowRule]:
    """Return the rules that can be checked row by row. `$now` stands for the current time."""
    skew = f"interval {int(CLOCK_SKEW.total_seconds())} seconds"
    times = [column.name for column in table.columns if column.type == TIME]
    future = [f'"{name}" > $now::timestamptz + {skew}' for name in times]
    if {"observed_at", "committed_at"}.issubset(times):
        future.append(f"observed_at > committed_at + {skew}")
    conditions = {
        REQUIRED_FILLED: [f'"{column.name}" is null' for column in required_columns(table)],
        NOT_NEGATIVE: [f'"{column.name}" < 0' for column in nonnegative_columns(table)],
        TIMES_IN_PAST: future,
    }
    rules = [RowRule(name, " or ".join(broken)) for name, broken in conditions.items() if broken]
    # This rule has its own query: the filter of an aggregate takes no subquery.
    if table.is_observed or table.name == "raw.payloads":
        missing = _OF_CAPTURE if table.is_observed else _OF_PAYLOAD
        timeout = f"interval {int(CAPTURE_TIMEOUT.total_seconds())} seconds"
        is_settled = f"committed_at < $now::timestamptz - {timeout}"
        rules.append(RowRule(HAS_CAPTURE, f"{is_settled} and {missing}"))
    return rules


def required_columns(table: Table) -> list[Column]:
    """Return the columns that must not be null.

    Long bodies are left out: Delta rejects null at the append, and checking would read all of them.
    """
    return [column for column in table.columns if column.required and column.type != BYTES]


def nonnegative_columns(table: Table) -> list[Column]:
    """Return the integer columns that count or measure something."""
    return [
        column
        for column in table.columns
        if column.type == INTEGER and column.unit not in {None, *_SIGNED_UNITS}
    ]


def to_arrow(
    table: Table, rows: Sequence[Mapping[str, object]], *, committed_at: datetime
) -> pa.Table:
    """Convert rows to an Arrow table that matches `table` exactly.

    `committed_at` is added to rows that lack it.

    Raises:
        ContractBrokenError: A key is missing or unknown, or a value does not fit its column.
    """
    names = {column.name for column in table.columns}
    stamp = {"committed_at": committed_at} if "committed_at" in names else {}
    stamped = [{**stamp, **row} for row in rows]
    for row in stamped:
        if row.keys() != names:
            missing, unknown = sorted(names - row.keys()), sorted(row.keys() - names)
            raise ContractBrokenError(
                f"a row of {table.name} lacks {missing} and has unknown {unknown}"
            )
        for column in table.columns:
            value = row[column.name]
            if value is None and column.required:
                raise ContractBrokenError(f"{table.name}.{column.name} must not be null")
            if value is not None and not _FITS[column.type](value):
                raise ContractBrokenError(
                    f"{table.name}.{column.name} is {column.type}; "
                    f"{type(value).__name__} does not fit"
                )
    try:
        return pa.Table.from_pylist(stamped, schema=table.schema)
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
        raise ContractBrokenError(f"a row does not fit {table.name}") from error


def _is_number(value: object) -> bool:
    """Return True for numbers; `True` and `False` are integers for Python, but not for us."""
    return isinstance(value, Real) and not isinstance(value, bool)


_FITS: dict[pa.DataType, Callable[[Any], bool]] = {
    TEXT: lambda value: isinstance(value, str),
    INTEGER: lambda value: _is_number(value) and isinstance(value, Integral),
    # An unknown number is null, never NaN.
    FLOAT: lambda value: _is_number(value) and math.isfinite(value),
    BOOLEAN: lambda value: isinstance(value, bool),
    # Arrow would silently read a time without a zone as UTC.
    TIME: lambda value: isinstance(value, datetime) and value.tzinfo is not None,
    # A time is a date for Python.
    DATE: lambda value: isinstance(value, date) and not isinstance(value, datetime),
    BYTES: lambda value: isinstance(value, bytes),
    TEXT_LIST: lambda value: (
        isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
    ),
}
