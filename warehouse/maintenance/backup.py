"""Backup of one world's stores while they are in use: control store, orchestrator, lake.

The key of the pseudonyms is copied, too, without which later exports would have other ones.

The order makes it consistent: first the control store, which refers to results; then
`raw.captures`, whose rows refer to observations; then everything these refer to, which was written
before them. Restoring is in `restore`. Stores outside the home (PostgreSQL, S3) are not included.
"""

import hashlib
import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote

import stamina
from deltalake import DeltaTable
from sqlalchemy.engine import make_url

from warehouse.home.folder import PSEUDONYMS_KEY, Home
from warehouse.lake.library_errors import translate_errors
from warehouse.lake.store import is_remote, storage_errors
from warehouse.records.errors import InvalidParameterError
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
_CHUNK = 1024 * 1024


@dataclass(frozen=True, slots=True)
class CopiedFile:
    """One file of a backup; `path` is relative, with forward slashes."""

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

    def to_json(self) -> str:
        """Return the text of the manifest file."""
        return json.dumps(asdict(self), indent=1)


def write_backup(
    home: Home, target: Path, *, control_url: str, lake_url: str, dagster_url: str | None = None
) -> Manifest:
    """Copy the stores into the folder `target`, which must not exist or be empty.

    `dagster_url`: the database of Dagster's runs, if they are not in the home.

    Raises:
        InvalidParameterError: `target` is not empty.
        WarehouseUnavailableError: Reading or writing failed; nothing is left behind.
    """
    target = target.expanduser().resolve()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InvalidParameterError(
            "the folder of the backup is not empty", hint="choose a new folder"
        )
    # A backup gets its name when it is complete, so a half one is never taken for it.
    draft = target.with_name(f".{target.name}.unfinished")
    with backup_errors("writing the backup"):
        shutil.rmtree(draft, ignore_errors=True)
        try:
            draft.mkdir(mode=0o700, parents=True)
        except (FileNotFoundError, NotADirectoryError, PermissionError) as error:
            raise InvalidParameterError(
                f"the folder {target.name} cannot be written: {error.strerror}",
                hint="choose another folder",
            ) from error
        try:
            manifest = _fill(
                home, draft, control_url=control_url, lake_url=lake_url, dagster_url=dagster_url
            )
            if target.exists():
                target.rmdir()  # empty, as checked above
            draft.rename(target)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    return manifest


@contextmanager
def backup_errors(what: str) -> Iterator[None]:
    """Translate errors of the disk, SQLite and Delta."""
    with storage_errors(what), translate_errors(what, sqlite3.Error, shutil.Error):
        yield


def copy_secret(source: Path, target: Path) -> None:
    """Copy a file that only its owner may read, at no moment readable by others."""
    target.touch(mode=0o600)
    shutil.copyfile(source, target)


def file_sha256(file: Path) -> str:
    """Return the SHA-256 of a file as hexadecimal digits."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _fill(
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
    _copy_folder(home.dagster_dir, draft / DAGSTER)
    if home.pseudonyms_key.exists():
        copy_secret(home.pseudonyms_key, draft / PSEUDONYMS_KEY)
    manifest = Manifest(
        format=FORMAT,
        world=home.world,
        created_at=to_utc_text(datetime.now(UTC), timespec="seconds"),
        files=[
            CopiedFile(file.relative_to(draft).as_posix(), file.stat().st_size, file_sha256(file))
            for file in sorted(draft.rglob("*"))
            if file.is_file()
        ],
        left_out=left_out,
    )
    (draft / MANIFEST).write_text(manifest.to_json(), encoding="utf-8")
    return manifest


def _copy_sqlite(source: Path, target: Path) -> None:
    """Copy with SQLite's online backup: whole transactions, even during writes."""
    address = f"{source.resolve().as_uri()}?mode=ro"
    with (
        closing(sqlite3.connect(address, uri=True, timeout=30)) as opened,
        closing(sqlite3.connect(target)) as copy,
    ):
        opened.backup(copy)


def _copy_table(source: Path, target: Path) -> None:
    """Copy one version with its log; repeated if a vacuum deletes a file meanwhile."""
    if not (source / "_delta_log").is_dir():
        return
    for attempt in stamina.retry_context(on=FileNotFoundError, attempts=3, wait_initial=0.2):
        with attempt:
            shutil.rmtree(target, ignore_errors=True)
            opened = DeltaTable(str(source))
            for name in _names_of(opened, source):
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source / name, target / name)


def _names_of(opened: DeltaTable, source: Path) -> Iterator[Path]:
    """Yield the files of the open version: its data, and its log up to it."""
    version = opened.version()
    for address in opened.file_uris():
        yield Path(unquote(address)).relative_to(source)
    for entry in (source / "_delta_log").iterdir():
        number = entry.name.partition(".")[0]
        # `_last_checkpoint` has no number: it may point to a later version, and is only a hint.
        if number.isdigit() and int(number) <= version:
            yield entry.relative_to(source)


def _copy_folder(source: Path, target: Path) -> None:
    for file in sorted(source.rglob("*")):
        # The copy of a database contains what its write-ahead log holds.
        if not file.is_file() or file.name.endswith(_SQLITE_SIDE_FILES):
            continue
        copy = target / file.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        with file.open("rb") as stream:
            is_database = stream.read(len(_SQLITE)) == _SQLITE
        if is_database:
            _copy_sqlite(file, copy)
        else:
            shutil.copyfile(file, copy)
