"""The library of queries, the tables, and statements of users, as documents and files.

Not here: running a statement (`runner.py`), HTTP.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Protocol

import orjson

from api.params.sql import FILE_ROWS, SqlBody, SqlExportBody, StatementBody
from api.responses.errors import MissingParameterError, QueryLimitError
from api.schemas.extensions import sql as schemas
from api.services.exports.tables import ExportFile
from api.services.sql.query_process import ParameterValue, Statement, StatementAnswer
from api.services.sql.runner import StatementTicket
from pipelines.documents.videos import to_document
from warehouse.analysis.description import NAMES, describe_table
from warehouse.analysis.query_library import find_query, named_queries
from warehouse.exports.table_files import MEDIA_TYPES
from warehouse.records.errors import InvalidParameterError

PATH = "/api/v1/sametrack/sql"


class RunsStatements(Protocol):
    """Runs statements: in a process of its own, or in an engine of a test."""

    def run(
        self, statement: Statement, ticket: StatementTicket | None = None
    ) -> StatementAnswer: ...

    def open_ticket(self) -> StatementTicket: ...


@dataclass(frozen=True, slots=True)
class _BodyStatement:
    """The SQL of a body with its values; `query` is the name of a query of the library."""

    sql: str
    values: dict[str, ParameterValue]
    query: str | None


@dataclass(frozen=True, eq=False)
class SqlService:
    """Answers the operations about SQL."""

    runner: RunsStatements
    is_demo: bool

    def library(self) -> schemas.QueryLibrary:
        """Return all named queries."""
        queries = _query_documents()
        return {
            "queries": queries,
            "returned_count": len(queries),
            "is_demo_data": self.is_demo,
        }

    def tables(self) -> schemas.TableList:
        """Return all tables with their columns."""
        tables = _table_documents()
        return {"tables": tables, "returned_count": len(tables), "is_demo_data": self.is_demo}

    def rows(self, body: SqlBody, ticket: StatementTicket) -> Mapping[str, object]:
        """Run a statement and return its first rows: a `SqlAnswer` whose rows are encoded.

        Raises:
            MissingParameterError, InvalidParameterError: The body names no statement, or two, or
                one that is invalid.
            SametrackError: See `StatementRunner.run`.
        """
        chosen = _read(body)
        statement = Statement(chosen.sql, chosen.values, as_of=body.as_of, row_limit=body.row_limit)
        answer = self.runner.run(statement, ticket)
        summary = answer.summary
        return {
            "query": chosen.query,
            "columns": summary.columns,
            "rows": orjson.Fragment(answer.body),
            "returned_count": summary.row_count,
            "row_limit": body.row_limit,
            "is_cut": summary.is_cut,
            "seconds": summary.seconds,
            "as_of": summary.as_of,
            "history_rewritten": summary.is_history_rewritten,
            "is_demo_data": self.is_demo,
        }

    def file(self, body: SqlExportBody, ticket: StatementTicket, *, stamp: str) -> ExportFile:
        """Run a statement and return all of its rows as a file.

        Args:
            body: The statement and the format.
            ticket: Cancels it.
            stamp: Time for the name of the file.

        Raises:
            QueryLimitError: It has more rows than a file may have.
            SametrackError: See `rows`.
        """
        chosen = _read(body)
        name = chosen.query or "sql"
        # A file states how it was made, because it is read without this service.
        facts = {
            "is_demo_data": "true" if self.is_demo else "false",
            "query": chosen.query or "",
            "sql": chosen.sql,
            "parameters": orjson.dumps(chosen.values).decode(),
        }
        statement = Statement(
            chosen.sql,
            chosen.values,
            as_of=body.as_of,
            row_limit=FILE_ROWS,
            form=body.form,
            has_byte_order_mark=body.bom,
            title=name,
            facts=facts,
        )
        answer = self.runner.run(statement, ticket)
        if answer.summary.is_cut:
            raise QueryLimitError(
                f"the answer has more than {FILE_ROWS:,} rows",
                hint="add a condition, or use `sametrack sql --out`, which has no limit of size",
            )
        demo = "demo-" if self.is_demo else ""
        return ExportFile(
            answer.body, MEDIA_TYPES[body.form], f"sametrack-{demo}{name}-{stamp}.{body.form}"
        )


def _read(body: StatementBody) -> _BodyStatement:
    """Return the statement of a body: its own SQL, or a query of the library with its values."""
    if body.sql is not None and body.query is not None:
        raise InvalidParameterError("`sql` and `query` cannot be combined", hint="send one of them")
    if body.query is not None:
        query = find_query(body.query)
        # Parameters of a query are whole numbers or text, which each parses to its own type.
        values = {
            name: value if value is None or isinstance(value, int | str) else str(value)
            for name, value in body.parameters.items()
        }
        return _BodyStatement(query.sql, {**query.values(values)}, query.name)
    if body.sql is None:
        raise MissingParameterError("`sql` is required, or `query` with the name of a query")
    return _BodyStatement(body.sql, dict(body.parameters), None)


# Queries and tables change only with the release, so their documents are built once.


@cache
def _query_documents() -> list[schemas.NamedQueryDocument]:
    return [
        to_document(
            schemas.NamedQueryDocument,
            query,
            parameters=[
                to_document(schemas.QueryParameterDocument, parameter)
                for parameter in query.parameters
            ],
        )
        for query in named_queries()
    ]


@cache
def _table_documents() -> list[schemas.TableDocument]:
    documents: list[schemas.TableDocument] = []
    for table in map(describe_table, NAMES):
        columns = [
            to_document(
                schemas.TableColumnDocument,
                column,
                type=column.type_label,
                may_be_unknown=not column.required,
            )
            for column in table.columns
        ]
        documents.append(to_document(schemas.TableDocument, table, columns=columns))
    return documents
