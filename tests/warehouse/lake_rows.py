"""Rows of any table of the lake, of which a test gives only what it is about."""

from datetime import UTC, datetime
from typing import Any

from warehouse.tables import BY_NAME
from warehouse.tables.column import BOOLEAN, DATE, FLOAT, INTEGER, TEXT, TEXT_LIST, TIME

_AT = datetime(2026, 10, 1, 12, tzinfo=UTC)
_USUAL = {
    TEXT: "x", INTEGER: 0, FLOAT: 0.0, BOOLEAN: True, TEXT_LIST: [], TIME: _AT, DATE: _AT.date(),
}  # fmt: skip


def to_row(table: str, at: datetime = _AT, **given: Any) -> dict[str, object]:
    """A row of a table: what is not given is null, or something plain where it must not be."""
    usual = {
        column.name: (_USUAL.get(column.type, b"") if column.required else None)
        for column in BY_NAME[table].columns
    }
    assert given.keys() <= usual.keys()
    times = {name: at for name in ("observed_at", "committed_at") if name in usual}
    return usual | times | given
