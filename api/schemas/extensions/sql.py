"""Schemas for the library of queries, the tables, and the answer of a statement."""

from typing import Annotated, Literal

from pydantic import Field

from pipelines.documents.fields import ClosedDocument, Count, Timestamp


class QueryParameterDocument(ClosedDocument):
    """A parameter of a named query; `default` null: not given."""

    name: str
    type: Literal["text", "integer", "date"]
    default: str | None
    meaning: str
    meaning_zh: str


class NamedQueryDocument(ClosedDocument):
    """A query of the library. `subject` groups queries."""

    name: str
    subject: str
    title: str
    title_zh: str
    description: str
    description_zh: str
    parameters: list[QueryParameterDocument]
    sql: str


class QueryLibrary(ClosedDocument):
    """All named queries, by subject and name."""

    queries: list[NamedQueryDocument]
    returned_count: Count
    is_demo_data: bool


class TableColumnDocument(ClosedDocument):
    """A column of a table."""

    name: str
    type: str
    unit: str | None
    meaning: str
    may_be_unknown: bool


class TableDocument(ClosedDocument):
    """A table. `row`: what one row stands for; `key`: columns that identify a row."""

    name: str
    row: str
    key: list[str]
    columns: list[TableColumnDocument]


class TableList(ClosedDocument):
    """All tables that a statement can read."""

    tables: list[TableDocument]
    returned_count: Count
    is_demo_data: bool


class SqlColumn(ClosedDocument):
    """A column of an answer."""

    name: str
    kind: Literal["text", "whole", "real", "flag", "time", "date", "texts"]


_ROWS = (
    "values in the order of `columns`. Times are ISO 8601 in UTC, one without a zone is in UTC; "
    "unknown is null. Text are: whole numbers beyond 2^53, `nan` and `inf`, days and times outside "
    "the years 1 to 9999 (`infinity`, `12000-01-01`, `0044-01-01 (BC)`), bytes (hexadecimal), and "
    "types that JSON lacks, such as intervals and bits, as the database writes them"
)


class SqlAnswer(ClosedDocument):
    """The first rows of a statement. `is_cut`: it has more."""

    query: Annotated[str | None, Field(description="name of the query of the library")]
    columns: list[SqlColumn]
    rows: Annotated[list[list[object]], Field(description=_ROWS)]
    returned_count: Count
    row_limit: int
    is_cut: bool
    seconds: float
    as_of: Timestamp | None
    history_rewritten: Annotated[
        bool, Field(description="true: an account was erased since `as_of`")
    ]
    is_demo_data: bool
