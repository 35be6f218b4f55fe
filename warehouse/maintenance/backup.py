"""Backup of one world's stores while they are in use, and restore of a backup.

The order of a backup makes it consistent: first the control store, which refers to results; then
`raw.captures`, whose rows refer to observations; then everything these refer to, which was written
before them. The key of the pseudonyms is copied too: with another key later exports would have
other pseudonyms. Stores outside the home (PostgreSQL, S3) are not included.

A restore verifies every file and opens the stores in a temporary folder first, so that they refuse
another world or a newer version before the home exists.
"""

import hashlib
import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

import stamina
from deltalake import DeltaTable
from sqlalchemy.engine import make_url

from warehouse.control import captures, open_control
from warehouse.control.access import sessions, shared_links
from warehouse.engine.duckdb_engine import Engine
from warehouse.files import folder_problem, translate_errors
from warehouse.home import PSEUDONYMS_KEY, Home, open_home
from warehouse.lake.store import is_remote, open_lake, storage_errors
from warehouse.records import errors
from warehouse.records.times import to_utc_text
from warehouse.tables import TABLES

FORMAT = 1
MANIFEST = "backup.json"
CONTROL = "control.sqlite"
LAKE = "lake"
DAGSTER = "dagster"
FIRST_TABLE = "raw.captures"
CONTROL_NOT_INCLUDED = "the control store is PostgreSQL: back it up with pg_dump, before the lake"
RUNS_NOT_INCLUDED = "Dagster's runs are in PostgreSQL: back them up with pg_dump"
LAKE_NOT_INCLUDED = "the lake is in an object store: use that store's own versions or copies"
_SQLITE = b"SQLite format 3\0"
_SQLITE_SIDE_FILES = ("-wal", "-shm", "-journal")
_HINT = f"give a folder that `sametrack backup` wrote; it holds {MANIFEST}"


@dataclass(frozen=True, slots=True)
class CopiedFile:
    """A file of a backup; `path` is relative, with forward slashes."""

    path: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """Description of a backup: world, time, files, and what is not included."""

    format: int
    world: str
    created_at: str
    files: list[CopiedFile]
    left_out: list[str]

    @property
    def size_bytes(self) -> int:
        """Size of all files together."""
        return sum(file.size_bytes for file in self.files)


def write_backup(
    home: Home, target: Path, *, control_url: str, lake_url: str, dagster_url: str | None = None
) -> Manifest:
    """Copy the stores into the folder `target`, which must not exist or be empty.

    `dagster_url`: the database of Dagster's runs, if they are not in the home.

    Raises:
        InvalidParameterError: `target` is not empty.
        WarehouseUnavailableError: Reading or writing failed; no part of a backup stays.
    """
    target = target.expanduser().resolve()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise errors.InvalidParameterError(
            "the folder of the backup is not empty", hint="choose a new folder"
        )
    # A backup gets its name when it is complete, so nobody takes an incomplete one for it.
    draft = target.with_name(f".{target.name}.unfinished")
    with backup_errors("writing the backup"):
        shutil.rmtree(draft, ignore_errors=True)
        try:
            draft.mkdir(mode=0o700, parents=True)
        except (FileNotFoundError, NotADirectoryError, PermissionError) as error:
            raise errors.InvalidParameterError(
                f"the folder {target.name} cannot be written: {error.strerror}",
                hint="choose another folder",
            ) from error
        try:
            manifest = _copy_stores(
                home, draft, control_url=control_url, lake_url=lake_url, dagster_url=dagster_url
            )
            if target.exists():
                target.rmdir()  # empty, as checked above
            draft.rename(target)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    return manifest


