"""Validation of rows against their table, before every append.

Checks keys, nulls and types. Delta casts silently (1.9 becomes 1 in an integer column) and Arrow
drops unknown keys, so neither can be relied on.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from numbers import Integral, Real
from typing import Any

import pyarrow as pa

from warehouse.records.errors import ContractBrokenError
from warehouse.tables import Table
from warehouse.tables.column import BOOLEAN, BYTES, DATE, FLOAT, INTEGER, TEXT, TEXT_LIST, TIME


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
