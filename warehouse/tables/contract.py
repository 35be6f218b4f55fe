"""Validation of rows against their table, before every append.

Checks keys, nulls and types. Delta casts silently (1.9 becomes 1 in an integer column) and Arrow
drops unknown keys, so neither can be relied on.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from numbers import Integral, Real

import pyarrow as pa

from warehouse.records.errors import ContractBrokenError
from warehouse.tables import Column, Table
from warehouse.tables.column import BOOLEAN, BYTES, DATE, FLOAT, INTEGER, TEXT, TEXT_LIST, TIME


def to_arrow(
    table: Table, rows: Sequence[Mapping[str, object]], *, committed_at: datetime
) -> pa.Table:
    """Convert rows to an Arrow table that matches `table` exactly.

    `committed_at` is added to rows that lack it.

    Raises:
        ContractBrokenError: A key is missing or unknown, or a value does not fit its column.
    """
    stamped = any(column.name == "committed_at" for column in table.columns)
    whole = [{"committed_at": committed_at, **row} if stamped else row for row in rows]
    names = {column.name for column in table.columns}
    for row in whole:
        _check_keys(table, names, row)
        for column in table.columns:
            _check_value(table, column, row[column.name])
    try:
        return pa.Table.from_pylist(whole, schema=table.schema)
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
        raise ContractBrokenError(f"a row does not fit {table.name}") from error


def _check_keys(table: Table, names: set[str], row: Mapping[str, object]) -> None:
    if row.keys() == names:
        return
    missing, unknown = sorted(names - row.keys()), sorted(row.keys() - names)
    raise ContractBrokenError(f"a row of {table.name} lacks {missing} and has unknown {unknown}")


def _check_value(table: Table, column: Column, value: object) -> None:
    if value is None:
        if column.required:
            raise ContractBrokenError(f"{table.name}.{column.name} must not be null")
        return
    if not _FITS[column.type](value):
        raise ContractBrokenError(
            f"{table.name}.{column.name} is {column.type}; {type(value).__name__} does not fit"
        )


def _is_real(value: object) -> bool:
    """Accept integers; reject NaN, because unknown is null."""
    if isinstance(value, bool):
        return False
    return isinstance(value, Real) and math.isfinite(value)


def _is_time(value: object) -> bool:
    """Reject naive times, which would silently be taken as UTC."""
    return isinstance(value, datetime) and value.tzinfo is not None


def _is_texts(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)


_FITS: dict[pa.DataType, Callable[[object], bool]] = {
    TEXT: lambda value: isinstance(value, str),
    INTEGER: lambda value: isinstance(value, Integral) and not isinstance(value, bool),
    FLOAT: _is_real,
    BOOLEAN: lambda value: isinstance(value, bool),
    TIME: _is_time,
    DATE: lambda value: isinstance(value, date) and not isinstance(value, datetime),
    BYTES: lambda value: isinstance(value, bytes),
    TEXT_LIST: _is_texts,
}
