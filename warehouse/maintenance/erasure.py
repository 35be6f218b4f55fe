"""Erasure of one account from the stores of a world: find its names, remove them, prove it.

The marks are written first, so that every later capture drops the account. The search is repeated,
because a capture that began earlier may still write rows of it. The command and the outputs of runs
are in `pipelines.erasure`; captures of erased accounts in `pipelines.captures.erased_accounts`.
"""

import gzip
import json
import re
import secrets
import sqlite3
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from warehouse.control import ControlStore, erasure, jobs
from warehouse.engine.duckdb_engine import Engine
from warehouse.engine.sql import CAPTURES, IS_CURRENT, sql_name, sql_text
from warehouse.home import Home
from warehouse.lake.record_rows import unpack_bytes
from warehouse.lake.store import Lake
from warehouse.queries.erasure import read_erasure_marks
from warehouse.records.erasure import erasure_mark, readable_forms, sound_title
from warehouse.records.errors import UnresolvedIdError, WarehouseUnavailableError
from warehouse.tables import BY_NAME, Table
from warehouse.tables.dictionary import treatment_of

# Names of an account in this warehouse: its ids, its videos, the names it displayed.
#
# The proof searches for `ids`. `words`, which other accounts may use too, only decide which bodies
# and pages are deleted. A shorter displayed name occurs in other words: only a cell that equals
# it, or the title of a sound, counts.

_SEC_UID = re.compile(r"[0-9A-Za-z_.-]{16,200}")
_HANDLE = re.compile(r"@[0-9a-z_.-]{2,64}")
_MIN_ID_CHARS = 6  # a shorter number occurs in too many other places
_MIN_WORD_CHARS = 4
_MIN_WIDE_CHARS = 2  # two Chinese characters can be a full name


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountNames:
    """Names of one account. `sounds`: hashes of the sounds of its videos.

    `displayed` are all names it had, `words` those that are long enough to be searched in texts.

    `handles` are its public handles as inputs name them: `@name` in lower case. `sec_uid` is itself
    a handle if no account with that handle was observed.
    """

    sec_uid: str
    handles: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    videos: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    displayed: frozenset[str] = frozenset()
    sounds: frozenset[str] = frozenset()

    @property
    def ids(self) -> frozenset[str]:
        """Ids that must not occur anywhere afterwards, and are not collected again."""
        return frozenset({self.sec_uid, *self.numbers, *self.videos, *self.handles})

    @property
    def marked(self) -> frozenset[str]:
        """What its marks recognise: its ids, and the titles of its sounds."""
        return self.ids | frozenset(map(sound_title, self.displayed))

    @property
    def sound_titles(self) -> frozenset[str]:
        """Titles of its sounds under the names that are too short to be searched in texts."""
        return frozenset(map(sound_title, self.displayed - self.words))

    @property
    def texts(self) -> frozenset[str]:
        """What names it in the texts of others: distinctive names, and titles of its sounds."""
        return self.words | self.sound_titles

    def with_more(self, other: "AccountNames") -> "AccountNames":
        """Combine with names that were stored while the first ones were being erased."""
        sets = [field.name for field in fields(self) if field.name != "sec_uid"]
        return replace(self, **{name: getattr(self, name) | getattr(other, name) for name in sets})


def find_sec_uid(engine: Engine, account: str) -> str:
    """Return the sec_user_id of an account, which `account` names by itself, by number or handle.

    `@` and a handle that no observed account has is returned unchanged: jobs and requests that name
    the handle can still be erased.

    Raises:
        UnresolvedIdError: No account or several accounts match.
    """
    handle = account.strip().lower()
    is_handle = _HANDLE.fullmatch(handle) is not None
    accounts = engine.rows(
        """
        select distinct sec_uid from (
            select sec_uid, uid, unique_id, null as short_id from raw.videos
            union all select sec_uid, uid, unique_id, short_id from raw.accounts
        ) where sec_uid is not null and (
            $account in (uid, unique_id, short_id)
            or $handle in ('@' || lower(unique_id), '@' || lower(short_id))
        )
        """,
        {"account": account, "handle": handle},
    )
    if len(accounts) == 1:
        return str(accounts[0]["sec_uid"])
    if not accounts and is_handle:
        return handle
    if not accounts and _SEC_UID.fullmatch(account):
        return account
    problem = f"{len(accounts)} accounts have" if accounts else "no observed account has"
    raise UnresolvedIdError(
        f"{problem} the number or handle {account!r}", hint="give the account's sec_user_id"
    )


