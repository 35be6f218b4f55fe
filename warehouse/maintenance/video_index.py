"""Building of the video index: from all rows of `seen.videos`, or from those settled since.

It is written next to the old one and replaces it atomically, so readers need no locks. Queries of
the index are in `lake.video_index`.
"""

import os
import shutil
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc

from warehouse.engine.duckdb_engine import Engine, in_files
from warehouse.engine.sql import REPLAYS, sql_name, sql_text
from warehouse.files import translate_errors
from warehouse.lake import video_index
from warehouse.lake.record_rows import SHOWN_TOGETHER
from warehouse.lake.store import Lake
from warehouse.tables.column import TIME

ABANDONED_AFTER_S = 3600.0
_RANK = ("is_complete", "has_likes", "observed_at", "committed_at")
_BEST = (*_RANK, "document")
_COLUMNS = ("aweme_id", "first_at", "created", "created_since", "corrected_at", *_BEST)
_SEEN = ("aweme_id", "is_complete", "observed_at", "committed_at", "likes")
_SHOWN = ("aweme_id", "name", "is_complete", "likes", "observed_at", "committed_at", "document")
_SEE_PARAMETERS = (*_SEEN, "aweme_id", "is_complete", "committed_at")
_TABLES = f"""
    create table about (format text, table_id text, version integer, bound integer);
    create table works ({", ".join(_COLUMNS)}, primary key (aweme_id)) without rowid;
    create table files (name text primary key) without rowid;
    create table shown ({", ".join(_SHOWN)}, primary key (aweme_id, name)) without rowid;
    create table seen ({", ".join(_SEEN)}, primary key ({", ".join(_SEEN[:-1])})) without rowid;
"""
_IS_BETTER = f"({', '.join(f'excluded.{name}' for name in _RANK)}) > ({', '.join(_RANK)})"
_KEPT = ", ".join(
    f"{name} = case when {_IS_BETTER} then excluded.{name} else {name} end" for name in _BEST
)
_ADD = f"""
    insert into works values ({", ".join("?" * len(_COLUMNS))})
    on conflict (aweme_id) do update set
        first_at = min(first_at, excluded.first_at),
        created = ifnull(max(created, excluded.created), ifnull(created, excluded.created)),
        created_since = case
            when excluded.created > ifnull(created, -1) then excluded.created_since
            when excluded.created = created then min(created_since, excluded.created_since)
            else created_since end,
        corrected_at = ifnull(
            max(corrected_at, excluded.corrected_at), ifnull(corrected_at, excluded.corrected_at)
        ),
        {_KEPT}
"""  # noqa: S608  # names of this module
_SEE = f"""
    insert or ignore into seen select {", ".join("?" * len(_SEEN))} where not exists (
        select 1 from seen where aweme_id = ? and is_complete > ? and committed_at <= ?
    )
"""  # noqa: S608  # as above
"""Likes are only stored if no earlier row had all four counts: most list items are skipped."""
_SHOW = f"""
    insert into shown values ({", ".join("?" * len(_SHOWN))})
    on conflict (aweme_id, name) do update set
        {", ".join(f"{name} = excluded.{name}" for name in _SHOWN[2:])}
    where (excluded.is_complete, excluded.likes is not null, excluded.observed_at,
            excluded.committed_at) > (is_complete, likes is not null, observed_at, committed_at)
"""  # noqa: S608  # names of this module
_VALUES = ", ".join(
    f"epoch_us({column.name})" if column.type == TIME else f'"{column.name}"'
    for column in video_index.COLUMNS
)
_ROWS = f"""
    select
        aweme_id, epoch_us(observed_at) as first_at, create_time as created,
        case when create_time is not null then epoch_us(committed_at) end as created_since,
        case when capture_id in {REPLAYS} then epoch_us(committed_at) end as corrected_at,
        statistics_complete::integer as is_complete,
        (digg_count is not null)::integer as has_likes,
        epoch_us(observed_at) as observed_at, epoch_us(committed_at) as committed_at,
        json_array({_VALUES})::varchar as document, digg_count as likes
    from seen.videos
    where committed_at < $before and ($since::timestamptz is null or committed_at >= $since)
"""  # noqa: S608  # names of the contract
_SHOWN_ROWS = """
    select unnest(best, max_depth := 2) from (
        select arg_max(
            struct_pack(
                aweme_id := aweme_id, name := {text},
                is_complete := statistics_complete::integer, likes := digg_count,
                observed_at := epoch_us(observed_at), committed_at := epoch_us(committed_at),
                document := json_array({columns})::varchar
            ),
            (statistics_complete, digg_count is not null, observed_at, committed_at)
        ) as best
        from seen.videos
        where {name} is not null and committed_at < $before
            and ($since::timestamptz is null or committed_at >= $since)
        group by aweme_id
    )
"""
_NEWEST = """
    select parse_filename(filename) as name from read_parquet({files}, filename = true)
    group by filename having max(committed_at) < $bound
"""


