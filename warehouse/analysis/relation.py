"""Rows of the warehouse as a relation: filtered by DuckDB, handed over to pandas, Polars or Arrow.

Types hold what the rows mean: ids are text, times have their zone, whole numbers stay whole numbers
and unknown is null, in pandas too. DuckDB's own `.df()` would turn a column of whole numbers with
an unknown one into real numbers. Types that only the database has are text, as in exports.
"""

from collections.abc import Iterator
from contextlib import suppress
from html import escape
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa

from warehouse.engine import duckdb_engine
from warehouse.engine.sql import sql_name
from warehouse.engine.user_sql import checked_statement, user_errors
from warehouse.extras import install_hint
from warehouse.records.errors import InvalidParameterError
from warehouse.records.values import Row

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

SHOWN_ROWS = 10
_MORE = f"the first {SHOWN_ROWS} rows; .df() reads all"
_CELL_CHARS = 40
_CHANGES = frozenset(
    {"create", "create_view", "insert", "insert_into", "to_table", "to_view", "update"}
)
_FILES = frozenset({"to_csv", "to_parquet", "write_csv", "write_parquet"})
_OWN_TYPES = frozenset({"timestamp_ns", "uhugeint"})
"""Types that pandas, Polars and Arrow have, unlike the file formats of exports."""
_UNFINISHED = frozenset(
    {
        "arrow",
        "fetch_arrow_reader",
        "fetch_record_batch",
        "fetchmany",
        "fetchone",
        "iter_rows",
        "to_arrow_reader",
    }
)
"""Methods that leave a result partly read, which blocks every other relation."""
_REFUSALS = (
    dict.fromkeys(
        _CHANGES, ("the warehouse is read-only", "keep the result: frame = relation.df()")
    )
    | dict.fromkeys(
        _FILES,
        ("a relation writes no files", ".df().to_csv(…), .pl().write_parquet(…), sametrack export"),
    )
    | dict.fromkeys(
        _UNFINISHED,
        ("a relation is read as a whole", ".rows(), .df(), .pl() or .arrow(), after .limit(…)"),
    )
)


