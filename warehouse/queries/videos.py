"""Queries by id: the best observation of videos, now and earlier; accounts; erasure marks."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime
from pathlib import Path
from typing import Literal

from warehouse.engine.duckdb_engine import Engine, in_files
from warehouse.engine.sql import IS_CURRENT, REPLAYED_SQL, sql_name
from warehouse.lake.record_rows import SHOWN_TOGETHER, account_from_row, video_fields
from warehouse.lake.video_index import OMITTED_COLUMNS, VIDEOS_TABLE, IndexAnswer
from warehouse.records.erasure import ErasureMarks
from warehouse.records.values import ReadOnlyRow, Row
from warehouse.records.videos import Account, Video

# Lookups by id in large tables: which rows are committed, and how ids are passed to a query.
#
# An observation counts once the row of its capture exists. The views `seen.*` check this in one
# query; for a few ids it is much cheaper to read the rows first and check their captures
# afterwards.

MAX_INLINE_VALUES = 200
"""Up to this many ids are passed as separate parameters.

With more, planning the query costs more than it saves.
"""


_WRITTEN = "select capture_id from raw.captures where capture_id in ({ids})"


def keep_committed(engine: Engine, table: str, rows: Sequence[Row]) -> list[Row]:
    """Return the rows whose capture is complete; only recent rows need a lookup."""
    bound = engine.complete_before(table)
    young = {
        row["capture_id"]
        for row in rows
        if row["capture_id"] is not None and (bound is None or row["committed_at"] >= bound)
    }
    lost = young - read_committed_ids(engine, young)
    return [row for row in rows if row["capture_id"] not in lost]


def read_committed_ids(engine: Engine, capture_ids: Collection[str]) -> set[str]:
    """Return which of these captures are complete."""
    if not capture_ids:
        return set()
    sql, params = inline_values(_WRITTEN, sorted(capture_ids))
    return {row["capture_id"] for row in engine.rows(sql, params)}


def inline_values(
    sql: str, values: Sequence[object], *, slot: str = "ids", kind: str = "varchar"
) -> tuple[str, dict[str, object]]:
    """Replace `{slot}` in the query by one parameter per value, or by a list if there are many.

    Separate values are compared while a file is read, so rows that do not match are never decoded;
    over five million rows that is most of the work.
    """
    placeholder = f"{{{slot}}}"
    if len(values) > MAX_INLINE_VALUES:
        return sql.replace(placeholder, f"select unnest(${slot}::{kind}[])"), {slot: list(values)}
    params: dict[str, object] = {f"{slot}{index}": value for index, value in enumerate(values)}
    return sql.replace(placeholder, ", ".join(f"${name}" for name in params) or "null"), params


type SortColumn = Literal["likes", "created"]

MAX_FULL_READS = 30
"""Up to this many videos are read completely even if only their order is requested.

The query for their records follows anyway and opens the same parts of the same files.
"""
_RANK = "(statistics_complete, digg_count is not null, observed_at, committed_at)"
_IS_RECENT = "($bound::timestamptz is null or committed_at >= $bound)"
_WAS_CURRENT = f"""(
    capture_id is null or capture_id not in ({REPLAYED_SQL} and committed_at <= $until)
)"""
"""What was known at a time stays so: a page of then keeps its order when a replay corrects it."""
_LIKES = """arg_max(digg_count, (statistics_complete, observed_at, committed_at))
            filter (digg_count is not null and was_current and committed_at <= $until)"""
_CREATED = "max(create_time) filter (was_current and committed_at <= $until)"
_BEST = f"""
    select
        aweme_id,
        arg_max(work, {_RANK}) filter (is_current and not ({_IS_RECENT})) as best,
        min(observed_at) filter (is_current and not ({_IS_RECENT})) as first_at,
        max(create_time) filter (is_current and not ({_IS_RECENT})) as stated,
        bool_or({_IS_RECENT}) as has_young,
        {{shown}}{{more}}
    from (
        select * exclude ({", ".join(sorted(OMITTED_COLUMNS))}), {IS_CURRENT} as is_current{{was}}
        from raw.videos
    ) as work
    where aweme_id in ({{ids}})
    group by aweme_id
"""  # noqa: S608  # words of this module
"""Provenance ids differ in every row: unpacking all of them would be an eighth of the cost."""
_RANKED_BY = ("statistics_complete", "digg_count", "observed_at", "committed_at")
_SHOWN = ", ".join(
    f"arg_max(struct_pack({', '.join(map(sql_name, (*_RANKED_BY, *columns)))}), {_RANK})"
    f" filter (is_current and not ({_IS_RECENT}) and {sql_name(name)} is not null) as shown_{name}"
    for name, columns in SHOWN_TOGETHER.items()
)
"""By what an observation may show, the best one that does."""
_RECENT_SQL = f"""
    select * from raw.videos where aweme_id in ({{ids}}) and {_IS_RECENT} and {IS_CURRENT}
"""  # noqa: S608  # as above
_HAVE_RECENT_SQL = """
    select distinct aweme_id from read_parquet({files})
    where aweme_id in ({ids}) and committed_at >= $bound
