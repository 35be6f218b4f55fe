"""A statement on its way to the process that runs it, and what comes back. Both sides use it."""

from dataclasses import asdict, dataclass, field
from typing import Literal, Self

import orjson

from warehouse.exports.table_files import TableFormat

type StatementForm = Literal["rows", TableFormat]
type StatementFailure = Literal["invalid", "limit", "unavailable"]
type ParameterValue = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement with its parameters, and the form in which its rows are returned.

    `title` names the table of a file. A file contains `facts` next to its rows.
    """

    sql: str
    parameters: dict[str, ParameterValue] = field(default_factory=dict)
    as_of: str | None = None
    row_limit: int = 1000
    form: StatementForm = "rows"
    has_byte_order_mark: bool = False
    title: str = "answer"
    facts: dict[str, str] = field(default_factory=dict)

    def to_json(self) -> bytes:
        """Encode the statement."""
        return orjson.dumps(asdict(self))

    @classmethod
    def of_json(cls, text: bytes) -> Self:
        """Decode a statement."""
        return cls(**orjson.loads(text))


@dataclass(frozen=True, slots=True)
class StatementColumn:
    """A column of an answer; `kind` as in exported tables."""

    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class StatementSummary:
    """A result without its rows. `is_cut`: there are more rows than the limit."""

    columns: list[StatementColumn]
    row_count: int
    is_cut: bool
    seconds: float
    as_of: str | None
    is_history_rewritten: bool


@dataclass(frozen=True, slots=True)
class StatementAnswer:
    """The rows as encoded JSON, or the bytes of a file."""

    summary: StatementSummary
    body: bytes


@dataclass(frozen=True, slots=True)
class StatementFault:
    """Why a statement has no result."""

    failure: StatementFailure
    detail: str
    hint: str | None
