"""A copy that is made while others write is whole, and is put back only where nothing is lost."""

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from warehouse.control import captures as shared_captures
from warehouse.control import open_control
from warehouse.control.access import shared_links
from warehouse.control.access.sessions import StoredSessions
from warehouse.control.access.shared_links import SharedLink
from warehouse.engine.duckdb_engine import Engine
from warehouse.exports.pseudonyms import open_pseudonyms
from warehouse.home import Home, open_home
from warehouse.lake.store import open_lake
from warehouse.maintenance.backup import MANIFEST, restore_backup, write_backup
from warehouse.records.errors import (
    InvalidParameterError,
    StoreTooNewError,
    WarehouseUnavailableError,
    WrongWorldError,
)

pytestmark = pytest.mark.full

WORLD = "sandbox"


def backup(home: Home, target: Path) -> None:
    write_backup(home, target, control_url=home.control_url, lake_url=home.lake_url)


@pytest.fixture(scope="module")
def program() -> Path:
    return Path(__file__).parents[1] / "programs" / "keep_capturing.py"


@pytest.fixture(scope="module")
def copied(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup made while a process writes as fast as it can."""
    folder = tmp_path_factory.mktemp("backup")
    with subprocess.Popen(
        [sys.executable, program, folder / "home"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as writer:
        assert writer.stdout is not None
        for _ in range(25):  # more than one checkpoint of the log
            assert writer.stdout.readline()
        backup(open_home(folder / "home", WORLD), folder / "copy")
        assert writer.stdout.readline()
        writer.communicate()
    return folder / "copy"


@pytest.fixture
def spoil(copied: Path, tmp_path: Path) -> Callable[[Callable[[Path], None]], Path]:
    """A copy of the backup after something was done to it."""

    def make(change: Callable[[Path], None]) -> Path:
        target = tmp_path / "spoiled"
        for file in sorted(copied.rglob("*")):
            if file.is_file():
                (target / file.relative_to(copied)).parent.mkdir(parents=True, exist_ok=True)
                (target / file.relative_to(copied)).write_bytes(file.read_bytes())
        change(target)
        return target

    return make


def edit(name: str, value: object) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        manifest = json.loads((folder / MANIFEST).read_text())
        (folder / MANIFEST).write_text(json.dumps({**manifest, name: value}))

    return change


def test_backup_made_during_writes_is_restored_complete(copied: Path, tmp_path: Path) -> None:
    restore_backup(copied, tmp_path, world=WORLD)
    home = open_home(tmp_path, WORLD)
    with closing(Engine(open_lake(home.lake_url, world=WORLD))) as engine:
        captures = engine.rows("select capture_id, sequence from raw.captures order by sequence")
        items = engine.rows("select capture_id, count(*) as n from seen.capture_items group by all")
    assert [row["sequence"] for row in captures] == list(range(1, len(captures) + 1))
    assert len(captures) >= 25
    # each capture that is there has all its items
    assert {row["capture_id"]: row["n"] for row in items} == {
        row["capture_id"]: 5 for row in captures
    }
    with closing(sqlite3.connect(home.dagster_dir / "runs.db")) as runs:
        assert runs.execute("select count(*) from runs where twin is null").fetchone() == (0,)
        assert runs.execute("pragma integrity_check").fetchone() == ("ok",)


def test_no_number_of_a_capture_is_given_again(copied: Path, tmp_path: Path) -> None:
    restore_backup(copied, tmp_path, world=WORLD)
    home = open_home(tmp_path, WORLD)
    with closing(Engine(open_lake(home.lake_url, world=WORLD))) as engine:
        (last,) = engine.rows("select max(sequence) as last from raw.captures")
    with closing(open_control(home.control_url, world=WORLD)) as control:
        assert shared_captures.next_numbers(control, [("music_list", "12345")])[0] > int(
            str(last["last"])
        )


def test_writing_goes_on_after_a_restore(copied: Path, program: Path, tmp_path: Path) -> None:
    restore_backup(copied, tmp_path, world=WORLD)
    command: list[str | Path] = [sys.executable, program, tmp_path]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as writer:
        assert writer.stdout is not None
        assert int(writer.stdout.readline()) > 25
        writer.communicate()


def test_a_used_home_is_not_overwritten(copied: Path, tmp_path: Path) -> None:
    restore_backup(copied, tmp_path, world=WORLD)
    with pytest.raises(InvalidParameterError, match="not overwritten"):
        restore_backup(copied, tmp_path, world=WORLD)


def test_an_empty_home_may_be_filled(copied: Path, tmp_path: Path) -> None:
    open_home(tmp_path, WORLD)
    assert restore_backup(copied, tmp_path, world=WORLD).files


def test_another_world_is_refused(copied: Path, tmp_path: Path) -> None:
    with pytest.raises(WrongWorldError):
        restore_backup(copied, tmp_path, world="public")
    assert list(tmp_path.iterdir()) == []


def newer_control(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "control.sqlite")) as control, control:
        control.execute("update marks set value = '999' where name = 'schema_version'")


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (edit("format", 2), StoreTooNewError),
        (edit("world", "public"), WrongWorldError),
        (lambda folder: (folder / MANIFEST).unlink(), InvalidParameterError),
        (lambda folder: (folder / MANIFEST).write_text("[]"), InvalidParameterError),
        (lambda folder: (folder / "control.sqlite").unlink(), WarehouseUnavailableError),
        (newer_control, WarehouseUnavailableError),  # its digest tells first
        (
            edit("files", [{"path": "../x", "size_bytes": 1, "sha256": ""}]),
            WarehouseUnavailableError,
        ),
        (
            edit("files", [{"path": "/etc/x", "size_bytes": 1, "sha256": ""}]),
            WarehouseUnavailableError,
        ),
    ],
    ids=["format", "world", "no manifest", "no list", "missing", "changed", "outside", "absolute"],
)
def test_a_backup_that_is_not_as_it_was_made_is_refused(
    spoil: Callable[[Callable[[Path], None]], Path],
    change: Callable[[Path], None],
    error: type[Exception],
    tmp_path: Path,
) -> None:
    with pytest.raises(error):
        restore_backup(spoil(change), tmp_path / "home", world=WORLD)
    assert not (tmp_path / "home").exists() or list((tmp_path / "home").iterdir()) == []


def test_stores_of_a_newer_version_are_refused(tmp_path: Path) -> None:
    home = open_home(tmp_path / "home", WORLD)
    open_control(home.control_url, world=WORLD).close()
    newer_control(home.root)
    backup(home, tmp_path / "copy")
    with pytest.raises(StoreTooNewError):
        restore_backup(tmp_path / "copy", tmp_path / "other", world=WORLD)
    assert list((tmp_path / "other").iterdir()) == []


def test_exports_after_a_restore_have_the_same_pseudonyms(tmp_path: Path) -> None:
    home = open_home(tmp_path / "home", WORLD)
    open_control(home.control_url, world=WORLD).close()
    pseudonym = open_pseudonyms(home).of("account", "somebody")
    backup(home, tmp_path / "copy")
    restore_backup(tmp_path / "copy", tmp_path / "other", world=WORLD)
    other = open_home(tmp_path / "other", WORLD)
    assert open_pseudonyms(other).of("account", "somebody") == pseudonym
    for key in (tmp_path / "copy" / "pseudonyms.key", other.pseudonyms_key):
        assert key.stat().st_mode & 0o777 == 0o600


def test_a_key_of_pseudonyms_is_not_overwritten(copied: Path, tmp_path: Path) -> None:
    pseudonym = open_pseudonyms(home := open_home(tmp_path, WORLD)).of("account", "somebody")
    with pytest.raises(InvalidParameterError, match="not overwritten"):
        restore_backup(copied, tmp_path, world=WORLD)
    assert open_pseudonyms(home).of("account", "somebody") == pseudonym


def test_a_folder_with_something_in_it_takes_no_backup(tmp_path: Path) -> None:
    home = open_home(tmp_path / "home", WORLD)
    open_control(home.control_url, world=WORLD).close()
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "mine").touch()
    with pytest.raises(InvalidParameterError):
        backup(home, tmp_path / "copy")
    assert [file.name for file in (tmp_path / "copy").iterdir()] == ["mine"]


def test_a_home_may_have_any_name(tmp_path: Path) -> None:
    home = open_home(tmp_path / "a #1 50%", WORLD)
    open_control(home.control_url, world=WORLD).close()
    backup(home, tmp_path / "copy")
    assert (tmp_path / "copy" / "control.sqlite").stat().st_size > 0


def test_backup_manifest_names_remote_stores_that_are_left_out(tmp_path: Path) -> None:
    home = open_home(tmp_path / "home", WORLD)
    manifest = write_backup(
        home,
        tmp_path / "copy",
        control_url="postgresql+psycopg://u:secret@h/db",
        lake_url="s3://bucket/lake",
    )
    assert len(manifest.left_out) == 2
    assert "secret" not in (tmp_path / "copy" / MANIFEST).read_text()


def test_a_backup_without_its_store_leaves_nothing_behind(tmp_path: Path) -> None:
    home = open_home(tmp_path / "home", WORLD)
    with pytest.raises(WarehouseUnavailableError):
        backup(home, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()
    assert [file.name for file in tmp_path.iterdir()] == ["home"]


def test_a_restored_backup_has_no_read_only_link(tmp_path: Path) -> None:
    home = open_home(tmp_path / "first", "mock")
    with closing(open_control(home.control_url, world="mock")) as control:
        link = SharedLink(
            link_id="a" * 32, kind="result", entity_id="job", created_by=None,
            created_at=datetime(2026, 1, 1, tzinfo=UTC),
            expires_at=datetime(2100, 1, 1, tzinfo=UTC),
        )  # fmt: skip
        shared_links.add(control, link)
        backup(home, tmp_path / "copy")
        assert shared_links.revoke(control, link.link_id)
    restore_backup(tmp_path / "copy", tmp_path / "second", world="mock")
    restored = open_home(tmp_path / "second", "mock")
    with closing(open_control(restored.control_url, world="mock")) as control:
        assert shared_links.newest(control) == []


def test_a_restored_backup_opens_no_session(tmp_path: Path) -> None:
    home = open_home(tmp_path / "first", "mock")
    with closing(open_control(home.control_url, world="mock")) as control:
        sessions = StoredSessions(control)
        sessions.add_session("a" * 32, ends_at=2e9, now=1e9)
        backup(home, tmp_path / "copy")
        sessions.end_session("a" * 32)
    restore_backup(tmp_path / "copy", tmp_path / "second", world="mock")
    restored = open_home(tmp_path / "second", "mock")
    with closing(open_control(restored.control_url, world="mock")) as control:
        assert not StoredSessions(control).has_session("a" * 32)
