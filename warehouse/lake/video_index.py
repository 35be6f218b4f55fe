"""The video index: the best observation of each video in a SQLite file next to the lake.

Columns that this observation does not show, such as hashtags, come from the best observation that
shows them.

The videos of a list are spread over all of `raw.videos`, and each read from there costs some
milliseconds. The index is built by `maintenance.video_index` and used by
`warehouse.queries.videos`.
"""

import sqlite3
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson

from warehouse.lake.record_rows import SHOWN_TOGETHER
from warehouse.lake.store import Lake
from warehouse.records.values import ReadOnlyRow, Row
from warehouse.tables import BY_NAME
from warehouse.tables.column import TIME

VIDEOS_TABLE = "raw.videos"
FILE = "works.sqlite"
OMITTED_COLUMNS = frozenset({"capture_id", "job_id"})
"""Provenance columns, which no reader of the index needs."""
COLUMNS = tuple(
    column for column in BY_NAME[VIDEOS_TABLE].columns if column.name not in OMITTED_COLUMNS
)
FORMAT = "3 " + " ".join(f"{column.name}:{column.type}" for column in COLUMNS)
_TIMES = tuple(place for place, column in enumerate(COLUMNS) if column.type == TIME)
_NAMES = tuple(column.name for column in COLUMNS)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ADDING = frozenset(
    {"OPTIMIZE", "SET TBLPROPERTIES", "ADD COLUMN", "VACUUM START", "VACUUM END"}
)  # and appends; any other operation may remove a row that the index still has
_VIDEOS_SQL = """
    select aweme_id, first_at, created, created_since, corrected_at, case when ? then document end
    from works
    where aweme_id in (select value from json_each(?))
"""
_SHOWN_SQL = """
    select aweme_id, name, is_complete, likes, observed_at, committed_at, document
    from shown
    where aweme_id in (select value from json_each(?))
"""
_LIKES_SQL = """
    select value, (
        select likes from seen
        where aweme_id = value and committed_at <= ?
        order by is_complete desc, observed_at desc, committed_at desc limit 1
    )
    from json_each(?)
"""
"""Rows are stored newest first, so one or two of them are read per video."""


@dataclass(frozen=True, slots=True)
class IndexMetadata:
    """What an index contains: rows of one table version committed before `bound`."""

    format: str
    table_id: str
    version: int
    bound: datetime


@dataclass(frozen=True, slots=True)
class IndexAnswer:
    """Answer of the index, from rows committed before `bound`.

    The table files named in `files` contain no other rows. `likes` are those observed until the
    requested time. `videos` has a row of each video:

    - `best`: its best observation, if requested, without the columns `OMITTED_COLUMNS`;
    - `first_at`: time of its first observation;
    - `stated`, `stated_since`: the latest publication time observed, and since when;
    - `corrected_at`: when a replay last read an observation of it again;
    - `shown_*`: rows that show what `best` may not, by the key of `SHOWN_TOGETHER`, with these
      columns and those that say how good a row is (`warehouse.queries.videos`).
    """

    bound: datetime
    files: frozenset[str]
    videos: Mapping[str, Row]
    likes: Mapping[str, int | None]


@dataclass(slots=True)
class _LogPosition:
    """Commits after `since` up to `until` have been read; `at` is the last to remove rows."""

    since: int
    until: int
    at: int = -1


