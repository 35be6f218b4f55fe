"""Empty stores: what is the same in each of them is made once in a run of the tests.

A lake has some forty tables, and making one takes 9 ms: a third of a second in each of a thousand
tests. They are linked into each new lake; tests of the making itself ask for `tables_made_anew`,
and each process that a test starts on a new home makes its tables, too. The schema of a control
store is compiled once. A plugin of the tests, named in their `conftest.py`.
"""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import sqlite

from tests.shared_files import SharedFolder
from warehouse.control.schema import MARKS, METADATA
from warehouse.lake import store
from warehouse.lake.schema_evolution import open_table
from warehouse.lake.store import OPENED_NOTE, are_opened, note_opened
from warehouse.lake.video_index import VIDEOS_TABLE
from warehouse.tables import TABLES, Table

FIRST_ENTRY = Path("_delta_log", f"{0:020}.json")
"""What the log of a table begins with, and all that there is of one without rows."""
ID = re.compile(r'(?<="id":")[0-9a-f-]{36}')
"""The id of a table in its first entry."""
CONTRACTS = {table.name: table for table in TABLES}


class EmptyTables:
    """Puts empty tables into a new lake, as if it had been opened before."""

    def __init__(self, shared: SharedFolder) -> None:
        self._shared = shared
        self._sources: dict[tuple[str, str], Path] = {}

    def are_noted(self, root: str, tables: Sequence[Table], *, world: str) -> bool:
        if not Path(root, OPENED_NOTE).exists() and all(CONTRACTS.get(x.name) is x for x in tables):
            for table in tables:
                with suppress(FileExistsError):  # it is there, or another process was faster
                    self._put(Path(root, table.folder, FIRST_ENTRY), table, world)
            note_opened(root, tables, world=world)
        return are_opened(root, tables, world=world)

    def _put(self, target: Path, table: Table, world: str) -> None:
        """Put the first entry there whole or not at all, and never beside a log.

        A file of its own costs more than all else; entries are never written to, so they are links
        to one. The id of the table that is told from others by it is its own.
        """
        source = self._source(table, world)
        target.parent.mkdir(parents=True)
        if table.name != VIDEOS_TABLE and source.stat().st_dev == target.parent.stat().st_dev:
            os.link(source, target)
            return
        draft = target.with_name(f"{uuid4().hex}.tmp")
        draft.write_text(ID.sub(str(uuid4()), source.read_text("utf-8"), count=1), "utf-8")
        try:
            os.link(draft, target)
        finally:
            draft.unlink()

    def _source(self, table: Table, world: str) -> Path:
        def make(draft: Path) -> None:
            folder = draft.with_name(f"{draft.name}-table")
            open_table(str(folder), table, world=world)
            (folder / FIRST_ENTRY).replace(draft)

        if (world, table.name) not in self._sources:
            name = f"{world}-{table.name}.json"
            self._sources[world, table.name] = self._shared.file(name, make)
        return self._sources[world, table.name]


@pytest.fixture(scope="session", autouse=True)
def _tables_are_copied(shared_folder: SharedFolder) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "are_opened", EmptyTables(shared_folder).are_noted)
        yield


@pytest.fixture
def tables_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the tables of this test be created as they are for users."""
    monkeypatch.setattr(store, "are_opened", are_opened)


@pytest.fixture(scope="session", autouse=True)
def _schema_is_compiled_once() -> Iterator[None]:
    statements: list[str] = []
    dialect = sqlite.dialect()

    def note(statement: sa.schema.ExecutableDDLElement, *_: object, **__: object) -> None:
        statements.append(str(statement.compile(dialect=dialect)))

    everything = [table for table in METADATA.sorted_tables if table is not MARKS]
    create_all = METADATA.create_all
    create_all(sa.create_mock_engine("sqlite://", note), tables=everything, checkfirst=False)

    def create_compiled(connection: sa.Connection, **options: Any) -> None:
        if connection.dialect.name != "sqlite" or options.get("tables") != everything:
            create_all(connection, **options)
            return
        for statement in statements:
            connection.exec_driver_sql(statement)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(METADATA, "create_all", create_compiled)
        yield
