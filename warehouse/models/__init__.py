"""SQL models of the star: one view each, in a file of the same name."""

from functools import cache
from pathlib import Path

from warehouse.tables import Table

FOLDER = Path(__file__).parent


@cache
def read_model(table: Table) -> str:
    """Return the statement of a view: its file without the comments above it."""
    path = FOLDER / f"{table.name.partition('.')[2]}.sql"
    lines = path.read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if not line.startswith("-- ")).strip()