def find_account_names(engine: Engine, sec_uid: str) -> AccountNames:
    """Return everything in the warehouse that names an account; at least its id."""
    engine.refresh()
    profiles = engine.rows(_DISPLAYED_SQL, {"id": sec_uid})
    numbers = frozenset(
        str(row["uid"]) for row in profiles if row["uid"] and len(row["uid"]) >= _MIN_ID_CHARS
    )
    videos = engine.rows(_ACCOUNT_VIDEOS_SQL, {"id": sec_uid, "uids": sorted(numbers)})
    ids = sorted({str(row["aweme_id"]) for row in videos})
    sounds = engine.rows(_SOUNDS_SQL, {"videos": ids})
    handles = {f"@{row[name]}".lower() for row in profiles for name in _HANDLE_COLUMNS if row[name]}
    displayed = {
        str(row[name]) for row in profiles for name in ("nickname", *_HANDLE_COLUMNS) if row[name]
    }
    return AccountNames(
        sec_uid=sec_uid,
        handles=frozenset(name for name in handles if _HANDLE.fullmatch(name)),
        numbers=numbers,
        videos=frozenset(ids),
        words=frozenset(
            name
            for name in displayed
            if len(name) >= (_MIN_WORD_CHARS if name.isascii() else _MIN_WIDE_CHARS)
        ),
        displayed=frozenset(displayed),
        sounds=frozenset(str(row["sha256"]) for row in sounds),
    )


def to_pattern(names: Iterable[str]) -> re.Pattern[bytes]:
    """Return a pattern that finds any of these names in bytes, as text or JSON-escaped.

    A handle (`@name`) is found where it is all of a text, or the parameter of a request: texts of
    others mention it, and longer handles begin with it.
    """
    names = frozenset(names)
    handles = sorted(name for name in names if _HANDLE.fullmatch(name))
    forms = {
        form
        for name in names.difference(handles)
        for form in (name.encode(), json.dumps(name)[1:-1].encode())
    }
    forms |= {form.replace(b"/", rb"\/") for form in forms} | {
        form.replace(b"/", rb"\u002F") for form in forms
    }
    # Longest first: an alternative that begins another one would match in its place.
    alternatives = [re.escape(form) for form in sorted(forms, key=lambda form: (-len(form), form))]
    for handle in handles:
        name = re.escape(handle[1:].encode())
        # All of a cell, a line or a JSON string, or after the word `user` of a link's reason.
        alone = rb"(?:(?<![^\x00\n\"])|(?<=user ))@" + name + rb'(?:[\x00\n"]|\Z)'
        parameter = rb"unique_id=" + name + rb"(?![0-9a-z_.-])"
        alternatives.append(rb"(?i:" + alone + rb"|" + parameter + rb")")
    return re.compile(b"|".join(alternatives) or b"(?!)")


_HANDLE_COLUMNS = ("unique_id", "short_id")
_DISPLAYED_SQL = """
    select uid, unique_id, null as short_id, nickname from raw.videos where sec_uid = $id
    union select uid, unique_id, short_id, nickname from raw.accounts where sec_uid = $id
    union select null, unique_id, null, nickname from marts.account_summaries where sec_uid = $id
"""
_ACCOUNT_VIDEOS_SQL = """
    select aweme_id from raw.videos where sec_uid = $id or uid in (select unnest($uids::varchar[]))
    union select aweme_id from marts.confirmed_videos where sec_uid = $id
    union select aweme_id from marts.variants where sec_uid = $id
    union select top_aweme_id from marts.account_summaries where sec_uid = $id
    union select aweme_id from raw.capture_items
        where entity_id = $id and surface like 'user\\_%' escape '\\'
"""
_SOUNDS_SQL = """
    with own_videos as (select unnest($videos::varchar[]) as aweme_id)
    select sound_sha256 as sha256 from raw.sounds where aweme_id in (from own_videos)
    union select candidate_sha256 from marts.audio_comparisons
        where candidate_aweme_id in (from own_videos) and candidate_sha256 is not null
    union select reference_sha256 from marts.audio_comparisons
        where reference_aweme_id in (from own_videos) and reference_sha256 is not null
"""


