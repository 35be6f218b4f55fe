"""A file in the folder of a lake that lists the opened tables with their schema versions.

Opening a table reads its log, and checks or migrates it: 1 to 3 ms for each of some forty. A
process that finds the note of its own release opens a table when it first reads or writes it. A
release with other versions opens all of them at once, and then refuses or migrates them.
"""

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from warehouse.tables import Table

NOTE = "opened_tables.json"


def are_noted(root: str, tables: Sequence[Table], *, world: str) -> bool:
    """Return True if all these tables exist, and were opened at these versions for this world."""
    try:
        noted = json.loads(Path(root, NOTE).read_bytes())
        is_ours = noted["world"] == world and noted["tables"].items() >= _versions(tables).items()
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return False
    return is_ours and all(Path(root, table.folder, "_delta_log").is_dir() for table in tables)


def note(root: str, tables: Sequence[Table], *, world: str) -> None:
    """Note that these tables have been opened; a folder that cannot be written has no note."""
    # A process that reads meanwhile gets the old note or the new one, never a part of it.
    draft = Path(root, f"{NOTE}.{uuid4().hex}.tmp")
    with suppress(OSError):
        draft.write_text(json.dumps({"world": world, "tables": _versions(tables)}, indent=1))
        draft.replace(Path(root, NOTE))


def _versions(tables: Sequence[Table]) -> dict[str, int]:
    return {table.name: table.version for table in tables}
