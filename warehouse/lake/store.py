"""The lake: one Delta table per contract, in a folder or at an `s3://` URL.

Append, list, compact and vacuum; safe for several threads and processes. Appends of several
processes do not conflict, and each append is one atomic commit. Queries are in `engine` and
`queries`, contracts in `tables`, migrations in `schema_evolution`.
"""

import fcntl
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import cast
from urllib.parse import unquote
from uuid import uuid4

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, write_deltalake
from deltalake.exceptions import CommitFailedError, DeltaError, SchemaMismatchError

from warehouse.files import MIN_FREE_BYTES, FreeBytes, free_bytes, translate_errors
from warehouse.lake import schema_evolution
from warehouse.records import errors
from warehouse.records.times import observed_now
from warehouse.records.values import Row
from warehouse.tables import TABLES, Table
from warehouse.tables.column import to_arrow

# A file in the folder of a lake that lists the opened tables with their schema versions.
#
# Opening a table reads its log, and checks or migrates it: 1 to 3 ms for each of some forty. A
# process that finds the note of its own release opens a table when it first reads or writes it. A
# release with other versions opens all of them at once, and then refuses or migrates them.

OPENED_NOTE = "opened_tables.json"


def are_opened(root: str, tables: Sequence[Table], *, world: str) -> bool:
    """Return True if all these tables exist, and were opened at these versions for this world."""
    try:
        noted = json.loads(Path(root, OPENED_NOTE).read_bytes())
        is_ours = noted["world"] == world and noted["tables"].items() >= _versions(tables).items()
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return False
    return is_ours and all(Path(root, table.folder, "_delta_log").is_dir() for table in tables)


def note_opened(root: str, tables: Sequence[Table], *, world: str) -> None:
    """Note that these tables have been opened; a folder that cannot be written has no note."""
    # A process that reads meanwhile gets the old note or the new one, never a part of it.
    draft = Path(root, f"{OPENED_NOTE}.{uuid4().hex}.tmp")
    with suppress(OSError):
        draft.write_text(json.dumps({"world": world, "tables": _versions(tables)}, indent=1))
        draft.replace(Path(root, OPENED_NOTE))


def _versions(tables: Sequence[Table]) -> dict[str, int]:
    return {table.name: table.version for table in tables}


OPENED_AT_ONCE = 8  # tables opened in parallel in an object store, which answers slowly
MAX_TABLE_FILES = 60  # a key look-up costs 0.15 ms more for every file
VACUUM_AFTER_HOURS = 7 * 24  # much longer than any read, so a reader's files never disappear
UNNAMED_HOURS = 1  # much longer than any write of an object store's file and its commit
WRITE_TEST = "write_test"  # mark of a commit that only tests whether the lake can be written
_UNSAFE_PATH_CHARS = frozenset("%*?[]\\^|")  # Delta: escapes, or it panics; DuckDB: patterns
_PLAIN_ID = re.compile(r"[0-9A-Za-z-]{1,64}")  # part of a condition, which takes no parameters


@dataclass(frozen=True, slots=True)
class TableListing:
    """Files of a table at one version.

    `has_mixed_schemas`: some files lack newer columns. Every row committed before
    `complete_before` has its capture. Rows of a `schema_version` before that of the contract are
    as an earlier release wrote them.
    """

    version: int
    files: tuple[str, ...]
    has_mixed_schemas: bool
    complete_before: datetime | None = None
    schema_version: int = 0


@dataclass(slots=True)
class LakeHandle:
    """One open table of a lake. `lock` guards `delta`, which a refresh changes in place."""

    table: Table
    path: str
    delta: DeltaTable
    lock: threading.Lock = field(default_factory=threading.Lock)
    log_mtime_ns: int = -1