# Erasure of an account from the tables of the lake: its rows, and cells that repeat its name.
#
# The columns of the contract decide which rows are deleted. Files next to the lake are in `files`,
# with the final search.

_IDS_PER_CONDITION = 500
_LINK_KINDS = ("user", "video", "photo", "note", "slides", "live")
_REPEATED = (
    ("raw.tracks", "owner_nickname"),
    ("raw.tracks", "author"),
    ("raw.videos", "music_author"),
    ("marts.chart_platform", "music_author"),
    ("marts.chart_links", "said_by"),
)
"""Cells of other accounts' rows that repeat the account's name: it uploaded the sound they use."""
_TITLES = (
    ("raw.tracks", "title"),
    ("raw.videos", "music_title"),
    ("marts.confirmed_videos", "source_music_title"),
    ("marts.chart_platform", "music_title"),
)
_NOTES = (("marts.chart_links", "note"),)
"""Free text, which may name any account."""
_TERMS = ("marts.search_related", "search_terms")
_ANNOTATIONS_SQL = """
    select annotation_id from marts.annotations where comparison_id in (
        select comparison_id from marts.audio_comparisons
        where candidate_aweme_id in (select unnest($videos::varchar[]))
            or reference_aweme_id in (select unnest($videos::varchar[]))
    )
"""


def erase_rows(lake: Lake, engine: Engine, names: AccountNames) -> tuple[dict[str, int], list[str]]:
    """Delete every row that names the account.

    Returns deleted rows by table, and the jobs whose results were deleted.

    Raises:
        WarehouseUnavailableError: The lake cannot be read or rewritten.
    """
    removed: dict[str, int] = {}

    def remove_where(table: str, condition: str) -> None:
        removed[table] = removed.get(table, 0) + lake.delete_where(table, condition)

    def remove(table: str, column: str, values: Iterable[str]) -> None:
        for part in _parts(sorted(set(values))):
            remove_where(table, f"{column} in ({part})")

    # All keys are collected before anything is deleted, which changes the files that are read.
    bodies = list(_matching(engine, "raw.payloads", "sha256", "body", names))
    results = list(_matching(engine, "marts.job_results", "job_id", "document", names))
    states = list(_matching(engine, "raw.scan_checkpoints", "job_id", "state", names))
    annotations = engine.rows(_ANNOTATIONS_SQL, {"videos": sorted(names.videos)})
    remove("raw.payloads", "sha256", bodies)
    remove("marts.job_results", "job_id", results)
    remove("raw.scan_checkpoints", "job_id", states)
    remove("marts.annotations", "annotation_id", (str(row["annotation_id"]) for row in annotations))
    # Captures of the account's own pages. If a replay has read one again, its observations are
    # double and go too; otherwise what it shows of other accounts stays, without a capture.
    replayed, current = _captures(engine, names)
    tables = [table for table in lake.tables if lake.version(table.name) > 0]  # ever had a row
    for table in tables:
        if any(column.name == "capture_id" and not column.required for column in table.columns):
            remove(table.name, "capture_id", replayed)
            for part in _parts(current):
                lake.set_null(table.name, "capture_id", f"capture_id in ({part})")
    remove(CAPTURES, "reason", _link_reasons(names))
    # Rows with the account in one of their columns.
    for table in tables:
        for column, values in _conditions(table, names):
            remove(table.name, column, values)
    related, terms = _TERMS
    for term in sorted(names.words | names.ids - names.videos):
        remove_where(related, f"array_has({terms}, {sql_text(term)})")
    _blank_names(lake, {table.name for table in tables}, names)
    return {name: count for name, count in removed.items() if count}, results


