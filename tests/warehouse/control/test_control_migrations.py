"""Control stores of another world, of an older schema and of a newer one."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import inspect, text

from tests.postgres import on_both
from warehouse.control import ControlStore, links, open_control
from warehouse.control.database import connect
from warehouse.control.migrations import MIGRATIONS, Migration, migrate
from warehouse.control.schema import METADATA
from warehouse.records.errors import StoreTooNewError, WarehouseUnavailableError, WrongWorldError

pytestmark = pytest.mark.full

NEWEST = MIGRATIONS[-1].number
STEPS = (
    Migration(
        number=NEWEST + 1,
        meaning="jobs carry a note",
        statements=("alter table jobs add column note text",),
    ),
    Migration(
        number=NEWEST + 2,
        meaning="every job has a note",
        statements=("update jobs set note = 'none'", "create table notes (word text)"),
    ),
)
BROKEN = Migration(
    number=NEWEST + 3,
    meaning="fails half-way",
    statements=("create table half (word text)", "alter table nowhere add column x text"),
)


def unmigrated(url: str) -> closing[ControlStore]:
    return closing(ControlStore(connect(url)))


def marks(url: str) -> dict[str, str]:
    with unmigrated(url) as store, store.read() as connection:
        rows = connection.execute(text("select name, value from marks")).all()
    return {row.name: row.value for row in rows}


def migrate_to(url: str, *steps: Migration) -> None:
    with unmigrated(url) as store, store.write() as connection:
        migrate(connection, world="sandbox", migrations=steps)


@on_both
def test_new_store_says_whose_it_is_and_of_which_version(control_url: str) -> None:
    open_control(control_url, world="sandbox").close()
    assert marks(control_url) == {"world": "sandbox", "schema_version": str(NEWEST)}


@on_both
def test_store_of_another_world_is_refused(control_url: str) -> None:
    open_control(control_url, world="sandbox").close()
    with pytest.raises(WrongWorldError, match="sandbox"):
        open_control(control_url, world="public")


@on_both
def test_older_store_is_migrated_step_by_step(control_url: str) -> None:
    open_control(control_url, world="sandbox").close()
    migrate_to(control_url, *STEPS)
    assert marks(control_url)["schema_version"] == str(NEWEST + 2)
    migrate_to(control_url, *STEPS)
    with unmigrated(control_url) as store, store.read() as connection:
        assert connection.execute(text("select note from jobs")).all() == []
        assert connection.execute(text("select word from notes")).all() == []


@on_both
def test_store_of_the_first_version_becomes_what_a_new_one_is(control_url: str) -> None:
    later = {
        "circuits", "capturing", "remembered", "robots_files", "robots", "backlog", "watchlists",
        "watch_runs", "watch_looks", "surface_answers", "scan_journal", "catalogs",
        "catalog_tracks", "scan_previews", "user_notes", "sessions",
        "alert_channels", "alert_deliveries", "shared_links",
    }  # fmt: skip
    first = [table for table in METADATA.sorted_tables if table.name not in later]
    with unmigrated(control_url) as store, store.write() as connection:
        METADATA.create_all(connection, tables=first)
        for column in ("attempt", "run_number"):
            connection.execute(text(f"alter table jobs drop column {column}"))
        connection.execute(text("create table outbox (id integer primary key, kind varchar)"))
        for name, value in (("world", "sandbox"), ("schema_version", "1")):
            connection.execute(METADATA.tables["marks"].insert().values(name=name, value=value))
    open_control(control_url, world="sandbox").close()
    with unmigrated(control_url) as store, store.read() as connection:
        migrated = {
            table.name: [column["name"] for column in inspect(connection).get_columns(table.name)]
            for table in METADATA.sorted_tables
        }
        assert "outbox" not in inspect(connection).get_table_names()
    assert migrated == {
        table.name: [column.name for column in table.columns] for table in METADATA.sorted_tables
    }
    assert marks(control_url)["schema_version"] == str(NEWEST)


@on_both
def test_newer_store_is_refused_and_left_alone(control_url: str) -> None:
    open_control(control_url, world="sandbox").close()
    migrate_to(control_url, *STEPS)
    with pytest.raises(
        StoreTooNewError, match=f"version {NEWEST + 2}, this Sametrack supports {NEWEST}"
    ):
        open_control(control_url, world="sandbox")
    assert marks(control_url)["schema_version"] == str(NEWEST + 2)


@on_both
def test_failed_migration_leaves_the_store_as_it_was(control_url: str) -> None:
    open_control(control_url, world="sandbox").close()
    migrate_to(control_url, *STEPS)
    with pytest.raises(WarehouseUnavailableError):
        migrate_to(control_url, *STEPS, BROKEN)
    assert marks(control_url)["schema_version"] == str(NEWEST + 2)
    with (
        unmigrated(control_url) as store,
        pytest.raises(WarehouseUnavailableError),
        store.read() as connection,
    ):
        connection.execute(text("select * from half"))


@on_both
def test_processes_that_open_an_old_store_together_migrate_it_once(control_url: str) -> None:
    open_control(control_url, world="sandbox").close()
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda _: migrate_to(control_url, *STEPS), range(12)))
    assert marks(control_url)["schema_version"] == str(NEWEST + 2)


def test_file_is_copied_before_it_is_migrated(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'control.sqlite'}"
    control = open_control(url, world="sandbox")
    links.save(control, "short", "music", "1", ttl_s=60)  # still in the write-ahead log
    migrate_to(url, *STEPS)
    control.close()
    with closing(sqlite3.connect(tmp_path / f"control.sqlite.version-{NEWEST}")) as copy:
        assert copy.execute("select target from links").fetchall() == [("1",)]
        assert copy.execute("select value from marks order by name").fetchall() == [
            (str(NEWEST),),
            ("sandbox",),
        ]


@pytest.mark.parametrize(
    "url",
    [
        "",
        "nonsense",
        "mysql://localhost/x",
        "postgresql://localhost/x",
        "sqlite:////nowhere/at/all/control.sqlite",
        "postgresql+psycopg://tester:secret@127.0.0.1:1/x",
    ],
)
def test_store_that_cannot_be_opened_is_unavailable_without_telling_its_address(url: str) -> None:
    with pytest.raises(WarehouseUnavailableError) as caught:
        open_control(url, world="sandbox")
    assert "secret" not in f"{caught.value.detail} {caught.value.hint}"
    assert "nowhere" not in caught.value.detail


def test_file_that_is_no_database_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "control.sqlite").write_bytes(b"not a database at all" * 100)
    with pytest.raises(WarehouseUnavailableError):
        open_control(f"sqlite:///{tmp_path / 'control.sqlite'}", world="sandbox")
