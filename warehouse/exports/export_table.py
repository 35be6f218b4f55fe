"""A table to export: columns with their kinds, rows of plain values.

A day or time outside the years 1 to 9999 is text: `infinity`, `12000-01-01`, `0044-01-01 (BC)`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Literal

import pyarrow as pa
from pyarrow import types

from warehouse.records.errors import InvalidParameterError

_ERA_DAYS, _ERA_YEARS = 146_097, 400  # the calendar repeats
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY_US = 86_400_000_000
_UNIT_US = {"s": 1_000_000, "ms": 1000, "us": 1}

type ExportKind = Literal["text", "whole", "real", "flag", "time", "date", "texts"]
type ExportRow = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class ExportColumn:
    """A column of an export."""

    name: str
    kind: ExportKind


@dataclass(frozen=True, slots=True)
class ExportTable:
    """Rows with their columns. Unknown values are None; a time without a zone is in UTC."""

    name: str
    columns: Sequence[ExportColumn]
    rows: Sequence[ExportRow]


def to_table(name: str, found: pa.Table) -> ExportTable:
    """Convert a query result.

    Raises:
        InvalidParameterError: It has a value that no format can hold.
    """
    return ExportTable(name, columns_of(found.schema), tuple(rows_of(found.to_batches())))


def columns_of(schema: pa.Schema) -> tuple[ExportColumn, ...]:
    """Return columns with unique names: `n`, `n_2`."""
    names: list[str] = []
    for name in schema.names:
        taken = sum(one == name for one in schema.names[: len(names)])
        names.append(f"{name}_{taken + 1}" if taken else name)
    return tuple(
        ExportColumn(name, _kind(field.type)) for name, field in zip(names, schema, strict=True)
    )


def rows_of(batches: Iterable[pa.RecordBatch]) -> Iterator[ExportRow]:
    """Yield rows of plain values, batch by batch."""
    for batch in batches:
        yield from zip(*(_values(column) for column in batch.columns), strict=True)


def _kind(type_: pa.DataType) -> ExportKind:
    if types.is_decimal(type_):
        return "whole" if type_.scale == 0 else "real"  # scale 0: the type of a sum of integers
    kinds: tuple[tuple[ExportKind, bool], ...] = (
        ("flag", types.is_boolean(type_)),
        ("whole", types.is_integer(type_)),
        ("real", types.is_floating(type_)),
        ("time", types.is_timestamp(type_)),
        ("date", types.is_date(type_)),
        ("texts", types.is_list(type_) and _is_text(type_.value_type)),
    )
    return next((kind for kind, is_kind in kinds if is_kind), "text")


def _is_text(type_: pa.DataType) -> bool:
    return bool(types.is_string(type_) or types.is_large_string(type_))


def _values(column: pa.Array) -> list[object]:
    """Convert a column; values are only inspected if their type needs conversion, for speed."""
    try:
        values: list[object] = column.to_pylist()
    except (OverflowError, ValueError) as error:
        return _far_values(column, error)
    is_nested = types.is_nested(column.type) and _kind(column.type) != "texts"
    is_plain = not (types.is_decimal(column.type) or types.is_binary(column.type) or is_nested)
    return values if is_plain else [_plain(value) for value in values]


def _far_values(column: pa.Array, error: Exception) -> list[object]:
    """Convert days or times of which some are in no year that Python has."""
    if pa.types.is_date32(column.type):
        days = column.cast(pa.int32()).to_pylist()
        return [None if day is None else _day(day) for day in days]
    if pa.types.is_timestamp(column.type) and column.type.unit in _UNIT_US:
        size = _UNIT_US[column.type.unit]
        moments = column.cast(pa.int64()).to_pylist()
        return [None if moment is None else _moment(moment, size) for moment in moments]
    raise InvalidParameterError(
        "the answer has a value that no format can hold", hint="make its column text: x::varchar"
    ) from error


def _day(days: int) -> object:
    """Return a day by its number since 1970."""
    if abs(days) == 2**31 - 1:
        return "infinity" if days > 0 else "-infinity"
    eras, rest = divmod(days, _ERA_DAYS)
    day = date.fromordinal(_EPOCH_DAY + rest)
    year = day.year + _ERA_YEARS * eras
    if date.min.year <= year <= date.max.year:
        return day.replace(year=year)
    return _year_text(year, f"{day:-%m-%d}")


def _moment(moment: int, size: int) -> object:
    """Return a time by the number of its units, of `size` microseconds, since 1970."""
    if abs(moment) == 2**63 - 1:
        return "infinity" if moment > 0 else "-infinity"
    days, rest = divmod(moment * size, _DAY_US)
    eras, days = divmod(days, _ERA_DAYS)
    at = _EPOCH + timedelta(days=days, microseconds=rest)
    year = at.year + _ERA_YEARS * eras
    if date.min.year <= year <= date.max.year:
        return at.replace(year=year)
    return _year_text(year, at.isoformat()[4:].replace("+00:00", "Z"))


def _year_text(year: int, rest: str) -> str:
    return f"{year:04}{rest}" if year > 0 else f"{1 - year:04}{rest} (BC)"


def _plain(value: object) -> object:
    """Convert types that no file format has: exact decimals and bytes."""
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, bytes):
        return value.hex()
    return value
