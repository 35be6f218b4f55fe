"""Selection of the rows to export: tables of the contract, of one job, of one track, or everything.

Rows have a stable order. Bodies, features and packed documents are never exported. File formats are
in `table_files`, the accompanying facts in `method_sheet`.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain

import pyarrow as pa

from warehouse.engine.duckdb_engine import Engine
from warehouse.exports.pseudonyms import Pseudonyms
from warehouse.queries.results import JOBS_OF_TRACKS, read_result_document
from warehouse.records.errors import InvalidParameterError, WarehouseUnavailableError
from warehouse.tables import RELATIONS, Column, Table
from warehouse.tables.column import BYTES

ALL_TABLES = "all"
_NEVER_EXPORTED = frozenset({"raw.erasures"})
"""With salt and marks, anyone could test whether an account they know was erased."""
_EXPORTED = tuple(table for table in RELATIONS if table.name not in _NEVER_EXPORTED)
_OWN_TRACK = frozenset(
    {
        "raw.tracks",
        "marts.confirmed_videos",
        "marts.variants",
        "marts.rankings",
        "marts.account_summaries",
        "marts.job_results",
    }
)
"""Tables whose `music_id` is the track a row is about; elsewhere it is the candidate's own."""
_VIDEOS_OF_TRACK = "select aweme_id from marts.track_videos where track_music_id = $track"
_ACCOUNTS_OF_TRACK = f"select sec_uid from marts.videos where aweme_id in ({_VIDEOS_OF_TRACK})"  # noqa: S608  # as below
_OF_TRACK: Mapping[str, str] = {
    "raw.videos": f"music_id = $track or aweme_id in ({_VIDEOS_OF_TRACK})",
    "raw.sounds": """music_id = $track or sound_sha256 in (
        select unnest([reference_sha256, candidate_sha256])
        from marts.audio_comparisons where track_music_id = $track
    )""",
    "marts.music_ids": f"""music_id = $track or music_id in (
        select music_id from marts.videos where aweme_id in ({_VIDEOS_OF_TRACK})
        union select source_music_id from marts.track_videos where track_music_id = $track
    )""",  # noqa: S608  # words of this module
    "marts.videos": f"aweme_id in ({_VIDEOS_OF_TRACK})",
    "marts.video_days": f"aweme_id in ({_VIDEOS_OF_TRACK})",
    "marts.accounts": f"sec_uid in ({_ACCOUNTS_OF_TRACK})",
    "marts.account_days": f"sec_uid in ({_ACCOUNTS_OF_TRACK})",
    "marts.music_id_days": """music_id = $track or music_id in (
        select source_music_id from marts.track_videos where track_music_id = $track
    )""",
    "marts.list_shares": """music_id = $track or music_id in (
        select source_music_id from marts.track_videos where track_music_id = $track
    )""",
    "marts.days": "true",
    "raw.captures": f"""capture_id in (
        select capture_id from seen.videos
        where music_id = $track or aweme_id in ({_VIDEOS_OF_TRACK})
        union
        select capture_id from seen.tracks where music_id = $track
    )""",  # noqa: S608  # words of this module
}
"""What rows of a track refer to: observations, their captures, sounds, and the star."""
_OF_JOB: Mapping[str, str] = {
    "raw.sounds": """sound_sha256 in (
        select unnest([reference_sha256, candidate_sha256])
        from marts.audio_comparisons where job_id in ($job, $scan_job)
    )""",
}
"""Rows without a job that those of a job refer to."""
DIMENSIONS = ("marts.videos", "marts.tracks", "marts.music_ids", "marts.accounts", "marts.days")
"""Dimensions of the star, each before those that it refers to itself."""
_JOBS_OF_TRACK = f"select job_id from {JOBS_OF_TRACKS} where track_music_id = $track"  # noqa: S608  # our text


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportScope:
    """The job or track to export; everything if neither is set.

    `scan_job_id`: the job whose scan the result of `job_id` is a copy of.
    """

    job_id: str | None = None
    track: str | None = None
    scan_job_id: str | None = None

    @property
    def words(self) -> str:
        """Description of the scope in exported files."""
        if self.job_id is not None:
            return f"job {self.job_id}"
        return "everything" if self.track is None else f"track {self.track}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Extract:
    """Query for the rows of a table: exported columns, a condition and its parameters."""

    table: Table
    columns: tuple[Column, ...]
    where: str = "true"
    params: dict[str, object] = field(default_factory=dict)

    @property
    def left_out(self) -> tuple[str, ...]:
        """Columns of the table that are not exported."""
        names = {column.name for column in self.columns}
        return tuple(column.name for column in self.table.columns if column.name not in names)


def choose_extracts(what: str, scope: ExportScope) -> list[Extract]:
    """Return the tables named `what`: a table by its noun or full name, or `all` of the scope.

    Raises:
        InvalidParameterError: There is no such table, or its rows have no job or track.
    """
    if what == ALL_TABLES:
        extracts = (_extract(table, scope) for table in _EXPORTED)
        return [extract for extract in extracts if extract is not None]
    named = [table for table in _EXPORTED if what in {table.name, table.noun}]
    if not named:
        nouns = ", ".join(table.noun for table in _EXPORTED)
        raise InvalidParameterError(f"there is no table {what!r}", hint=f"{ALL_TABLES}, {nouns}")
    extract = _extract(named[0], scope)
    if extract is None:
        raise InvalidParameterError(
            f"rows of {named[0].name} have no {scope.words.split()[0]}",
            hint="omit --job and --track, or choose another table",
        )
    return [extract]