"""
_KNOWN = f"""
    select aweme_id, {_LIKES} as likes, {_CREATED} as created
    from (select *, {_WAS_CURRENT} as was_current from raw.videos)
    where aweme_id in ({{ids}})
    group by aweme_id
"""  # noqa: S608  # words of this module


_LAST_COMMIT = """
    select max(committed_at) as at from raw.videos
    where aweme_id in ({ids}) and committed_at > $since
"""


type SortValues = dict[str, int | None]
"""By video what a list is sorted by; a video of which it is unknown may be absent."""


def read_listed_videos(engine: Engine, aweme_ids: Sequence[str]) -> dict[str, Video]:
    """Return the best observation of each video. Videos never observed are absent.

    The newest with all four counts exact, else the newest with likes, else the newest. Where it
    does not show when the video was published, or its author, music, hashtags and the like, the
    best one that does is asked.
    """
    # The index only answers for the present; a past time is read from the table.
    indexed = engine.video_index.read(aweme_ids) if engine.as_of is None else None
    if indexed is not None:
        return _listed(engine, _rows_from_index(engine, indexed, aweme_ids), indexed.bound)
    return _listed(engine, _best(engine, aweme_ids), engine.complete_before(VIDEOS_TABLE))


def read_sort_values(
    engine: Engine, aweme_ids: Sequence[str], *, by: SortColumn, until: datetime
) -> tuple[SortValues, dict[str, Video]]:
    """Return what was known of videos at a time; with their best observations if they are few.

    `by` likes, or publication in Unix seconds as it was stated.
    """
    is_whole = len(aweme_ids) <= MAX_INLINE_VALUES
    indexed = None
    if engine.as_of is None:  # the index only answers for the present
        indexed = engine.video_index.read(aweme_ids, until=until, whole=is_whole)
    if indexed is not None:
        return _sort_values_from_index(engine, indexed, aweme_ids, by, until)
    if len(aweme_ids) <= MAX_FULL_READS:
        more = f", {_LIKES} as likes, {_CREATED} as created"
        was = f", {_WAS_CURRENT} as was_current"
        rows = _best(engine, aweme_ids, more=more, was=was, until=until)
        values = {row["aweme_id"]: row[by] for row in rows}
        return values, _listed(engine, rows, engine.complete_before(VIDEOS_TABLE))
    return _read_sort_values(engine, aweme_ids, by, until), {}


def read_last_commit(
    engine: Engine, aweme_ids: Sequence[str], *, since: datetime
) -> datetime | None:
    """Return when the newest observation of these videos after a moment was committed, if any."""
    if not aweme_ids:
        return None
    sql, params = inline_values(_LAST_COMMIT, aweme_ids)
    rows = engine.rows(sql, **params, since=since)
    at: datetime | None = rows[0]["at"]
    return at


def _rows_from_index(engine: Engine, indexed: IndexAnswer, aweme_ids: Sequence[str]) -> list[Row]:
    """Return the rows of `_best` from the index."""
    young = _videos_with_recent_rows(engine, indexed, aweme_ids)
    unknown = {"best": None, "first_at": None, "stated": None}
    return [
        {"aweme_id": aweme_id, **(video or unknown), "has_young": aweme_id in young}
        for aweme_id in dict.fromkeys(aweme_ids)
        if (video := indexed.videos.get(aweme_id)) or aweme_id in young
    ]


def _sort_values_from_index(
    engine: Engine,
    indexed: IndexAnswer,
    aweme_ids: Sequence[str],
    by: SortColumn,
    until: datetime,
) -> tuple[SortValues, dict[str, Video]]:
    """Answer `read_sort_values` from the index.

    The table is queried for videos with newer observations, and for those that a replay corrected
    or whose publication time was observed again after `until`.
    """
    rows = _rows_from_index(engine, indexed, aweme_ids)
    values: SortValues = {
        row["aweme_id"]: indexed.likes[row["aweme_id"]] if by == "likes" else row["stated"]
        for row in rows
        if row["aweme_id"] in indexed.videos
        and all(at is None or at <= until for at in (row["stated_since"], row["corrected_at"]))
        and (until < indexed.bound or not row["has_young"])
    }
    others = [row["aweme_id"] for row in rows if row["aweme_id"] not in values]
    listed = _listed(engine, rows, indexed.bound) if len(aweme_ids) <= MAX_INLINE_VALUES else {}
    return values | _read_sort_values(engine, others, by, until), listed


def _read_sort_values(
    engine: Engine, aweme_ids: Sequence[str], by: SortColumn, until: datetime
) -> SortValues:
    if not aweme_ids:
        return {}
    sql, params = inline_values(_KNOWN, aweme_ids)
    return {row["aweme_id"]: row[by] for row in engine.rows(sql, **params, until=until)}


def _best(
    engine: Engine, aweme_ids: Sequence[str], *, more: str = "", was: str = "", **params: object
) -> list[Row]:
    """Return a row per video: its best settled observation, and whether there are recent ones.

    A video watched for months has hundreds of observations: selecting while reading avoids building
    rows of all of them.
    """
    if not aweme_ids:
        return []
    sql = _BEST.replace("{shown}", _SHOWN).replace("{more}", more).replace("{was}", was)
    sql, ids = inline_values(sql, aweme_ids)
    return engine.rows(sql, **ids, **params, bound=engine.complete_before(VIDEOS_TABLE))


def _listed(engine: Engine, rows: Sequence[Row], bound: datetime | None) -> dict[str, Video]:
    """Return the best committed observation of each video, and the time of its first one.

    `rows` cover what was committed before `bound`.
    """
    young = _read_recent(engine, [row["aweme_id"] for row in rows if row["has_young"]], bound)
    listed: dict[str, Video] = {}
    for row in rows:
        others = young.get(row["aweme_id"], [])
        best = [*others, *filter(None, [row["best"]])]
        moments = [row["first_at"], *(other["observed_at"] for other in others)]
        if best:
            first_at = min(moment for moment in moments if moment is not None)
            values = _filled(max(best, key=_rank), row, others)
            if values["create_time"] is None:
                stated = [row["stated"], *(other["create_time"] for other in others)]
                values["create_time"] = max(filter(None, stated), default=None)
            listed[row["aweme_id"]] = Video(**video_fields(values), first_observed_at=first_at)
    return listed


def _filled(best: Row, row: Row, others: Sequence[Row]) -> Row:
    """Fill in what the best observation does not show from the best one that does."""
    filled = dict(best)
    for name, columns in SHOWN_TOGETHER.items():
        if best[name] is None:
            rows = [
                row.get(f"shown_{name}"),
                *(other for other in others if other[name] is not None),
            ]
            source = max(filter(None, rows), key=_rank, default=None)
            filled |= {} if source is None else {column: source[column] for column in columns}
    return filled


def _videos_with_recent_rows(
    engine: Engine, indexed: IndexAnswer, aweme_ids: Sequence[str]
) -> set[str]:
    """Return videos with observations in files that the index does not cover."""
    files = [file for file in engine.files(VIDEOS_TABLE) if Path(file).name not in indexed.files]
    if not files or not aweme_ids:
        return set()
    sql, ids = inline_values(_HAVE_RECENT_SQL.replace("{files}", in_files(files)), aweme_ids)
    return {row["aweme_id"] for row in engine.rows(sql, **ids, bound=indexed.bound)}


def _read_recent(
    engine: Engine, aweme_ids: Sequence[str], bound: datetime | None
) -> dict[str, list[Row]]:
    """Return committed observations so recent that their capture must be checked."""
    if not aweme_ids:
        return {}
    sql, ids = inline_values(_RECENT_SQL, aweme_ids)
    rows = engine.rows(sql, **ids, bound=bound)
    young: dict[str, list[Row]] = defaultdict(list)
    for row in keep_committed(engine, VIDEOS_TABLE, rows):
        young[row["aweme_id"]].append(row)
    return young


def _rank(row: ReadOnlyRow) -> tuple[bool, bool, datetime, datetime]:
    """Python version of `_RANK`."""
    has_likes = row["digg_count"] is not None
    # Complete counts outweigh newer ones: list items may have rounded counts, or none.
    return (row["statistics_complete"], has_likes, row["observed_at"], row["committed_at"])


# Queries of accounts, of the marks of erased ones, and of the last outcome of a surface.


def read_profile(engine: Engine, sec_uid: str) -> tuple[Account, str] | None:
    """Return the newest observation of an account and its data provider, or None."""
    sql = """
        select * from raw.accounts where sec_uid = $sec_uid
        order by observed_at desc, committed_at desc
    """
    rows = keep_committed(engine, "raw.accounts", engine.rows(sql, sec_uid=sec_uid))
    return (account_from_row(rows[0]), rows[0]["data_provider"]) if rows else None


def read_last_outcome(
    engine: Engine, *, surfaces: Sequence[str], entity_id: str, outcome: str
) -> datetime | None:
    """Return when a surface last had this outcome for an entity, or None."""
    sql = """
        select max(observed_at) as observed_at from raw.captures
        where entity_id = $entity_id and surface in ({surfaces}) and outcome = $outcome
    """
    sql, params = inline_values(sql, surfaces, slot="surfaces")
    rows = engine.rows(sql, **params, entity_id=entity_id, outcome=outcome)
    observed_at: datetime | None = rows[0]["observed_at"]
    return observed_at


def read_marks(engine: Engine) -> ErasureMarks:
    """Return all erasure marks of this world."""
    by_salt: dict[str, set[str]] = defaultdict(set)
    for row in engine.table("select salt, marks from raw.erasures").to_pylist():
        by_salt[row["salt"]].update(row["marks"])
    return ErasureMarks({salt: frozenset(marks) for salt, marks in by_salt.items()})


def is_history_rewritten(engine: Engine) -> bool:
    """Return True if an account was erased after the time that the engine reads as of."""
    if engine.as_of is None:
        return False
    sql = "select count(*) as n from raw.erasures where committed_at > $moment"
    return bool(engine.rows(sql, {"moment": engine.as_of})[0]["n"])
