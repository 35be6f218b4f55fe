"""Building blocks of tables: columns with names, types and units, and the validation of their rows.

Ids are text; times are `timestamp[us, UTC]`; a column is nullable unless it is required.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache, cached_property
from itertools import batched
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import pyarrow as pa

from warehouse.records.errors import ContractBrokenError
from warehouse.records.videos import COUNTS

# The scheme of column names, the columns that do not follow it, and the units that names imply.
#
# A stored column is not renamed for its name alone: the lake adds columns but rewrites none. Where
# a view of the star has a better name, the reason says so.

NAMING_SCHEME = (
    "`snake_case`",
    "ids are text and end in `_id`, lists of them in `_ids`",
    "times end in `_at`, dates in `_date`; the day of a row is `day`",
    "booleans begin with `is_` or `has_`, also after a noun: `music_is_original_sound`",
    "numbers end in their unit: `_count`, `_gained` (a difference), `_s`, `_ms`, `_days`, `_hz`, …",
    "ordinals (`rank`), scores, shares and ratios have no ending; the column `unit` has it",
    "lists are plural",
    "`music_id` is the track in what jobs conclude, and `track_music_id` in the star",
)
"""The rules, as the data dictionary states them."""

EXCEPTIONS: Mapping[str, str] = {
    "came": "stored; the counterpart of `went`",
    "confirmed_use_count_exact": "as `use_count_exact`",
    "create_time": "the platform's name, in every answer; `created_at` is the same as a time",
    "foreign_rows": "the name in the coverage of answers",
    "height": "the platform's name",
    "hot_score": "the name in every answer",
    "items": "the name in the coverage of answers",
    "music_use_count_exact": "stored; `use_count_exact` of the music of a video",
    "music_use_count_step": "stored; `use_count_step` of the music of a video",
    "new_items": "the name in the coverage of answers",
    "pages": "the name in the coverage of answers",
    "profile_complete": "the name in every answer",
    "requests": "the name in the coverage of answers",
    "rise_after": "a bound of a time that nobody observed",
    "rise_before": "a bound of a time that nobody observed",
    "said": "no id: what a user decided",
    "sec_uid": "the platform's name of the id of an account, in every answer",
    "skipped_cards": "stored",
    "statistics_complete": "the name in every answer",
    "total_favorited": "the platform's name, in every answer; in the star `likes_received_count`",
    "uid": "the platform's name of the numeric id of an account",
    "use_count_exact": "the name in every answer",
    "use_count_step": "the step that `use_count` was rounded to, a count like it",
    "volid": "the chart's name of the id of an issue",
    "went": "stored; the counterpart of `came`",
    "width": "the platform's name",
}
"""Columns outside the scheme, with the reason."""

_UNIT_OF_NAME = {
    "audio_share": "share, 0 to 1",
    "best_rank": "ordinal, from 1",
    "chroma_distance": "distance, 0 to 2",
    "create_time": "unix s",
    "cursor": "cursor of the platform",
    "cursor_in": "cursor of the platform",
    "cursor_out": "cursor of the platform",
    "expansion_round": "ordinal, from 0",
    "foreign_rows": "count",
    "height": "px",
    "hot_score": "weighted count",
    "http_status": "HTTP status",
    "items": "count",
    "mfcc_distance": "distance, 0 to 2",
    "new_items": "count",
    "music_use_count_step": "count",
    "next_cursor": "cursor of the platform",
    "number": "ordinal, from 1",
    "own_share": "share, 0 to 1",
    "pages": "count",
    "peak_agreement": "share, -1 to 1",
    "position": "ordinal, from 0",
    "previous_rank": "ordinal, from 1",
    "priority": "weight",
    "rank": "ordinal, from 1",
    "requests": "count",
    "round": "ordinal, from 0",
    "run_number": "ordinal, from 1",
    "sample_share": "share, 0 to 1",
    "upper_share": "share, 0 to 1",
    "score": "score, 0 to 1",
    "version_score": "score, 0 to 1",
    "semitones": "semitone",
    "sequence": "ordinal, from 1",
    "skipped_cards": "count",
    "sort": "ordinal of the source",
    "speed": "ratio",
    "total_favorited": "count",
    "use_count_step": "count",
    "weekday": "ordinal, from 1",
    "width": "px",
}
_UNIT_OF_ENDING = (
    ("_count", "count"),
    ("_gained", "count"),
    ("_bytes", "byte"),
    ("_days", "day"),
    ("_ms", "ms"),
    ("_hz", "Hz"),
    ("_s", "s"),
)


def unit_of(name: str) -> str | None:
    """Return the unit of a numeric column of this name, or None if the name implies none."""
    # A name of its own first: `create_time` or `rank` has no ending.
    unit = _UNIT_OF_NAME.get(name)
    return unit or next((unit for end, unit in _UNIT_OF_ENDING if name.endswith(end)), None)


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


@dataclass(frozen=True)
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

    @cached_property
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

    @cached_property
    def is_observed(self) -> bool:
        """True if its rows belong to captures, and count once their capture is complete."""
        return self.name != "raw.captures" and any(
            column.name == "capture_id" for column in self.columns
        )

    @cached_property
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


# Validation of rows against their table, before every append.
#
# Checks keys, nulls and types. Delta casts silently (1.9 becomes 1 in an integer column) and Arrow
# drops unknown keys, so neither can be relied on.

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


_FITS: dict[pa.DataType, Callable[[Any], bool]] = {
    TEXT: lambda value: isinstance(value, str),
    # `True` and `False` are integers for Python, but not for us.
    INTEGER: lambda value: not isinstance(value, bool) and isinstance(value, Integral),
    # An unknown number is null, never NaN.
    FLOAT: lambda value: (
        not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)
    ),
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
