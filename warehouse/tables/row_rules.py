"""What must hold of the rows of a table, derived from its contract: one SQL condition per rule.

Here: which rules a table has and the condition that breaks each. Pure; asking is in `review`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from warehouse.tables import BYTES, TIME, WHOLE, Column, Table

SCHEMA = "schema_is_as_agreed"
KEYS = "keys_are_unique"
FILLED = "required_columns_are_filled"
NOT_NEGATIVE = "numbers_are_not_negative"
IN_TIME = "times_are_past"
CAPTURED = "rows_have_their_capture"
FRESH = "rows_are_fresh"

MEANINGS: Mapping[str, str] = {
    SCHEMA: "The stored table has the columns and the schema version of the data contract.",
    KEYS: "No two rows have the same key.",
    FILLED: "No column that the contract requires is null.",
    NOT_NEGATIVE: "No count, size, length or place is below zero.",
    IN_TIME: "Nothing was observed or written in the future, or observed after it was written.",
    CAPTURED: "Every row is named by a capture that was written whole.",
    FRESH: "Something was written lately.",
}
WARNINGS = frozenset({CAPTURED, FRESH})
"""Told, and no fault: a writer that died leaves rows that upkeep removes; nobody has to scan."""

SKEW = timedelta(minutes=5)
"""So far may the clocks of two machines be apart."""
SETTLED = timedelta(hours=1)
"""After so long a capture that is not written never will be."""
FRESH_WITHIN: Mapping[str, timedelta] = {
    "raw.captures": timedelta(days=2),
    "raw.chart_issues": timedelta(days=8),
    "marts.surface_health": timedelta(days=8),
}
_SIGNED_UNITS = frozenset({"cursor of the platform", "ordinal of the source"})
_OF_PAYLOAD = """sha256 not in (
    select payload_sha256 from raw.captures where payload_sha256 is not null
    union all
    select payload_sha256 from marts.surface_health where payload_sha256 is not null
)"""
_OF_CAPTURE = """capture_id is not null
    and capture_id not in (select capture_id from raw.captures)"""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of one table. `broken`: an SQL condition that a row meets which breaks it."""

    name: str
    broken: str

    @property
    def is_warning(self) -> bool:
        """True where a broken rule is no fault of the data."""
        return self.name in WARNINGS


def rule_names(table: Table) -> tuple[str, ...]:
    """The names of all rules of a table, those that are no condition on rows included."""
    of_rows = {rule.name for rule in row_rules(table)}
    if table.name in FRESH_WITHIN:
        of_rows.add(FRESH)
    return tuple(name for name in MEANINGS if name in {SCHEMA, KEYS, *of_rows})


def row_rules(table: Table) -> list[Rule]:
    """The rules that each row keeps or breaks by itself. `$now` stands for the moment."""
    conditions = {
        FILLED: _any(f"{_name(column)} is null" for column in filled(table)),
        NOT_NEGATIVE: _any(f"{_name(column)} < 0" for column in unsigned(table)),
        IN_TIME: _any(_too_late(table)),
        CAPTURED: _uncaptured(table),
    }
    return [Rule(name, broken) for name, broken in conditions.items() if broken]


def filled(table: Table) -> list[Column]:
    """Columns that must not be null. Long bodies are left out: Delta refuses them at the append,
    and looking would read all of them.
    """
    return [column for column in table.columns if column.required and column.type != BYTES]


def unsigned(table: Table) -> list[Column]:
    """Whole numbers that count or measure something."""
    return [
        column
        for column in table.columns
        if column.type == WHOLE and column.unit not in {None, *_SIGNED_UNITS}
    ]


def _too_late(table: Table) -> list[str]:
    times = [column for column in table.columns if column.type == TIME]
    skew = f"interval {int(SKEW.total_seconds())} seconds"
    late = [f"{_name(column)} > $now::timestamptz + {skew}" for column in times]
    names = {column.name for column in times}
    if {"observed_at", "committed_at"} <= names:
        late.append(f"observed_at > committed_at + {skew}")
    return late


def _uncaptured(table: Table) -> str:
    """A sub-query cannot stand in a filter of an aggregate, so this one is asked by itself."""
    names = {column.name for column in table.columns}
    if table.name == "raw.payloads":
        missing = _OF_PAYLOAD
    elif table.name != "raw.captures" and "capture_id" in names:
        missing = _OF_CAPTURE
    else:
        return ""
    settled = f"interval {int(SETTLED.total_seconds())} seconds"
    return f"committed_at < $now::timestamptz - {settled} and {missing}"


def _any(conditions: Iterable[str]) -> str:
    return " or ".join(conditions)


def _name(column: Column) -> str:
    return f'"{column.name}"'
