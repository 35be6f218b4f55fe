"""The video index: the best observation of each video in a SQLite file next to the lake.

What that observation does not show of the video, such as its hashtags, is kept of the best one that
does.

The videos of a list are spread over all of `raw.videos`, and each read from there costs some
milliseconds. The index is built by `maintenance.video_index` and used by
`warehouse.queries.videos`.
"""

import sqlite3
import threading
from collections import defaultdict
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
class IndexedVideo:
    """A video in the index.

    `best`: its best observation, if requested, without the columns `OMITTED_COLUMNS`;
    `first_at`: time of
    its first observation; `created`: the latest publication time observed, and since when.
    `corrected_at`: when a replay last read an observation of it again; `shown`: rows that show what
    `best` may not, by the key of `SHOWN_TOGETHER`, with these columns and those of their rank.
    """

    best: Row | None
    first_at: datetime
    created: int | None
    created_since: datetime | None
    corrected_at: datetime | None
    shown: Mapping[str, Row] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class IndexAnswer:
    """Answer of the index, from rows committed before `bound`.

    `likes` are those known at the requested time. The table files named in `files` contain no other
    rows.
    """

    bound: datetime
    files: frozenset[str]
    works: Mapping[str, IndexedVideo]
    likes: Mapping[str, int | None]


@dataclass(slots=True)
class _LogPosition:
    """Commits after `since` up to `until` have been read; `at` is the last to remove rows."""

    since: int
    until: int
    at: int = -1


@dataclass(slots=True)
class VideoIndex:
    """The index of one lake. Thread-safe; a lake in an object store has none."""

    lake: Lake
    _log: _LogPosition | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def path(self) -> Path:
        """Path of the index file, which may not exist."""
        return Path(self.lake.url, FILE)

    def read(
        self, aweme_ids: Sequence[str], *, until: datetime | None = None, whole: bool = True
    ) -> IndexAnswer | None:
        """Return videos by id, or None if there is no index or it does not match the table.

        Args:
            aweme_ids: Any ids; unknown ones are absent from the answer.
            until: Also return the likes known of each video at this time.
            whole: Include the best observations; for thousands of videos they dominate the cost.
        """
        wanted = orjson.dumps(aweme_ids).decode()

        def found(database: sqlite3.Connection, about: IndexMetadata) -> IndexAnswer:
            rows = database.execute(_VIDEOS_SQL, (whole, wanted))
            shown: dict[str, dict[str, Row]] = defaultdict(dict)
            for row in database.execute(_SHOWN_SQL, (wanted,)) if whole else ():
                shown[row[0]][row[1]] = _to_shown_row(*row[1:])
            videos = {row[0]: _to_indexed_video(*row[1:], shown=shown[row[0]]) for row in rows}
            asked = (
                () if until is None else database.execute(_LIKES_SQL, (to_micros(until), wanted))
            )
            files = frozenset(name for (name,) in database.execute("select name from files"))
            return IndexAnswer(about.bound, files, videos, dict(asked))

        return self._ask(found)

    def about(self) -> IndexMetadata | None:
        """Return what the index contains, or None if it may not be used."""
        return self._ask(lambda _database, about: about)

    def is_intact(self) -> bool:
        """Return True if it may be used and its structure is sound; reads the whole file."""
        found = self._ask(lambda database, _: database.execute("pragma quick_check(1)").fetchone())
        return found == ("ok",)

    def is_outdated(self, version: int) -> bool:
        """Return True if rows of that version may have been removed or changed since."""
        with self._lock:
            # What was read of the log is remembered, since every use of the index asks this.
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

    def _ask[T](self, question: Callable[[sqlite3.Connection, IndexMetadata], T]) -> T | None:
        """Query the index if it may be used.

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
            about = _about(database)
            if self._is_good(about):
                return question(database, about)
        return None

    def _is_good(self, about: IndexMetadata) -> bool:
        is_ours = (about.format, about.table_id) == (FORMAT, self.lake.identity(VIDEOS_TABLE))
        return is_ours and not self.is_outdated(about.version)


def to_micros(moment: datetime) -> int:
    """Return microseconds since 1970, exactly."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def to_moment(micros: int) -> datetime:
    """Return the time of `to_micros`."""
    return _EPOCH + timedelta(microseconds=micros)


def _about(database: sqlite3.Connection) -> IndexMetadata:
    rows = database.execute("select format, table_id, version, bound from about").fetchall()
    for form, table_id, version, bound in rows:
        return IndexMetadata(form, table_id, version, to_moment(bound))
    raise sqlite3.DatabaseError("the index has no metadata")


def _to_indexed_video(
    first_at: int,
    created: int | None,
    created_since: int | None,
    corrected_at: int | None,
    document: str | None,
    *,
    shown: Mapping[str, Row],
) -> IndexedVideo:
    since, corrected = (
        None if micros is None else to_moment(micros) for micros in (created_since, corrected_at)
    )
    best = None if document is None else _row(document)
    return IndexedVideo(best, to_moment(first_at), created, since, corrected, shown)


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


def _row(document: str) -> Row:
    values = orjson.loads(document)
    for place in _TIMES:
        values[place] = None if values[place] is None else to_moment(values[place])
    return dict(zip(_NAMES, values, strict=True))


def _last_removal(entries: Sequence[ReadOnlyRow], log: _LogPosition) -> int:
    """Return the last commit that removed rows. A missing log entry counts as one."""
    taking = [int(entry["version"]) for entry in entries if not _only_adds(entry)]
    oldest = min((int(entry["version"]) for entry in entries), default=log.until + 2)
    missing = [oldest - 1] if oldest > log.until + 1 else []
    return max([log.at, *taking, *missing])


def _only_adds(entry: ReadOnlyRow) -> bool:
    if entry["operation"] == "WRITE":
        return bool(entry["operationParameters"].get("mode") == "Append")
    return entry["operation"] in _ADDING