@dataclass(slots=True)
class VideoIndex:
    """The index of one lake. Thread-safe; a lake in an object store has none.

    `path` is the path of its file, which may not exist.
    """

    lake: Lake
    path: Path = field(init=False)
    _log: _LogPosition | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.path = Path(self.lake.url, FILE)

    def read(
        self, aweme_ids: Sequence[str], *, until: datetime | None = None, whole: bool = True
    ) -> IndexAnswer | None:
        """Return videos by id, or None if there is no index or it does not match the table.

        Args:
            aweme_ids: Any ids; unknown ones are absent from the answer.
            until: Also return the likes of each video as observed until this time.
            whole: Include the best observations; for thousands of videos they dominate the cost.
        """
        ids = orjson.dumps(aweme_ids).decode()

        def answer(database: sqlite3.Connection, about: IndexMetadata) -> IndexAnswer:
            rows = database.execute(_VIDEOS_SQL, (whole, ids))
            videos = {row[0]: _to_video_row(*row[1:]) for row in rows}
            for row in database.execute(_SHOWN_SQL, (ids,)) if whole else ():
                videos[row[0]][f"shown_{row[1]}"] = _to_shown_row(*row[1:])
            likes = () if until is None else database.execute(_LIKES_SQL, (to_micros(until), ids))
            files = frozenset(name for (name,) in database.execute("select name from files"))
            return IndexAnswer(about.bound, files, videos, dict(likes))

        return self._query(answer)

    def about(self) -> IndexMetadata | None:
        """Return what the index contains, or None if it may not be used."""
        return self._query(lambda _database, about: about)

    def is_intact(self) -> bool:
        """Return True if it may be used and its structure is valid; reads the whole file."""
        check = "pragma quick_check(1)"
        return self._query(lambda database, _: database.execute(check).fetchone()) == ("ok",)

    def is_outdated(self, version: int) -> bool:
        """Return True if rows of that version may have been removed or changed since."""
        with self._lock:
            # Every use of the index calls this, so the position in the log is remembered.
            newest, log = self.lake.version(VIDEOS_TABLE), self._log
            if log is None or version < log.since:
                log = self._log = _LogPosition(since=version, until=version)
            if newest > log.until:
                entries = self.lake.log_since(VIDEOS_TABLE, log.until)
                log.at = _last_removal(entries, log)
                log.until = max([newest, *(entry["version"] for entry in entries)])
            return log.at > version or version > newest

    def drop(self) -> None:
        """Delete the index and unfinished copies; they also contain what was erased."""
        if not self.lake.is_remote:
            for file in self.path.parent.glob(f"{FILE}*"):
                file.unlink(missing_ok=True)

    def _query[T](self, question: Callable[[sqlite3.Connection, IndexMetadata], T]) -> T | None:
        """Query the index; None if it is missing, damaged, outdated or of another table.

        It is an optimisation: a damaged index counts as missing, and maintenance rebuilds it. A
        file never changes once it has its name, so reading needs no locks.
        """
        if self.lake.is_remote or not self.path.exists():
            return None
        # `immutable`: SQLite takes no locks and looks for no journal, since an index is only
        # replaced.
        address = f"{self.path.as_uri()}?mode=ro&immutable=1"
        with (
            suppress(sqlite3.Error, ValueError),
            closing(sqlite3.connect(address, uri=True)) as database,
        ):
            rows = database.execute("select format, table_id, version, bound from about")
            for form, table_id, version, bound in rows.fetchall():
                is_ours = (form, table_id) == (FORMAT, self.lake.identity(VIDEOS_TABLE))
                if is_ours and not self.is_outdated(version):
                    metadata = IndexMetadata(form, table_id, version, to_moment(bound))
                    return question(database, metadata)
        return None


def to_micros(moment: datetime) -> int:
    """Return microseconds since 1970, exactly."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def to_moment(micros: int) -> datetime:
    """Return the time of `to_micros`."""
    return _EPOCH + timedelta(microseconds=micros)


def _to_video_row(
    first_at: int,
    stated: int | None,
    stated_since: int | None,
    corrected_at: int | None,
    document: str | None,
) -> Row:
    best = None
    if document is not None:
        values = orjson.loads(document)
        for place in _TIMES:
            values[place] = None if values[place] is None else to_moment(values[place])
        best = dict(zip(_NAMES, values, strict=True))
    return {
        "best": best,
        "first_at": to_moment(first_at),
        "stated": stated,
        "stated_since": None if stated_since is None else to_moment(stated_since),
        "corrected_at": None if corrected_at is None else to_moment(corrected_at),
    }


def _to_shown_row(
    name: str,
    is_complete: int,
    likes: int | None,
    observed_at: int,
    committed_at: int,
    document: str,
) -> Row:
    values = zip(SHOWN_TOGETHER[name], orjson.loads(document), strict=True)
    return {
        "statistics_complete": bool(is_complete),
        "digg_count": likes,
        "observed_at": to_moment(observed_at),
        "committed_at": to_moment(committed_at),
        **dict(values),
    }


def _last_removal(entries: Sequence[ReadOnlyRow], log: _LogPosition) -> int:
    """Return the last commit that may have removed rows."""
    removals = [log.at]
    for entry in entries:
        operation = entry["operation"]
        is_append = operation == "WRITE" and entry["operationParameters"].get("mode") == "Append"
        if not is_append and operation not in _ADDING:
            removals.append(int(entry["version"]))
    # A log entry that was cleaned up may have been a removal.
    oldest = min((int(entry["version"]) for entry in entries), default=log.until + 2)
    if oldest > log.until + 1:
        removals.append(oldest - 1)
    return max(removals)