class WarehouseRelation:
    """A query whose rows are read when they are needed.

    It has DuckDB's methods (`filter`, `order`, `limit`, `aggregate`, `join`, …), which return new
    relations. `df`, `pl`, `arrow` and `rows` read the rows, as they are at that time:
    `wh.table("marts.rankings").filter("rank <= 10").df()`.
    """

    def __init__(
        self,
        relation: duckdb.DuckDBPyRelation,
        engine: duckdb_engine.Engine,
        cursor: duckdb.DuckDBPyConnection,
    ) -> None:
        self._relation = relation
        self._engine = engine
        self._cursor = cursor

    def df(self) -> "pd.DataFrame":
        """Return a pandas data frame whose columns do what pandas users expect of them.

        Dates are `datetime64`, times `datetime64` in UTC, durations `timedelta64`; text, whole and
        real numbers and booleans have the nullable types, in which unknown is `pd.NA`. Decimals are
        real numbers, and so are whole numbers beyond 64 bits. Lists are lists.
        """
        _need("pandas")
        import pandas as pd  # noqa: PLC0415 -- takes 0.5 s, and is an extra

        types = {
            pa.string(): pd.StringDtype(),
            pa.bool_(): pd.BooleanDtype(),
            pa.int8(): pd.Int8Dtype(),
            pa.int16(): pd.Int16Dtype(),
            pa.int32(): pd.Int32Dtype(),
            pa.int64(): pd.Int64Dtype(),
            pa.uint8(): pd.UInt8Dtype(),
            pa.uint16(): pd.UInt16Dtype(),
            pa.uint32(): pd.UInt32Dtype(),
            pa.uint64(): pd.UInt64Dtype(),
            pa.float32(): pd.Float32Dtype(),
            pa.float64(): pd.Float64Dtype(),
        }
        table = self.arrow()
        # pandas would keep decimals as objects, which it cannot add or plot.
        for at, field in enumerate(table.schema):
            if pa.types.is_decimal(field.type):
                table = table.set_column(at, field.name, table.column(at).cast(pa.float64()))
        frame: pd.DataFrame = table.to_pandas(types_mapper=types.get, date_as_object=False)
        for at, field in enumerate(table.schema):
            if pa.types.is_nested(field.type):  # Arrow would convert lists to NumPy arrays
                values = pd.Series(table.column(at).to_pylist(), index=frame.index, dtype=object)
                frame.isetitem(at, values)  # type: ignore[arg-type]  # its stubs forget a series
        return frame

    def pl(self) -> "pl.DataFrame":
        """Return a Polars data frame."""
        _need("polars")
        import polars as pl  # noqa: PLC0415 -- takes 0.2 s, and is an extra

        return pl.DataFrame(self.arrow())

    def arrow(self) -> pa.Table:
        """Return an Arrow table. Sums of whole numbers are 64-bit numbers.

        Intervals are durations, or text if one of the column has months, whose length varies.
        """
        with user_errors(), duckdb_engine.query_errors():
            self._engine.refresh_cursor(self._cursor)
            relation, durations = duckdb_engine.durations_apart(self._relation)
            table = duckdb_engine.like_arrow(relation, kept=_OWN_TYPES).to_arrow_table()
            table = duckdb_engine.with_durations(table, durations)
            # DuckDB widens sums of whole numbers; they become 64-bit numbers where they fit.
            for at, field in enumerate(table.schema):
                if pa.types.is_decimal(field.type) and field.type.scale == 0:
                    with suppress(pa.ArrowInvalid):
                        column = table.column(at).cast(pa.int64())
                        table = table.set_column(at, field.name, column)
            return table

    def rows(self) -> list[Row]:
        """Return the rows as dictionaries; unknown is None."""
        rows: list[Row] = self.arrow().to_pylist()
        return rows

    def query(self, name: str, statement: str) -> "WarehouseRelation":
        """Return the result of one read-only statement, in which `name` is this relation.

        Raises:
            InvalidParameterError: It is not one read-only statement, or it is invalid.
        """
        with user_errors(), duckdb_engine.query_errors():
            checked = checked_statement(self._engine, statement)
            self._engine.refresh_cursor(self._cursor)
            result = self._relation.query(name, checked)
        assert result is not None, "a statement that only reads has a result"
        return self._wrap(result)

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return self._relation.columns

    def __len__(self) -> int:
        return int(self.aggregate("count(*) as n").rows()[0]["n"])

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows())

    def __bool__(self) -> bool:
        """Return True: a relation is not a list, and counting its rows would read it."""
        return True

    def __getitem__(self, column: str) -> "WarehouseRelation":
        if column not in self.columns:
            raise KeyError(column)
        return self._wrap(self._relation.select(sql_name(column)))

    def __getattr__(self, name: str) -> Any:  # DuckDB's methods, of any type
        if name in _REFUSALS:
            reason, hint = _REFUSALS[name]

            def refuse(*_: object, **__: object) -> object:
                raise InvalidParameterError(f"{name}: {reason}", hint=hint)

            return refuse
        # All other methods of DuckDB's relation, also those of later versions.
        attribute = getattr(self._relation, name)
        if name.startswith("_") or not callable(attribute):
            return attribute

        def call(*arguments: object, **options: object) -> object:
            # `join` and `union` take another relation; DuckDB needs the one that it wraps.
            plain = (
                argument._relation if isinstance(argument, WarehouseRelation) else argument  # noqa: SLF001 -- our own
                for argument in arguments
            )
            with user_errors(), duckdb_engine.query_errors():
                self._engine.refresh_cursor(self._cursor)
                result = attribute(*plain, **options)
            return self._wrap(result) if isinstance(result, duckdb.DuckDBPyRelation) else result

        call.__doc__ = attribute.__doc__
        return call

    def __dir__(self) -> list[str]:
        shared = {name for name in dir(self._relation) if not name.startswith("_")}
        return sorted({*super().__dir__(), *shared} - (_REFUSALS.keys() - {"arrow"}))

    def _ipython_key_completions_(self) -> list[str]:
        return self.columns

    def __repr__(self) -> str:
        rows, is_cut = self._first_rows()
        cells = [list(self.columns), *rows]
        widths = [max(len(row[at]) for row in cells) for at in range(len(self.columns))]
        lines = [
            "  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in cells
        ]
        lines.insert(1, "  ".join("─" * width for width in widths))
        count = f"{len(rows)} {'row' if len(rows) == 1 else 'rows'}"
        return "\n".join([*lines, f"({_MORE})" if is_cut else f"({count})"])

    def _repr_html_(self) -> str:
        """Return the first rows as a table: notebooks display it."""
        rows, is_cut = self._first_rows()
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        body = "".join(
            f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows
        )
        more = f"<p>{_MORE}</p>" if is_cut else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"

    def _first_rows(self) -> tuple[list[list[str]], bool]:
        """Return the first rows as texts, and whether there are more."""
        # A further row tells whether there are more, without counting all of them.
        rows = self._wrap(self._relation.limit(SHOWN_ROWS + 1)).rows()
        texts = [["—" if value is None else str(value) for value in row.values()] for row in rows]
        cells = [
            [text if len(text) <= _CELL_CHARS else f"{text[: _CELL_CHARS - 1]}…" for text in row]
            for row in texts
        ]
        return cells[:SHOWN_ROWS], len(cells) > SHOWN_ROWS

    def _wrap(self, relation: duckdb.DuckDBPyRelation) -> "WarehouseRelation":
        return WarehouseRelation(relation, self._engine, self._cursor)


def _need(library: str) -> None:
    if find_spec(library) is None:
        raise InvalidParameterError(
            f"{library} is not installed", hint=f"{install_hint('analysis')}; or use .rows()"
        )
