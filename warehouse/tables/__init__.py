"""The data contract: each table of the lake with the meaning of its rows, its key and its columns.

The asset checks and the engine's views are derived from `TABLES`; the dictionary, exports and
completion from `RELATIONS`. New columns are added at the end of a table and its `version`
is raised: opening a store adds them. A view of the star stores nothing: change it freely. The
questions that tables answer are in `examples.sql`.
"""

from warehouse.tables.column import Column, Table
from warehouse.tables.marts import CATALOG_MARTS, CHART_MARTS, MARTS
from warehouse.tables.raw import RAW
from warehouse.tables.star import STAR

__all__ = ["BY_NAME", "RELATIONS", "STAR", "TABLES", "Column", "Table"]

TABLES: tuple[Table, ...] = (*RAW, *MARTS, *CATALOG_MARTS, *CHART_MARTS)
BY_NAME: dict[str, Table] = {table.name: table for table in TABLES}
RELATIONS: tuple[Table, ...] = (*TABLES, *STAR)
"""All that can be queried: the stored tables and the views of the star."""
