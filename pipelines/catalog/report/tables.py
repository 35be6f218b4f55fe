"""The tables of a report. What is unknown is empty, never 0."""

from collections.abc import Sequence
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
from warehouse.records.catalog.tracks import CatalogTrack
from warehouse.records.values import Row

if TYPE_CHECKING:
    import pyarrow as pa

_GIVEN: tuple[tuple[str, ExportKind], ...] = (
    ("track_key", "text"), ("input", "text"), ("label", "text"), ("priority", "whole"),
    ("state", "text"), ("music_id", "text"), ("result_job_id", "text"), ("result_at", "time"),
    ("error", "text"),
)  # fmt: skip
_COLUMNS = ExportColumn("columns", "text")


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
    asked = [_to_query(track) for track in status.tracks if track.music_id is not None]
    found = read_catalog_tracks(engine, asked)
    rows = {row["track_key"]: row for row in found.to_pylist()}
    measured = columns_of(found.schema)[1:]  # behind the key
    columns = [*(ExportColumn(name, kind) for name, kind in _GIVEN), *measured, _COLUMNS]
    return CatalogTables(
        tracks=ExportTable(
            "tracks", columns, [_to_row(status, one, rows, measured) for one in status.tracks]
        ),
        music_ids=read_catalog_music_ids(engine, asked),
        videos=read_catalog_videos(engine, asked),
        matches=read_catalog_matches(
            engine,
            [one.key for one in asked],
            [one.label for one in asked],
            [one.music_id for one in asked],
        ),
    )


def _to_query(track: CatalogTrack) -> CatalogQueryTrack:
    return CatalogQueryTrack(
        key=track.given.key,
        label=track.given.label,
        music_id=track.music_id or "",
        result_job_id=track.result_job_id,
        previous_job_id=track.previous_job_id,
    )


def _to_row(
    status: CatalogStatus,
    track: CatalogTrack,
    found: dict[str, Row],
    measured: Sequence[ExportColumn],
) -> tuple[object, ...]:
    given, row = track.given, found.get(track.given.key, {})
    return (
        given.key,
        given.input,
        given.label,
        given.priority,
        state_of(track, status.catalog.settings, status.read_at),
        track.music_id,
        track.result_job_id,
        track.result_at,
        None if track.error is None else str(track.error.get("detail")),
        *(row.get(column.name) for column in measured),
        orjson.dumps(dict(given.columns)).decode(),
    )