def _captures(engine: Engine, names: AccountNames) -> tuple[list[str], list[str]]:
    """Return the ids of captures to delete: those that a replay has read again, and the others."""
    conditions = dict(_conditions(BY_NAME[CAPTURES], names)) | {"reason": _link_reasons(names)}
    where = " or ".join(f"{name} in (select unnest(${name}::varchar[]))" for name in conditions)
    rows = engine.rows(
        f"select capture_id, {IS_CURRENT} as is_current from {CAPTURES} where {where}",  # noqa: S608  # columns
        {name: sorted(values) for name, values in conditions.items()},
    )
    current = {str(row["capture_id"]) for row in rows if row["is_current"]}
    return sorted({str(row["capture_id"]) for row in rows} - current), sorted(current)


def _link_reasons(names: AccountNames) -> list[str]:
    """Return the reasons of captures of a link: `user MS4wLjABAAAA…`."""
    return [f"{kind} {account_id}" for kind in _LINK_KINDS for account_id in names.ids]


def _conditions(table: Table, names: AccountNames) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield the columns of a table that can name the account, with the values that do."""
    for column in table.columns:
        treatment = treatment_of(column)
        if treatment == "account":
            yield column.name, [names.sec_uid]
        elif treatment == "work":
            yield column.name, names.videos
        elif treatment == "entity" or column.name == "term":
            yield column.name, names.ids | names.words
        elif column.name == "uid":
            yield column.name, names.numbers


def _matching(
    engine: Engine, table: str, key: str, column: str, names: AccountNames
) -> Iterator[str]:
    """Yield keys of packed bodies that contain an id or a displayed name of the account."""
    pattern = to_pattern(names.ids | names.texts)
    with engine.reading(f"select {key}, {column} from {table}") as reader:  # noqa: S608  # constants of this module
        for batch in reader:
            keys, bodies = (array.to_pylist() for array in batch.columns)
            for name, packed in zip(keys, bodies, strict=True):
                if any(map(pattern.search, readable_forms(unpack_bytes(packed)))):
                    yield name


def _blank_names(lake: Lake, tables: set[str], names: AccountNames) -> None:
    """Empty the cells of other accounts' rows that name the account."""
    handles = {f"@{word}" for word in names.words}
    searches = (
        (_REPEATED, "{column} in ({value})", list(_parts(sorted(names.displayed)))),
        (_TITLES, "starts_with({column}, {value})", _texts(names.sound_titles)),
        (_TITLES, "strpos({column}, {value}) > 0", _texts(handles)),
        (_NOTES, "strpos({column}, {value}) > 0", _texts(names.ids | names.texts)),
    )
    for cells, condition, values in searches:
        for value, (table, column) in product(values, cells):
            if table in tables:
                lake.set_null(table, column, condition.format(column=column, value=value))


def _texts(names: Iterable[str]) -> list[str]:
    return [sql_text(name) for name in sorted(names)]


def _parts(values: list[str]) -> Iterator[str]:
    """Yield conditions of limited length."""
    for at in range(0, len(values), _IDS_PER_CONDITION):
        yield ", ".join(sql_text(value) for value in values[at : at + _IDS_PER_CONDITION])


# Files of a world: erases those that name an account, and proves it by searching all files.
#
# Next to the lake, excerpts, reports, digests, the output of runs and the published database are
# deleted, and sounds of killed scans: no process that needs them is running. The proof reports any
# other file that names the account, for the operator to decide. The search reads files of any
# kind, unpacking compressed ones, and deletes nothing.

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


# Erasure of an account from the stores of a world.
#
# The marks are written first, so that every later capture drops the account. The search is
# repeated, because a capture that began earlier may still write rows of it.

ERASURE_ROUNDS = 3


