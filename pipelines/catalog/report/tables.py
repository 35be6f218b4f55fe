"""The tables of a report. What is unknown is empty, never 0."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import orjson

from pipelines.catalog.rules.planning import state_of
from pipelines.catalog.service import CatalogStatus
from warehouse.engine.duckdb_engine import Engine
from warehouse.exports.export_table import ExportColumn, ExportKind, ExportTable, columns_of
from warehouse.queries.catalogs import (
    CatalogQueryTrack,
    read_catalog_music_ids,
    read_catalog_tracks,
    read_catalog_videos,
)
from warehouse.queries.sound_matches import read_catalog_matches
from warehouse.records.values import Row

if TYPE_CHECKING:
    import pyarrow as pa

_TRACK_COLUMNS: tuple[tuple[str, ExportKind], ...] = (
    ("track_key", "text"),
    ("input", "text"),
    ("label", "text"),
    ("priority", "whole"),
    ("state", "text"),
    ("music_id", "text"),
    ("result_job_id", "text"),
    ("result_at", "time"),
    ("error", "text"),
)
_INPUT_COLUMNS = ExportColumn("columns", "text")


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogTables:
    """The tables of a report: tracks as rows, the larger ones as they were read."""

    tracks: ExportTable
    music_ids: "pa.Table"
    videos: "pa.Table"
    matches: "pa.Table"

    def track_rows(self) -> list[Row]:
        """Return the tracks as rows by column name."""
        names = [column.name for column in self.tracks.columns]
        return [dict(zip(names, row, strict=True)) for row in self.tracks.rows]


def read_catalog_tables(engine: Engine, status: CatalogStatus) -> CatalogTables:
    """Read the tables. Tracks without a result are rows of the first one alone.

    Raises:
        WarehouseUnavailableError: The lake cannot be read.
    """
    queries = [
        CatalogQueryTrack(
            key=track.given.key,
            label=track.given.label,
            music_id=track.music_id,
            result_job_id=track.result_job_id,
            previous_job_id=track.previous_job_id,
        )
        for track in status.tracks
        if track.music_id is not None
    ]
    results = read_catalog_tracks(engine, queries)
    results_by_key: dict[str, Row] = {row["track_key"]: row for row in results.to_pylist()}
    result_columns = columns_of(results.schema)[1:]  # behind the key
    rows: list[tuple[object, ...]] = []
    for track in status.tracks:
        given, result = track.given, results_by_key.get(track.given.key, {})
        rows.append(
            (
                given.key,
                given.input,
                given.label,
                given.priority,
                state_of(track, status.catalog.settings, status.read_at),
                track.music_id,
                track.result_job_id,
                track.result_at,
                None if track.error is None else str(track.error.get("detail")),
                *(result.get(column.name) for column in result_columns),
                orjson.dumps(dict(given.columns)).decode(),
            )
        )
    track_columns = [ExportColumn(name, kind) for name, kind in _TRACK_COLUMNS]
    return CatalogTables(
        tracks=ExportTable("tracks", [*track_columns, *result_columns, _INPUT_COLUMNS], rows),
        music_ids=read_catalog_music_ids(engine, queries),
        videos=read_catalog_videos(engine, queries),
        matches=read_catalog_matches(
            engine,
            [track.key for track in queries],
            [track.label for track in queries],
            [track.music_id for track in queries],
        ),
    )