def _copy_stores(
    home: Home, draft: Path, *, control_url: str, lake_url: str, dagster_url: str | None
) -> Manifest:
    left_out = [RUNS_NOT_INCLUDED] if dagster_url else []
    if control_url.startswith("sqlite"):
        _copy_sqlite(Path(make_url(control_url).database or ""), draft / CONTROL)
    else:
        left_out.append(CONTROL_NOT_INCLUDED)
    if is_remote(lake_url):
        left_out.append(LAKE_NOT_INCLUDED)
    else:
        for table in sorted(TABLES, key=lambda table: table.name != FIRST_TABLE):
            _copy_table(Path(lake_url).resolve() / table.folder, draft / LAKE / table.folder)
    # Dagster's folder has databases in use and plain files.
    for source in sorted(home.dagster_dir.rglob("*")):
        # The online copy of a database contains what its side files hold.
        if not source.is_file() or source.name.endswith(_SQLITE_SIDE_FILES):
            continue
        target = draft / DAGSTER / source.relative_to(home.dagster_dir)
        target.parent.mkdir(parents=True, exist_ok=True)
        with source.open("rb") as stream:
            is_database = stream.read(len(_SQLITE)) == _SQLITE
        if is_database:
            _copy_sqlite(source, target)
        else:
            shutil.copyfile(source, target)
    if home.pseudonyms_key.exists():
        _copy_secret(home.pseudonyms_key, draft / PSEUDONYMS_KEY)
    manifest = Manifest(
        format=FORMAT,
        world=home.world,
        created_at=to_utc_text(datetime.now(UTC), timespec="seconds"),
        files=[
            CopiedFile(file.relative_to(draft).as_posix(), file.stat().st_size, _file_sha256(file))
            for file in sorted(draft.rglob("*"))
            if file.is_file()
        ],
        left_out=left_out,
    )
    text = json.dumps(asdict(manifest), indent=1)
    (draft / MANIFEST).write_text(text, encoding="utf-8")
    return manifest


def _copy_sqlite(source: Path, target: Path) -> None:
    """Copy with SQLite's online backup: whole transactions, even during writes."""
    address = f"{source.resolve().as_uri()}?mode=ro"
    with (
        closing(sqlite3.connect(address, uri=True, timeout=30)) as database,
        closing(sqlite3.connect(target)) as copy,
    ):
        database.backup(copy)


def _copy_table(source: Path, target: Path) -> None:
    """Copy one version with its log; repeated if a vacuum deletes a file meanwhile."""
    log = source / "_delta_log"
    if not log.is_dir():
        return
    for attempt in stamina.retry_context(on=FileNotFoundError, attempts=3, wait_initial=0.2):
        with attempt:
            shutil.rmtree(target, ignore_errors=True)
            delta = DeltaTable(str(source))
            version = delta.version()
            names = [Path(unquote(address)).relative_to(source) for address in delta.file_uris()]
            for entry in log.iterdir():
                # The log up to this version. `_last_checkpoint` has no number: it may point to a
                # later version, and is only a hint.
                number = entry.name.partition(".")[0]
                if number.isdigit() and int(number) <= version:
                    names.append(entry.relative_to(source))
            for name in names:
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source / name, target / name)


