"""Files of a world: erases those that name an account, and proves it by searching all files.

Next to the lake, excerpts, reports, digests, the output of runs and the published database are
deleted, and sounds of killed scans: no process that needs them is running. The proof reports any
other file that names the account, for the operator to decide. The search reads files of any kind,
unpacking compressed ones, and deletes nothing.
"""

import gzip
import re
import sqlite3
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from warehouse.engine.duckdb_engine import Engine
from warehouse.engine.quoting import sql_name
from warehouse.home.folder import Home
from warehouse.lake.packing import unpack_bytes
from warehouse.records.errors import WarehouseUnavailableError

_ZSTD, _GZIP, _SQLITE = b"\x28\xb5\x2f\xfd", b"\x1f\x8b", b"SQLite format 3\x00"
_SEPARATOR = b"\x00"  # no name contains it, so a match never spans two cells
RECREATED_FOLDERS = ("published", "cache/pictures")
"""Folders of files that cannot be searched; they are recreated."""
USER_FOLDERS = ("reports", "digests", "dagster/storage")
"""Files for users, and the output of runs: deleted if they name the account, or cannot be searched.
"""
_UNSEARCHABLE = frozenset({".pdf", ".png", ".jpg", ".jpeg", ".webp"})


@dataclass(frozen=True, slots=True)
class ErasureProof:
    """Result of a search. `places`: files below the root that still contain a name."""

    file_count: int
    byte_count: int
    places: tuple[str, ...]

    def plus(self, other: "ErasureProof") -> "ErasureProof":
        """Combine two results."""
        return ErasureProof(
            self.file_count + other.file_count,
            self.byte_count + other.byte_count,
            self.places + other.places,
        )

    @property
    def is_clean(self) -> bool:
        """True if no file contains a name."""
        return not self.places


def search_files(
    root: Path, pattern: re.Pattern[bytes], *, but: tuple[Path, ...] = ()
) -> ErasureProof:
    """Search every file below `root`, except those below the folders `but`.

    Raises:
        WarehouseUnavailableError: A file cannot be read, so nothing is proven.
    """
    places, count, size = [], 0, 0
    for path in sorted(root.rglob("*")):
        if not path.is_file() or any(folder in path.parents for folder in but):
            continue
        count, size = count + 1, size + path.stat().st_size
        name = str(path.relative_to(root))
        if pattern.search(name.encode("utf-8", "surrogateescape")) or file_contains(path, pattern):
            places.append(name)
    return ErasureProof(count, size, tuple(places))


def search_tables(engine: Engine, pattern: re.Pattern[bytes]) -> ErasureProof:
    """Search every cell of every table, for a lake whose files are not accessible."""
    places, size = [], 0
    for table in engine.lake.tables:
        with engine.reading(f"select * from {table.name}") as reader:  # noqa: S608  # names of the contract
            for batch in reader:
                size += batch.nbytes
                cells = (_SEPARATOR.join(_flat(column.to_pylist())) for column in batch.columns)
                if any(map(pattern.search, cells)):
                    places.append(table.name)
    return ErasureProof(0, size, tuple(dict.fromkeys(places)))


def file_contains(path: Path, pattern: re.Pattern[bytes]) -> bool:
    """Return True if the file contains a match, as it is or when unpacked.

    Raises:
        WarehouseUnavailableError: The file cannot be read.
    """
    try:
        return any(map(pattern.search, _contents(path)))
    except FileNotFoundError:
        return False  # a draft, or a file of a store that was just rewritten
    except (OSError, pa.ArrowException, sqlite3.Error) as error:
        raise WarehouseUnavailableError(
            f"{path.name} cannot be read, so nothing is proven ({type(error).__name__})",
            hint="check the file, then erase again: what is erased stays erased",
        ) from error


def _contents(path: Path) -> Iterator[bytes]:
    """Yield the content of a file as it is, then its text and bodies without their encoding."""
    raw = path.read_bytes()
    yield raw
    if path.suffix == ".parquet":
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches():
                for column in batch.columns:
                    yield _SEPARATOR.join(_flat(column.to_pylist()))
    elif raw.startswith(_SQLITE):
        # A database has to be read by rows: long text is spread over pages of the file.
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as database:
            names = database.execute("select name from sqlite_master where type = 'table'")
            for (table,) in names.fetchall():
                for row in database.execute(f"select * from {sql_name(table)}"):  # noqa: S608  # a quoted name
                    yield _SEPARATOR.join(_flat(row))
    else:
        yield from _unpacked(raw)
        if zipfile.is_zipfile(path):
            with suppress(zipfile.BadZipFile), zipfile.ZipFile(path) as archive:
                for name in archive.namelist():
                    yield name.encode()
                    yield archive.read(name)


def _flat(values: Iterable[object]) -> Iterator[bytes]:
    """Yield text and bodies at any depth; the checkpoint of a log nests them."""
    for value in values:
        if isinstance(value, str):
            yield value.encode("utf-8", "replace")
        elif isinstance(value, bytes):
            yield value
            yield from _unpacked(value)
        elif isinstance(value, dict):
            yield from _flat(value.values())
        elif isinstance(value, list | tuple):
            yield from _flat(value)


def _unpacked(raw: bytes) -> Iterator[bytes]:
    """Yield the unpacked bytes, if they are one complete packed body."""
    if raw.startswith(_ZSTD):
        with suppress(WarehouseUnavailableError):
            yield unpack_bytes(raw)
    elif raw.startswith(_GZIP):
        with suppress(OSError, EOFError, zlib.error):
            yield gzip.decompress(raw)


def erase_files(home: Home, pattern: re.Pattern[bytes], *, sounds: Collection[str]) -> int:
    """Delete files that name the account or were cut from its sounds; returns how many."""
    # Sounds that a killed scan left, and copies of the control store from before a migration.
    paths = {*_files(home.sounds_dir), *home.root.glob("control.sqlite.version-*")}
    # An excerpt is named after the hash of its sound.
    for path in _files(home.cache_dir / "excerpts"):
        if path.name.split("-")[0] in sounds:
            paths.add(path)
    for folder in RECREATED_FOLDERS:
        paths.update(_files(home.root / folder))
    for folder in USER_FOLDERS:
        for path in _files(home.root / folder):
            if path.suffix.lower() in _UNSEARCHABLE or file_contains(path, pattern):
                paths.add(path)
    for path in paths:
        path.unlink(missing_ok=True)
    return len(paths)


def _files(folder: Path) -> Iterator[Path]:
    if folder.is_dir():
        yield from (path for path in folder.rglob("*") if path.is_file())