@dataclass(slots=True)
class ErasureResult:
    """Counts of removed rows and files, and the proof. It contains no names."""

    erasure_id: str
    rows: dict[str, int] = field(default_factory=dict)
    results: int = 0
    control_rows: dict[str, int] = field(default_factory=dict)
    files: int = 0
    runs: int = 0
    proof: ErasureProof = field(default_factory=lambda: ErasureProof(0, 0, ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureStores:
    """The open stores of a world.

    `forget_runs` removes the orchestrator's runs that name the account.
    """

    home: Home
    lake: Lake
    engine: Engine
    control: ControlStore
    forget_runs: Callable[[AccountNames], int] = lambda _names: 0


def erase_account(stores: ErasureStores, sec_uid: str) -> ErasureResult:
    """Erase an account from all stores, then search for it.

    Raises:
        WarehouseError: A store cannot be read or rewritten. What is erased so far stays erased;
            calling again continues.
    """
    result = ErasureResult(uuid4().hex)
    names, marked = AccountNames(sec_uid=sec_uid), frozenset[str]()
    # Rows of a capture that was being written when the marks appeared are found by another round.
    for _ in range(ERASURE_ROUNDS):
        names = names.with_more(find_account_names(stores.engine, sec_uid))
        if names.marked - marked:
            # Before anything is deleted, so that no capture stores the account again meanwhile.
            _mark(stores, result.erasure_id, names.marked - marked)
            marked |= names.marked
        _erase_once(stores, names, result)
        result.proof = search(stores, names)
        if result.proof.is_clean:
            break
    return result


def search(stores: ErasureStores, names: AccountNames) -> ErasureProof:
    """Search all files of a world, and a lake outside its home.

    In an object store every cell is searched. The sandbox's own sounds are not searched.
    """
    root, lake = stores.home.root, stores.lake
    pattern = to_pattern(names.ids)
    proof = search_files(root, pattern, but=(stores.home.cache_dir / "sounds",))
    if lake.is_remote:
        return proof.plus(search_tables(stores.engine, pattern))
    is_elsewhere = not Path(lake.url).is_relative_to(root)
    return proof.plus(search_files(Path(lake.url), pattern)) if is_elsewhere else proof


def _mark(stores: ErasureStores, erasure_id: str, names: Iterable[str]) -> None:
    """Write marks of ids and titles.

    All erasures share one salt: each salt slows every check of a body.
    """
    salt = next(iter(read_erasure_marks(stores.engine).by_salt), None) or secrets.token_hex(16)
    row: dict[str, object] = {
        "erasure_id": erasure_id,
        "salt": salt,
        "marks": sorted(erasure_mark(salt, name) for name in names),
        "erased_at": datetime.now(UTC),
    }
    stores.lake.append("raw.erasures", [row])


def _erase_once(stores: ErasureStores, names: AccountNames, result: ErasureResult) -> None:
    # The lake first: its rows say which jobs have a result that names the account.
    rows, job_ids = erase_rows(stores.lake, stores.engine, names)
    for table_name, count in rows.items():
        result.rows[table_name] = result.rows.get(table_name, 0) + count
    result.results += len(job_ids)
    stores.engine.video_index.drop()  # maintenance rebuilds it
    for table in stores.lake.tables:
        # Older versions may hold rows of the account, also of a table that has no such row now.
        if stores.lake.version(table.name) > 0:  # otherwise it never had a row
            stores.lake.delete_old_versions(table.name)
    # Then the control store, the orchestrator's runs and the files.
    control_rows = erasure.erase(stores.control, to_pattern(names.ids), job_ids=job_ids)
    for table_name, count in control_rows.items():
        result.control_rows[table_name] = result.control_rows.get(table_name, 0) + count
    result.runs += stores.forget_runs(names)
    pattern = to_pattern(names.ids | names.texts)
    result.files += erase_files(stores.home, pattern, sounds=names.sounds)
    stores.engine.refresh()


def check_idle(control: ControlStore, *, within_s: float) -> None:
    """Refuse while a worker is alive or a job runs: it has data of the account in memory.

    A running job without a heartbeat was left by a worker that was killed: it has no memory.

    Raises:
        WarehouseUnavailableError: A worker is alive or a job runs.
    """
    lost = {job.job_id for job in jobs.lost(control, within_s)}
    running = jobs.newest(control, limit=len(lost) + 1, status="running")
    if jobs.live_workers(control, within_s) or any(job.job_id not in lost for job in running):
        raise WarehouseUnavailableError(
            "a worker is running, and has in memory what would be erased",
            hint="stop it (Ctrl-C where `sametrack up` or `sametrack worker` runs), then erase",
            retry_after=within_s,
        )