def _extract(table: Table, scope: ExportScope) -> Extract | None:
    """Return the rows of a table that are in scope, or None if no column tells it."""
    columns = tuple(column for column in table.columns if column.type != BYTES)
    names = {column.name for column in columns}
    where: str | None
    if scope.job_id is not None:
        where = "job_id in ($job, $scan_job)" if "job_id" in names else _OF_JOB.get(table.name)
    elif scope.track is None:
        where = "true"
    elif table.name in _OF_TRACK:
        where = _OF_TRACK[table.name]
    elif "track_music_id" in names:
        where = "track_music_id = $track"
    elif table.name in _OWN_TRACK:
        where = "music_id = $track"
    elif table.name.startswith("marts.") and "job_id" in names:
        where = f"job_id in ({_JOBS_OF_TRACK})"
    else:
        where = None
    if where is None:
        return None
    # DuckDB refuses a parameter that the query does not name.
    params: dict[str, object] = {}
    if scope.job_id is not None:
        params = {"job": scope.job_id, "scan_job": scope.scan_job_id or scope.job_id}
    elif scope.track is not None and "$track" in where:
        params = {"track": scope.track}
    return Extract(table=table, columns=columns, where=where, params=params)


def dimensions_of(keys: Mapping[str, Collection[str]]) -> Iterator[Extract]:
    """Yield the rows of the star's dimensions that rows of a package refer to.

    So a package of a job or track has rejected candidates as well as confirmed videos, their
    accounts and their music ids.

    Args:
        keys: By dimension the keys that are referred to. A dimension may refer to the next ones:
            their keys may be added before they are yielded.
    """
    by_name = {table.name: table for table in _EXPORTED}
    for name in DIMENSIONS:
        if keys.get(name):
            # The key of `marts.days` is a date; all others are text.
            table = by_name[name]
            yield Extract(
                table=table,
                columns=table.columns,
                where=f"{table.key[0]}::varchar in (select unnest($keys::varchar[]))",
                params={"keys": sorted(keys[name])},
            )


def find_scope(engine: Engine, scope: ExportScope) -> ExportScope:
    """Return the scope with the complete id of its job, of which the beginning is enough.

    Raises:
        InvalidParameterError: No stored row is of that job or track, or several jobs begin so.
        WarehouseUnavailableError: The lake cannot be read.
    """
    if scope.job_id is not None:
        job_id = _complete_job_id(engine, scope.job_id)
        try:
            result = read_result_document(engine, job_id) or {}
        except WarehouseUnavailableError:  # a damaged result is exported as it is
            result = {}
        return ExportScope(job_id=job_id, scan_job_id=result.get("scan_job_id"))
    if scope.track is not None and not any(
        engine.rows(f"select 1 {_source(extract)} limit 1", extract.params)
        for extract in choose_extracts(ALL_TABLES, scope)
        if extract.params  # the others have rows for any track
    ):
        raise InvalidParameterError(
            f"no stored row is of the track {scope.track!r}",
            hint="`sametrack query scanned-tracks` lists the tracks",
        )
    return scope


def _complete_job_id(engine: Engine, beginning: str) -> str:
    stored = (
        table.name
        for table in _EXPORTED
        if not table.is_view and any(column.name == "job_id" for column in table.columns)
    )
    ids = " union ".join(f"select job_id from {name}" for name in stored)  # noqa: S608  # names of the contract
    job_ids = [
        str(row["job_id"])
        for row in engine.rows(
            f"select distinct job_id from ({ids}) where starts_with(job_id, $job)",  # noqa: S608  # as above
            {"job": beginning},
        )
    ]
    if beginning in job_ids:
        return beginning
    if len(job_ids) != 1:
        problem = f"{len(job_ids)} jobs begin with" if job_ids else "no stored row is of the job"
        raise InvalidParameterError(f"{problem} {beginning!r}", hint="`sametrack jobs` lists them")
    return job_ids[0]


def read_batches(
    engine: Engine, extract: Extract, *, pseudonyms: Pseudonyms | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield the rows as Arrow batches, sorted by the key and then by every other column.

    There is always at least one batch, which may be empty.

    Raises:
        WarehouseUnavailableError: The lake cannot be read.
    """
    names = ", ".join(f'"{column.name}"' for column in extract.columns)
    # By all columns, so that the order is the same even if two rows have the same key.
    order = dict.fromkeys((*extract.table.key, *(column.name for column in extract.columns)))
    listed = ", ".join(f'"{name}"' for name in order)
    sql = f"select {names} {_source(extract)} order by {listed}"
    with engine.reading(sql, extract.params) as reader:
        # The first batch is empty: it carries the columns of a table without rows.
        empty = pa.RecordBatch.from_pylist([], schema=reader.schema)
        for batch in chain([empty], reader):
            yield batch if pseudonyms is None else pseudonyms.applied(extract.table, batch)


def _source(extract: Extract) -> str:
    # Observations count once their capture is complete.
    table = extract.table
    relation = table.counted_name if table.is_observed else table.name
    return f"from {relation} where {extract.where}"
