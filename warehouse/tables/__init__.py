"""The data contract: each table of the lake with the meaning of its rows, its key and its columns.

The data dictionary, the asset checks and the engine's views are derived from `TABLES`. New columns
are added at the end of a table and its `version` is raised: opening a store adds them.
"""

from warehouse.tables.chart_marts import CHART_MARTS
from warehouse.tables.column import (
    BOOLEAN,
    BYTES,
    DATE,
    FLOAT,
    INTEGER,
    TEXT,
    TEXT_LIST,
    TIME,
    Column,
    Table,
)
from warehouse.tables.marts import MARTS
from warehouse.tables.raw import RAW

__all__ = [
    "BOOLEAN",
    "BYTES",
    "BY_NAME",
    "DATE",
    "FLOAT",
    "INTEGER",
    "TABLES",
    "TEXT",
    "TEXT_LIST",
    "TIME",
    "Column",
    "Table",
]

TABLES: tuple[Table, ...] = (*RAW, *MARTS, *CHART_MARTS)
BY_NAME: dict[str, Table] = {table.name: table for table in TABLES}
