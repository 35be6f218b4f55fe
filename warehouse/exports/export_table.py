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

_ERA_DAYS, _ERA_YEARS = 146_097, 400
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY_US = 86_400_000_000
_UNIT_US = {"s": 1_000_000, "ms": 1000, "us": 1}

type ExportKind = Literal["text", "whole", "real", "flag", "time", "date", "texts"]
type ExportRow = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class ExportColumn:
    """A column of an export. `heading`: its words in files for people, by default the name."""

    name: str
    kind: ExportKind
    heading: str = ""


@dataclass(frozen=True, slots=True)
class ExportTable:
    """Rows with their columns. Unknown values are None; a time without a zone is in UTC.

    `heading`: its words in files that people read, by default the name.
    """

    name: str
    columns: Sequence[ExportColumn]
    rows: Sequence[ExportRow]
    heading: str = ""


def to_table(name: str, rows: pa.Table) -> ExportTable:
    """Convert a query result.

    Raises:
        InvalidParameterError: It has a value that no format can hold.
    """
    return ExportTable(name, columns_of(rows.schema), tuple(rows_of(rows.to_batches())))


def columns_of(schema: pa.Schema) -> tuple[ExportColumn, ...]:
    """Return columns with unique names: `n`, `n_2`."""
    names: list[str] = []
    for name in schema.names:
        earlier_count = schema.names[: len(names)].count(name)
        names.append(f"{name}_{earlier_count + 1}" if earlier_count else name)
    return tuple(
        ExportColumn(name, _kind(field.type)) for name, field in zip(names, schema, strict=True)
    )


def rows_of(batches: Iterable[pa.RecordBatch]) -> Iterator[ExportRow]:
    """Yield rows of plain values, batch by batch.

    Raises:
        InvalidParameterError: A batch has a value that no format can hold.
    """
    for batch in batches:
        columns = []
        for column in batch.columns:
            try:
                values: list[object] = column.to_pylist()
            except (OverflowError, ValueError) as error:
                columns.append(_far_values(column, error))
                continue
            # For speed, values are only inspected if their type needs conversion.
            type_ = column.type
            is_nested = types.is_nested(type_) and _kind(type_) != "texts"
            is_converted = types.is_decimal(type_) or types.is_binary(type_) or is_nested
            columns.append([_plain(value) for value in values] if is_converted else values)
        yield from zip(*columns, strict=True)


def _kind(type_: pa.DataType) -> ExportKind:
    if types.is_decimal(type_):
        return "whole" if type_.scale == 0 else "real"  # scale 0: the type of a sum of integers
    is_list_of_texts = types.is_list(type_) and (
        types.is_string(type_.value_type) or types.is_large_string(type_.value_type)
    )
    kinds: tuple[tuple[ExportKind, bool], ...] = (
        ("flag", types.is_boolean(type_)),
        ("whole", types.is_integer(type_)),
        ("real", types.is_floating(type_)),
        ("time", types.is_timestamp(type_)),
        ("date", types.is_date(type_)),
        ("texts", is_list_of_texts),
    )
    return next((kind for kind, is_kind in kinds if is_kind), "text")


def _far_values(column: pa.Array, error: Exception) -> list[object]:
    """Convert days or times, of which some are in a year that Python does not support.

    Arrow stores them as a number of days or other units since 1970; DuckDB's infinity is the
    largest number of the type.
    """
    is_date = types.is_date32(column.type)
    if not is_date and not (types.is_timestamp(column.type) and column.type.unit in _UNIT_US):
        raise InvalidParameterError(
            "the answer has a value that no format can hold",
            hint="make its column text: x::varchar",
        ) from error
    unit_us = _DAY_US if is_date else _UNIT_US[column.type.unit]
    infinity = 2**31 - 1 if is_date else 2**63 - 1
    values: list[object] = []
    for number in column.cast(pa.int32() if is_date else pa.int64()).to_pylist():
        if number is None:
            values.append(None)
            continue
        if abs(number) == infinity:
            values.append("infinity" if number > 0 else "-infinity")
            continue
        # The calendar repeats after 400 years: compute in the first era, then move the year.
        days, rest_us = divmod(number * unit_us, _DAY_US)
        eras, days = divmod(days, _ERA_DAYS)
        moment = _EPOCH + timedelta(days=days, microseconds=rest_us)
        year = moment.year + _ERA_YEARS * eras
        value = moment.date() if is_date else moment
        if date.min.year <= year <= date.max.year:
            values.append(value.replace(year=year))
            continue
        rest = value.isoformat()[4:].replace("+00:00", "Z")
        values.append(f"{year:04}{rest}" if year > 0 else f"{1 - year:04}{rest} (BC)")
    return values


def _plain(value: object) -> object:
    """Convert types that no file format has: exact decimals and bytes."""
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, bytes):
        return value.hex()
    return value
