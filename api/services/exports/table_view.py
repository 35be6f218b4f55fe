"""The rows and columns of a table that a reader has on the screen: filters, order, columns."""

from collections.abc import Sequence
from dataclasses import dataclass

from warehouse.exports.document_columns import DocumentColumn
from warehouse.records.errors import InvalidParameterError
from warehouse.records.values import ReadOnlyDocument

ACCOUNT_COLUMNS = ("nickname", "unique_id", "sec_uid")


@dataclass(frozen=True, slots=True, kw_only=True)
class TableView:
    """What is shown of a table. Whatever is None is not restricted.

    `columns` are names in their order. `order` is the name of a column to sort by, with `-` before
    it for the largest first. `account` is part of a name, a handle or an id; each of `equal` is a
    column with its value.
    """

    columns: str | None = None
    order: str | None = None
    account: str | None = None
    equal: tuple[tuple[str, str], ...] = ()

    def facts(self) -> tuple[tuple[str, str | None], ...]:
        """Return each restriction with its value, by the name of its parameter."""
        return (
            ("columns", self.columns),
            ("order", self.order),
            ("account", self.account),
            *self.equal,
        )

    def rows(
        self, columns: Sequence[DocumentColumn], documents: Sequence[ReadOnlyDocument]
    ) -> list[ReadOnlyDocument]:
        """Return the documents that are shown, in their order.

        Raises:
            InvalidParameterError: The table has no such column.
        """
        by_name = {column.name: column for column in columns}
        for name, text in self.equal:
            column = _named(by_name, name)
            documents = [row for row in documents if column.value(row) == text]
        if self.account is not None:
            part = self.account.strip().casefold()
            names = [_named(by_name, name) for name in ACCOUNT_COLUMNS]
            documents = [
                row
                for row in documents
                if any(part in str(column.value(row) or "").casefold() for column in names)
            ]
        if self.order is None:
            return list(documents)
        column = _named(by_name, self.order.removeprefix("-"))
        # Two stable sorts: unknown values are last in either direction.
        ordered = [row for row in documents if column.value(row) is not None]
        unknown = [row for row in documents if column.value(row) is None]
        ordered.sort(key=column.value, reverse=self.order.startswith("-"))  # type: ignore[arg-type]  # one kind
        return [*ordered, *unknown]

    def chosen(self, columns: Sequence[DocumentColumn]) -> tuple[DocumentColumn, ...]:
        """Return the columns that are shown.

        Raises:
            InvalidParameterError: The table has no such column.
        """
        if self.columns is None:
            return tuple(columns)
        by_name = {column.name: column for column in columns}
        names = [name.strip() for name in self.columns.split(",") if name.strip()]
        if not names:
            raise InvalidParameterError("`columns` names no column", hint="Omit it for all columns")
        return tuple(_named(by_name, name) for name in dict.fromkeys(names))


WHOLE_TABLE = TableView()
"""Every row and column."""


def _named(by_name: dict[str, DocumentColumn], name: str) -> DocumentColumn:
    if name in by_name:
        return by_name[name]
    raise InvalidParameterError(
        f"The table has no column {name[:60]!r}", hint=f"Its columns: {', '.join(by_name)}"
    )