def update_video_index(lake: Lake, *, rebuild: bool = False) -> int:
    """Update the video index to all settled rows; returns how many observations were added.

    It is rebuilt from all rows if `rebuild` is set, rows were removed from the table or its file is
    damaged.

    Raises:
        CapacityExhaustedError: The disk is nearly full.
        WarehouseUnavailableError: The lake cannot be read, or the index cannot be written.
    """
    if lake.is_remote:
        return 0
    index = video_index.VideoIndex(lake)
    lake.check_free_space()
    with (
        closing(Engine(lake)) as engine,
        translate_errors("writing the video index", causes=(sqlite3.Error, OSError)),
    ):
        # Drafts of processes that were killed.
        for draft in index.path.parent.glob(f"{video_index.FILE}.*"):
            if time.time() - draft.stat().st_mtime > ABANDONED_AFTER_S:
                draft.unlink(missing_ok=True)
        version, bound = (
            lake.version(video_index.VIDEOS_TABLE),
            engine.complete_before(video_index.VIDEOS_TABLE),
        )
        current = None if rebuild else index.about()
        if bound is None or (current is not None and current.bound >= bound):
            return 0
        if current is not None and not index.is_intact():
            current = None
        draft = index.path.with_name(f"{video_index.FILE}.{uuid4().hex}")
        about = video_index.IndexMetadata(
            video_index.FORMAT, lake.identity(video_index.VIDEOS_TABLE), version, bound
        )
        try:
            if current is not None:
                shutil.copyfile(index.path, draft)
            count = _fill(draft, engine, since=current.bound if current else None, about=about)
            with suppress(FileNotFoundError):  # dropped meanwhile: it may contain erased rows
                draft.replace(index.path)
        finally:
            draft.unlink(missing_ok=True)
    # Rows may have been erased while the index was built.
    if index.is_outdated(version):
        index.drop()
    return count


def _fill(
    draft: Path, engine: Engine, *, since: datetime | None, about: video_index.IndexMetadata
) -> int:
    count = 0
    with closing(sqlite3.connect(draft)) as database:
        # A draft has no readers and is rebuilt after a crash: it needs no journal.
        database.execute("pragma journal_mode = off")
        database.execute("pragma synchronous = off")
        if since is None:
            database.executescript(_TABLES)
        span = {"before": about.bound, "since": since}
        with database, engine.reading(_ROWS, span) as batches:
            for batch in batches:
                database.executemany(_ADD, _tuples(batch, _COLUMNS))
                # Complete rows first: later incomplete ones are not stored.
                for is_complete in (1, 0):
                    likes = batch.filter(
                        (pc.field("is_complete") == is_complete) & pc.field("likes").is_valid()
                    )
                    database.executemany(_SEE, _tuples(likes, _SEE_PARAMETERS))
                count += batch.num_rows
            # Per video and group of optional columns, the best row that shows them.
            for name, columns in SHOWN_TOGETHER.items():
                quoted = ", ".join(map(sql_name, columns))
                sql = _SHOWN_ROWS.format(name=sql_name(name), text=sql_text(name), columns=quoted)
                with engine.reading(sql, span) as newest:
                    for batch in newest:
                        database.executemany(_SHOW, _tuples(batch, _SHOWN))
            database.executescript("delete from about; delete from files")
            metadata = (
                about.format,
                about.table_id,
                about.version,
                video_index.to_micros(about.bound),
            )
            database.execute("insert into about values (?, ?, ?, ?)", metadata)
            # Files whose rows are all in the index need not be opened.
            files = engine.files(video_index.VIDEOS_TABLE)
            if files:
                sql = _NEWEST.replace("{files}", in_files(files))
                settled = engine.rows(sql, {"bound": about.bound})
                names = [(row["name"],) for row in settled]
                database.executemany("insert into files values (?)", names)
    with draft.open("rb") as file:
        # The rename must not reach the disk before the content, which nothing else has synced.
        os.fsync(file.fileno())
    return count


def _tuples(batch: pa.RecordBatch, names: Sequence[str]) -> Iterator[tuple[object, ...]]:
    return zip(*(batch[name].to_pylist() for name in names), strict=True)
