"""A table to export: columns with their kinds, rows of plain values.

Arrow is loaded with the first query result: a service that exports nothing does without it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import pyarrow as pa

type ExportKind = Literal["text", "whole", "real", "flag", "time", "date", "texts"]
type ExportRow = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class ExportColumn:
    """A column of an export."""

    name: str
    kind: ExportKind


@dataclass(frozen=True, slots=True)
class ExportTable:
    """Rows with their columns. Times are aware `datetime`s, unknown values None."""

    name: str
    columns: Sequence[ExportColumn]
    rows: Sequence[ExportRow]


def to_table(name: str, found: "pa.Table") -> ExportTable:
    """Convert a query result."""
    return ExportTable(name, columns_of(found.schema), tuple(rows_of(found.to_batches())))


def columns_of(schema: "pa.Schema") -> tuple[ExportColumn, ...]:
    """Return columns with unique names: `n`, `n_2`."""
    names: list[str] = []
    for name in schema.names:
        taken = sum(one == name for one in schema.names[: len(names)])
        names.append(f"{name}_{taken + 1}" if taken else name)
    return tuple(
        ExportColumn(name, _kind(field.type)) for name, field in zip(names, schema, strict=True)
    )


def rows_of(batches: "Iterable[pa.RecordBatch]") -> Iterator[ExportRow]:
    """Yield rows of plain values, batch by batch."""
    for batch in batches:
        yield from zip(*(_values(column) for column in batch.columns), strict=True)


def _kind(type_: "pa.DataType") -> ExportKind:
    from pyarrow import types  # noqa: PLC0415 -- see the docstring of the module

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


def _is_text(type_: "pa.DataType") -> bool:
    from pyarrow import types  # noqa: PLC0415 -- as above

    return bool(types.is_string(type_) or types.is_large_string(type_))


def _values(column: "pa.Array") -> list[object]:
    """Convert a column; values are only inspected if their type needs conversion, for speed."""
    from pyarrow import types  # noqa: PLC0415 -- as above

    values: list[object] = column.to_pylist()
    is_plain = not (types.is_decimal(column.type) or types.is_binary(column.type))
    return values if is_plain else [_plain(value) for value in values]


def _plain(value: object) -> object:
    """Convert types that no file format has: exact decimals and bytes."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, bytes):
        return value.hex()
    return value
