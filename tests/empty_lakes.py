"""Empty tables of a lake, made once in a run of the tests and copied into each new lake.

A lake has some forty tables, and making one takes 9 ms: a third of a second in each of a thousand
tests. Tests of the making itself ask for `tables_made_anew`, and each process that a test starts
on a new home makes its tables, too. A plugin of the tests, named in their `conftest.py`.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from deltalake import DeltaTable

from tests.shared import SharedFolder
from warehouse.lake import schema_evolution, store
from warehouse.tables import TABLES, Table

FIRST_ENTRY = Path("_delta_log", f"{0:020}.json")
"""What the log of a table begins with, and all that there is of one without rows."""
ID = re.compile(r'(?<="id":")[0-9a-f-]{36}')
"""The id of a table in its first entry; each copy is a table of its own."""
CONTRACTS = {table.name: table for table in TABLES}
_open_table = schema_evolution.open_table


class EmptyTables:
    """Opens tables of the contracts where a copy of an empty one has been put, others as always."""

    def __init__(self, shared: SharedFolder) -> None:
        self._shared = shared

    def open_table(self, path: str, table: Table, *, world: str) -> DeltaTable:
        if "://" not in path and CONTRACTS.get(table.name) is table:
            self._put(Path(path, FIRST_ENTRY), table, world)
        return _open_table(path, table, world=world)

    def _put(self, target: Path, table: Table, world: str) -> None:
        """Copy the first entry whole or not at all, and never beside a log."""

        def make(draft: Path) -> None:
            folder = draft.with_name(f"{draft.name}-table")
            _open_table(str(folder), table, world=world)
            (folder / FIRST_ENTRY).replace(draft)

        if target.parent.exists():
            return
        source = self._shared.file(f"{world}-{table.name}.json", make)
        target.parent.mkdir(exist_ok=True)
        draft = target.with_name(f"{uuid4().hex}.tmp")
        draft.write_text(ID.sub(str(uuid4()), source.read_text("utf-8"), count=1), "utf-8")
        try:
            os.link(draft, target)
        except FileExistsError:
            """Another thread or process was faster."""
        finally:
            draft.unlink()


@pytest.fixture(scope="session", autouse=True)
def _tables_are_copied(shared_folder: SharedFolder) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "open_table", EmptyTables(shared_folder).open_table)
        yield


@pytest.fixture
def tables_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the tables of this test be created as they are for users."""
    monkeypatch.setattr(store, "open_table", _open_table)