def restore_backup(source: Path, data_home: Path, *, world: str) -> Manifest:
    """Create `data_home/<world>/` from the backup in the folder `source`.

    Raises:
        InvalidParameterError: There is no backup, or the world already has stores.
        WrongWorldError: The backup belongs to another world.
        StoreTooNewError: A newer Sametrack wrote it or one of its stores.
        WarehouseUnavailableError: It is damaged or cannot be written. No part of the home stays.
    """
    problem = folder_problem(source.expanduser())
    if problem is not None:
        raise errors.InvalidParameterError(problem, hint=_HINT)
    source = source.expanduser().resolve()
    root = data_home.expanduser().resolve() / world
    manifest = read_manifest(source)
    if manifest.world != world:
        raise errors.WrongWorldError(
            f"this is a backup of world {manifest.world!r}, not of {world!r}",
            hint="choose the profile or source of the backup",
        )
    # A home that a command has just created has its mark and no store: it may be replaced.
    files = [file for file in root.rglob("*") if file.is_file()] if root.exists() else []
    if any(file.parent != root or file.name in (CONTROL, PSEUDONYMS_KEY) for file in files):
        raise errors.InvalidParameterError(
            f"the world {world!r} already has stores, which are not overwritten",
            hint="choose another DATA_HOME, or move the old stores",
        )
    with backup_errors("restoring the backup"):
        _verify_files(source, manifest)
        draft_home = root.with_name(f".{root.name}.unfinished")
        shutil.rmtree(draft_home, ignore_errors=True)
        try:
            home = open_home(draft_home, world)
            for copied in manifest.files:
                target = home.root / copied.path
                target.parent.mkdir(parents=True, exist_ok=True)
                copy = _copy_secret if copied.path == PSEUDONYMS_KEY else shutil.copyfile
                copy(source / copied.path, target)
            # Opening a store checks and migrates it. Sessions and read-only links end, because
            # somebody may have signed out, or revoked a link, since the backup.
            with closing(open_control(home.control_url, world=home.world)) as control:
                sessions.end_all(control)
                shared_links.revoke_all(control)
            # The control store was copied first, so the lake may have later captures.
            if (home.root / LAKE).exists():
                raise_sequences(
                    control_url=home.control_url, lake_url=home.lake_url, world=home.world
                )
            if root.exists():
                shutil.rmtree(root)  # checked above: it contains no store
            home.root.rename(root)
        finally:
            shutil.rmtree(draft_home, ignore_errors=True)
    return manifest


def read_manifest(source: Path) -> Manifest:
    """Read the manifest of a backup.

    Raises:
        InvalidParameterError: There is no backup in this folder.
        StoreTooNewError: A newer Sametrack wrote it.
    """
    try:
        document = json.loads((source / MANIFEST).read_text(encoding="utf-8"))
        files = [CopiedFile(**file) for file in document.pop("files")]
        manifest = Manifest(files=files, **document)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise errors.InvalidParameterError(
            f"there is no readable backup in the folder {source.name}", hint=_HINT
        ) from error
    if manifest.format > FORMAT:
        raise errors.StoreTooNewError(
            f"the backup has format {manifest.format}, this Sametrack supports {FORMAT}",
            hint="update Sametrack",
        )
    return manifest


def _verify_files(source: Path, manifest: Manifest) -> None:
    for file in manifest.files:
        parts = PurePosixPath(file.path)
        # A backup may come from elsewhere: its manifest must not write outside the new home.
        if parts.is_absolute() or ".." in parts.parts:
            raise errors.WarehouseUnavailableError("the backup refers to a file outside its folder")
        copied = source / file.path
        if not copied.is_file() or _file_sha256(copied) != file.sha256:
            raise errors.WarehouseUnavailableError(
                f"the backup is damaged: {file.path} is missing or changed",
                hint="use another backup",
            )


def raise_sequences(*, control_url: str, lake_url: str, world: str) -> int:
    """Raise the capture sequences of a control store to those of a lake; returns how many it has.

    A control store that is older than its lake would assign the numbers of stored captures again.

    Raises:
        WarehouseUnavailableError: One of them cannot be opened, read or written.
        WrongWorldError: One of them is of another world.
        StoreTooNewError: A newer Sametrack wrote one of them.
    """
    with closing(Engine(open_lake(lake_url, world=world))) as engine:
        rows = engine.rows(
            "select surface, entity_id, max(sequence) as value from raw.captures group by all"
        )
    numbers = {(str(row["surface"]), str(row["entity_id"])): int(str(row["value"])) for row in rows}
    with closing(open_control(control_url, world=world)) as control:
        captures.raise_numbers(control, numbers)
    return len(rows)


@contextmanager
def backup_errors(what: str) -> Iterator[None]:
    """Translate errors of the disk, SQLite and Delta."""
    with storage_errors(what), translate_errors(what, causes=(sqlite3.Error, shutil.Error)):
        yield


def _copy_secret(source: Path, target: Path) -> None:
    """Copy a file that only its owner may read, at no moment readable by others."""
    target.touch(mode=0o600)
    shutil.copyfile(source, target)


def _file_sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
