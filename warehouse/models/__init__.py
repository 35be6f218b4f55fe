"""SQL models: the views of the star, and in `scan/` the models that assets run over a scan's rows.

Each is in a file of the name of its table. `catalog/` has parts of queries about the tracks of a
catalogue. `MACROS` are functions that they, and the statements of users, call.
"""

from functools import cache
from pathlib import Path

from warehouse.records.videos import COUNTS, HOT_SCORE_WEIGHTS
from warehouse.tables import Table

FOLDER = Path(__file__).parent
_HOT_SCORE = " + ".join(f"{weight} * {name}" for name, weight in HOT_SCORE_WEIGHTS.items())
MACROS = (f"create macro hot_score({', '.join(COUNTS)}) as {_HOT_SCORE}",)
"""`hot_score` of the four counts of a video; null if one of them is."""


@cache
def read_model(table: Table) -> str:
    """Return the statement of a view: its file without the comments above it."""
    return _read(FOLDER / f"{table.noun}.sql")


@cache
def read_scan_model(noun: str) -> str:
    """Return the statement that derives the rows of a mart from the rows of one scan."""
    return _read(FOLDER / "scan" / f"{noun}.sql")


@cache
def read_catalog_model(noun: str) -> str:
    """Return a part of a statement about the tracks of a catalogue."""
    return _read(FOLDER / "catalog" / f"{noun}.sql")


def _read(path: Path) -> str:
    lines = path.read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if not line.startswith("-- ")).strip()