class Lake:
    """The open tables of one world; opened by `open_lake`.

    `is_remote`: they are in an object store, whose files only Arrow can read. Rows that `delete`,
    `delete_where` or `set_null` change stay in old versions until `vacuum` (a week) or
    `delete_old_versions` (now).
    """

    def __init__(
        self,
        url: str,
        world: str,
        handles: Mapping[str, LakeHandle],
        *,
        free: FreeBytes,
        unopened: Sequence[Table] = (),
    ) -> None:
        """`handles` are open tables; those in `unopened` are opened when they are first used."""
        self.url = url
        self.is_remote = is_remote(url)
        self.world = world
        self._handles = dict(handles)
        self._unopened = {table.name: table for table in unopened}
        self._opening = threading.Lock()
        self._tables = (*(handle.table for handle in handles.values()), *unopened)
        self._free = free

    @property
    def tables(self) -> tuple[Table, ...]:
        """The contracts of the tables in this lake."""
        return self._tables

    def append(
        self,
        name: str,
        rows: Sequence[Mapping[str, object]],
        *,
        job_id: str | None = None,
        is_write_test: bool = False,
    ) -> None:
        """Append rows in one commit; without rows there is no commit.

        `committed_at` is added to rows that lack it; the commit says its job, or that it is a test.

        Raises:
            ContractBrokenError: A row does not fit its table. Nothing is written.
            CapacityExhaustedError: The disk is nearly full. Nothing is written.
            StoreTooNewError: A newer Sametrack has migrated the table meanwhile.
            WarehouseUnavailableError: The rows could not be written. Nothing is visible.
        """
        if not rows:
            return
        handle = self._handle(name)
        self.check_free_space()
        batch = to_arrow(handle.table, rows, committed_at=observed_now())
        metadata = {} if job_id is None else {"job_id": job_id}
        metadata |= {WRITE_TEST: "true"} if is_write_test else {}
        doing = f"appending to {name}"
        with (
            storage_errors(doing),
            schema_evolution.writing(handle.path),
            self._newest(name, doing),
        ):
            try:
                # A conflict leaves nothing visible, so retrying is safe.
                for attempt in schema_evolution.retry_commits():
                    with attempt:
                        # The handle still has the version that lost: it would conflict again.
                        if attempt.num > 1:
                            handle.delta.update_incremental()
                        write_deltalake(
                            handle.delta,
                            batch,
                            mode="append",
                            writer_properties=schema_evolution.APPEND_PROPERTIES,
                            commit_properties=CommitProperties(custom_metadata=metadata),
                        )
            except SchemaMismatchError as error:
                _update(handle)
                # If a newer release has added columns meanwhile, that is the error to report.
                schema_evolution.check_properties(handle.delta, handle.table, world=self.world)
                raise errors.ContractBrokenError(f"{name} does not take these rows") from error
            handle.log_mtime_ns = _mtime_ns(handle.path)  # our own commit needs no refresh

    def check_free_space(self) -> None:
        """Refuse to write if the disk of a local lake is nearly full.

        Raises:
            CapacityExhaustedError: The disk is nearly full.
        """
        if self.is_remote:
            return
        with storage_errors("checking the disk"):
            size = self._free(self.url)
        if size < MIN_FREE_BYTES:
            raise errors.CapacityExhaustedError(
                f"only {size // 1_000_000} MB of disk space are free, so nothing is written",
                hint="free disk space, or run `sametrack maintain`",
            )

    def files(self, name: str) -> list[str]:
        """Return paths or URLs of the files of the newest version."""
        return list(self.listing(name).files)

    def listing(self, name: str) -> TableListing:
        """Return the newest version with its files."""
        return cast("TableListing", self.newer_listing(name, None))  # any version is newer

    def newer_listing(self, name: str, version: int | None) -> TableListing | None:
        """Return the newest version with its files, or None if that is `version`.

        Without news it costs two file lookups; in an object store one request.
        """
        with self._newest(name, f"listing {name}") as delta:
            if delta.version() == version:
                return None
            files = delta.file_uris()
            if not self.is_remote:
                files = [unquote(file) for file in files]  # Delta returns URL-encoded paths
            properties = schema_evolution.read_properties(delta)
            return TableListing(
                delta.version(),
                tuple(files),
                has_mixed_schemas=properties.has_added_columns,
                complete_before=properties.complete_before,
                schema_version=properties.version,
            )

    def version(self, name: str) -> int:
        """Return the newest version; costs two file lookups if nothing has changed."""
        with self._newest(name, f"reading the log of {name}") as delta:
            return delta.version()

    def identity(self, name: str) -> str:
        """Return the id that the table got when it was created."""
        handle = self._handle(name)
        with handle.lock, storage_errors(f"reading {name}"):
            return str(handle.delta.metadata().id)

    def log_since(self, name: str, version: int) -> list[Row]:
        """Return the commits after a version, newest first.

        The oldest are missing if their log entries have been cleaned up.
        """
        with self._newest(name, f"reading the log of {name}") as delta:
            count = delta.version() - version
            return delta.history(count) if count > 0 else []

    def row_count(self, name: str) -> int | None:
        """Return the rows of the newest version by its log; None if a file states no count."""
        with self._newest(name, f"reading the log of {name}") as delta:
            files = pa.table(delta.get_add_actions(flatten=True))
            counts = files["num_records"].to_pylist() if files.num_rows else []
            return None if None in counts else sum(counts)

    def dataset(self, name: str) -> pa.Table:
        """Return the table as an Arrow dataset, for readers that cannot open its files.

        Of the version that was listed last.
        """
        handle = self._handle(name)
        with handle.lock, storage_errors(f"reading {name}"):
            return handle.delta.to_pyarrow_dataset()

    def refresh(self) -> None:
        """Read the log of every open table, even if nothing seems to have changed."""
        for name, handle in list(self._handles.items()):
            with handle.lock, storage_errors(f"reading the log of {name}"):
                _update(handle)

    def tables_to_compact(self, *, files: int = MAX_TABLE_FILES) -> list[str]:
        """Return names of tables with more than `files` small files, which need compaction."""
        return [
            table.name
            for table in self.tables
            if len(self.files(table.name)) > files and self._count_small(table.name) > files
        ]

    def compact_all(self, *, files: int = MAX_TABLE_FILES) -> int:
        """Merge the small files of all tables that need it; returns how many were replaced."""
        return sum(self.compact(name, above=files) for name in self.tables_to_compact(files=files))

    def compact(self, name: str, *, above: int = 1) -> int:
        """Merge small files if there are more than `above`; returns how many were replaced.

        In a folder one process at a time does it: another would do the same work, and what it has
        written would be of no use. Of two concurrent calls on an object store one wins.
        """
        handle = self._handle(name)
        with storage_errors(f"compacting {name}"), self._compaction_lock(handle) as is_locked:
            if not is_locked or self._count_small(name) <= above:
                return 0
            with suppress(CommitFailedError), schema_evolution.writing(handle.path):
                delta = DeltaTable(handle.path)  # a separate handle, so that appends need not wait
                metrics = delta.optimize.compact(
                    writer_properties=schema_evolution.rewrite_properties(name),
                    target_size=schema_evolution.file_size(name),
                )
                return int(metrics["numFilesRemoved"])
        return 0

    @contextmanager
    def _compaction_lock(self, handle: LakeHandle) -> Iterator[bool]:
        """Try to lock compaction of the table; yields False while another process compacts it.

        A killed process frees its lock.
        """
        if self.is_remote:
            yield True
            return
        # Delta takes files that begin with an underscore for its own, so none of it is deleted.
        with (Path(handle.path) / "_compaction.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
            else:
                yield True

    def _count_small(self, name: str) -> int:
        """Return how many files compaction would merge."""
        with self._newest(name, f"compacting {name}") as delta:
            sizes = pa.table(delta.get_add_actions()).column("size_bytes")
        return sum(size < schema_evolution.file_size(name) for size in sizes.to_pylist())

    def delete(self, name: str, column: str, ids: Sequence[str]) -> int:
        """Delete the rows with these ids in one commit; returns how many.

        For data with a retention period. A later `vacuum` deletes the files.

        Raises:
            ValueError: An id contains other characters than letters, digits and hyphens.
        """
        if not ids:
            return 0
        if not all(_PLAIN_ID.fullmatch(value) for value in ids):
            raise ValueError("only plain ids can be deleted by")
        listed = ", ".join(f"'{value}'" for value in ids)
        return self._delete(name, f"{column} in ({listed})", f"deleting from {name}")

    def path(self, name: str) -> str:
        """Return the folder or URL of a table."""
        return self._handle(name).path

    def vacuum(self, name: str) -> int:
        """Delete files that no version of the last week uses; returns how many.

        Files that no version has ever named are deleted once they are a week old.
        """
        handle = self._handle(name)
        with storage_errors(f"vacuuming {name}"), schema_evolution.writing(handle.path):
            delta = DeltaTable(handle.path)
            # Without `full` it only knows what was removed since the last checkpoint.
            deleted = delta.vacuum(retention_hours=VACUUM_AFTER_HOURS, dry_run=False, full=True)
            return len(deleted)

    def delete_where(self, name: str, condition: str) -> int:
        """Delete the rows that match a condition in one commit; returns how many.

        The condition stays in the table's log, and old rows in old files, until
        `delete_old_versions`.
        """
        return self._delete(name, condition, f"deleting from {name}")

    def set_null(self, name: str, column: str, condition: str) -> None:
        """Set a text column to null in the rows that match; see `delete_where`."""
        self.commit(
            name,
            f"changing {name}",
            lambda delta: delta.update(
                predicate=condition,
                updates={column: "cast(null as string)"},
                writer_properties=schema_evolution.rewrite_properties(name),
            ),
        )

    def commit[T](self, name: str, doing: str, action: Callable[[DeltaTable], T]) -> T:
        """Commit to a table while others append to it; repeated if another commit came first."""
        path = self.path(name)
        with storage_errors(doing), schema_evolution.writing(path):
            for attempt in schema_evolution.retry_commits():
                with attempt:
                    return action(DeltaTable(path))
        raise AssertionError("the last attempt returns or raises")

    def delete_old_versions(self, name: str) -> None:
        """Delete all older versions: files that the newest does not use, and the log before it.

        The log's statistics and conditions repeat what was erased. There must be no concurrent
        readers. In a folder writers are locked out. An object store has no locks: files that no
        version names are kept for an hour, because a writer may be about to commit them.
        """
        handle = self._handle(name)
        title = f"deleting old versions of {name}"
        with storage_errors(title), schema_evolution.writing(handle.path, alone=True) as is_alone:
            schema_evolution.purge_versions(
                handle.path, unnamed_hours=0 if is_alone else UNNAMED_HOURS
            )
            _update(handle)

    @contextmanager
    def _newest(self, name: str, doing: str) -> Iterator[DeltaTable]:
        """Lock a table and yield its newest version.

        Reading new log entries costs 4 ms, so a local lake first looks for the file of the next
        entry, and at the folder's modification time, which also changes when old entries are
        cleaned up. The time alone would miss a second commit within one tick of the file system's
        clock.
        """
        handle = self._handle(name)
        with handle.lock, storage_errors(doing):
            # Read before the update: a commit in between then shows as a change next time.
            mtime_ns = _mtime_ns(handle.path)
            if mtime_ns < 0 and not self.is_remote:
                raise errors.WarehouseUnavailableError(f"the folder of {name} is missing")
            following = Path(handle.path, "_delta_log", f"{handle.delta.version() + 1:020}.json")
            if self.is_remote or mtime_ns != handle.log_mtime_ns or following.exists():
                _update(handle)
                handle.log_mtime_ns = mtime_ns
            yield handle.delta

    def _delete(self, name: str, condition: str, doing: str) -> int:
        metrics = self.commit(
            name,
            doing,
            lambda delta: delta.delete(
                condition, writer_properties=schema_evolution.rewrite_properties(name)
            ),
        )
        return int(metrics["num_deleted_rows"])

    def _handle(self, name: str) -> LakeHandle:
        handle = self._handles.get(name)
        if handle is not None:
            return handle
        table = self._unopened.get(name)
        if table is None:
            raise errors.ContractBrokenError(f"the lake has no table {name}")
        with self._opening:
            # Another thread may have opened it while this one waited.
            if name not in self._handles:
                self._handles[name] = _open_handle(self.url, self.world, table)
            return self._handles[name]


def open_lake(
    url: str, *, world: str, tables: Sequence[Table] = TABLES, free: FreeBytes = free_bytes
) -> Lake:
    """Open a lake, creating missing tables and adding newer columns.

    In a folder that this release has opened before, each table is opened when it is first used.

    Args:
        url: A folder, or `s3://bucket/prefix` (keys and region from the AWS_* variables).
        world: World of the lake; a lake of another world is refused.
        tables: The contracts.
        free: Returns the free disk space of a folder.

    Raises:
        WrongWorldError: A table belongs to another world.
        StoreTooNewError: A newer Sametrack wrote a table.
        ContractBrokenError: A table differs from its contract at the same version.
        WarehouseUnavailableError: The lake cannot be opened.
    """
    root = lake_root(url)
    if is_remote(root):
        with ThreadPoolExecutor(OPENED_AT_ONCE) as pool:
            opened = pool.map(partial(_open_handle, root, world), tables)
            handles = {handle.table.name: handle for handle in opened}
        return Lake(root, world, handles, free=free)
    if are_opened(root, tables, world=world):
        return Lake(root, world, {}, free=free, unopened=tables)
    handles = {table.name: _open_handle(root, world, table) for table in tables}
    note_opened(root, tables, world=world)
    return Lake(root, world, handles, free=free)


def _open_handle(root: str, world: str, table: Table) -> LakeHandle:
    path = f"{root}/{table.folder}"
    with storage_errors(f"opening {table.name}"):
        if not is_remote(root):
            Path(path).mkdir(parents=True, exist_ok=True)
        mtime_ns = _mtime_ns(path)  # before the opening: what is cleaned up meanwhile shows
        handle = LakeHandle(table, path, schema_evolution.open_table(path, table, world=world))
        handle.log_mtime_ns = mtime_ns if mtime_ns >= 0 else _mtime_ns(path)
        return handle


def lake_root(url: str) -> str:
    """Return the address of a lake in one form.

    Raises:
        WarehouseUnavailableError: The path contains a character that Delta or DuckDB misreads.
    """
    if is_remote(url):
        return url.rstrip("/")
    root = str(Path(url).expanduser().resolve())
    if not root.isprintable() or _UNSAFE_PATH_CHARS.intersection(root):
        raise errors.WarehouseUnavailableError(
            f"the path of the lake must not contain any of {' '.join(sorted(_UNSAFE_PATH_CHARS))}",
            hint="choose another DATA_HOME",
        )
    return root


storage_errors = partial(translate_errors, causes=(DeltaError, pa.ArrowException, OSError))
"""Translates errors of Delta, Arrow and the disk."""


def is_remote(url: str) -> bool:
    """Return True for the URL of an object store."""
    return "://" in url


def _mtime_ns(path: str) -> int:
    """Return when the log of a table last changed; -1 without a log, and in an object store."""
    try:
        return Path(path, "_delta_log").stat().st_mtime_ns
    except FileNotFoundError:  # the URL of an object store is no path of a file either
        return -1


def _update(handle: LakeHandle) -> None:
    """Read new log entries, starting at the last checkpoint if older ones have been cleaned up."""
    try:
        handle.delta.update_incremental()
    except DeltaError:
        handle.delta = DeltaTable(handle.path)
