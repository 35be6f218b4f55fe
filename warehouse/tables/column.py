"""Building blocks of tables: column types, columns, and columns that many tables share.

Ids are text; times are `timestamp[us, UTC]`; a column is nullable unless it is required.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import batched
from pathlib import Path

import pyarrow as pa

from warehouse.records.videos import COUNTS
from warehouse.tables.naming import unit_of

# Types of columns. Ids are text, although many are numbers: they have up to 19 digits.
TEXT = pa.string()
INTEGER = pa.int64()
FLOAT = pa.float64()
BOOLEAN = pa.bool_()
TIME = pa.timestamp("us", tz="UTC")
DATE = pa.date32()
BYTES = pa.binary()
TEXT_LIST = pa.list_(pa.string())
_TYPE_NAMES: Mapping[pa.DataType, tuple[str, str]] = {
    TEXT: ("text", "varchar"),
    INTEGER: ("integer", "bigint"),
    FLOAT: ("real number", "double"),
    BOOLEAN: ("boolean", "boolean"),
    TIME: ("time", "timestamptz"),
    DATE: ("date", "date"),
    BYTES: ("bytes", "blob"),
    TEXT_LIST: ("list of texts", "varchar[]"),
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column: `meaning` includes the unit if there is one."""

    name: str
    type: pa.DataType
    meaning: str
    required: bool = False

    @property
    def unit(self) -> str | None:
        """Unit of a number, or the zone of a time; None for anything else."""
        if self.type in (INTEGER, FLOAT):
            return unit_of(self.name)
        return "UTC" if self.type == TIME else None

    @property
    def type_label(self) -> str:
        """Its type, as the data dictionary names it: `list of texts`."""
        return _TYPE_NAMES[self.type][0]

    @property
    def sql_type(self) -> str:
        """Its type in SQL: `varchar[]`."""
        return _TYPE_NAMES[self.type][1]


@dataclass(frozen=True, slots=True)
class Example:
    """A question that a table answers, with its statement."""

    question: str
    sql: str


_QUESTION = re.compile(r"^-- (\w+\.\w+): (.+)$", re.MULTILINE)


@cache
def read_examples() -> Mapping[str, Sequence[Example]]:
    """Return the examples of each table, from `examples.sql`."""
    text = Path(__file__).with_name("examples.sql").read_text(encoding="utf-8")
    examples: dict[str, list[Example]] = {}
    # The split gives the text before the first question, then three parts for each question.
    for table, question, sql in batched(_QUESTION.split(text)[1:], 3):
        examples.setdefault(table, []).append(Example(question, sql.strip()))
    return examples


@dataclass(frozen=True, slots=True)
class ColumnReference:
    """A column whose values are keys of another table. `exception`: why some values are not."""

    column: str
    table: str
    key: str
    exception: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the lake, or a view of the star over them (`is_view`), which stores nothing.

    `name` is `layer.noun`, used for the asset, in SQL and as the folder.
    """

    name: str
    row: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    version: int = 1
    references: tuple[ColumnReference, ...] = ()
    is_view: bool = False

    @property
    def examples(self) -> Sequence[Example]:
        """Questions that it answers, with their statements."""
        return read_examples().get(self.name, ())

    @property
    def schema(self) -> pa.Schema:
        """Arrow schema that every appended row must match."""
        return pa.schema(
            [
                pa.field(column.name, column.type, nullable=not column.required)
                for column in self.columns
            ]
        )

    @property
    def folder(self) -> str:
        """Folder of the table below the lake's root: `layer/noun`."""
        return self.name.replace(".", "/")

    @property
    def noun(self) -> str:
        """Name without the layer."""
        return self.name.partition(".")[2]

    @property
    def is_observed(self) -> bool:
        """True if its rows belong to captures, and count once their capture is complete."""
        return self.name != "raw.captures" and any(
            column.name == "capture_id" for column in self.columns
        )

    @property
    def counted_name(self) -> str:
        """Name of the view of the rows that count."""
        return f"seen.{self.name.removeprefix('raw.')}"


def required(name: str, type_: pa.DataType, meaning: str) -> Column:
    """Return a column that is never null."""
    return Column(name, type_, meaning, required=True)


def nullable(name: str, type_: pa.DataType, meaning: str) -> Column:
    """Return a column that is null if the value is unknown."""
    return Column(name, type_, meaning)


def refer(
    *, exceptions: Mapping[str, str] | None = None, **dimensions: str
) -> tuple[ColumnReference, ...]:
    """Return references of columns to dimensions of the star: `sec_uid="accounts"`.

    `exceptions`: by column, why some of its values have no row there.
    """
    return tuple(
        ColumnReference(
            column, f"marts.{noun}", DIMENSION_KEYS[noun], (exceptions or {}).get(column, "")
        )
        for column, noun in dimensions.items()
    )


DIMENSION_KEYS: Mapping[str, str] = {
    "tracks": "track_music_id",
    "music_ids": "music_id",
    "videos": "aweme_id",
    "accounts": "sec_uid",
    "days": "day",
}
"""Dimensions of the star, with the column that other tables refer to."""

# Columns that many tables share, so that they have one meaning everywhere.
JOB = nullable("job_id", TEXT, "job that caused the row; null for a single request")
OBSERVED = required("observed_at", TIME, "when it was observed")
SURFACE = required("surface", TEXT, "surface it was observed on")
COMMITTED = required("committed_at", TIME, "when the row was written; `as of` queries filter on it")
CAPTURE = nullable("capture_id", TEXT, "capture that read it")
PROVIDER = required("data_provider", TEXT, "provider that read it")
READ_BY = (PROVIDER, JOB, COMMITTED)
"""Columns that end each table of observations."""
COUNT_COLUMNS = tuple(
    nullable(name, INTEGER, meaning)
    for name, meaning in zip(COUNTS, ("likes", "comments", "bookmarks", "shares"), strict=True)
)
ALGORITHM = required("algorithm", TEXT, "verification algorithm and version")
