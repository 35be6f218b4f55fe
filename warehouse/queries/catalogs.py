"""What scans have found about the tracks of a catalogue: per track, per music id, per video.

The tracks are given with each query, because catalogues are in the control store.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warehouse.engine.duckdb_engine import Engine
from warehouse.models import read_catalog_model
from warehouse.queries.results import JOBS_OF_TRACKS

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogQueryTrack:
    """A track of a catalogue as a query needs it. `previous_job_id`: of the result before."""

    key: str
    label: str | None
    music_id: str
    result_job_id: str | None
    previous_job_id: str | None


def read_catalog_tracks(engine: Engine, tracks: Sequence[CatalogQueryTrack]) -> "pa.Table":
    """Return one row per track: what all its scans found, its newest estimates, what changed."""
    return engine.table(_statement("tracks"), _params(tracks))


def read_catalog_music_ids(engine: Engine, tracks: Sequence[CatalogQueryTrack]) -> "pa.Table":
    """Return one row per track and music id of `marts.genealogy`."""
    return engine.table(_statement("music_ids"), _params(tracks))


def read_catalog_videos(engine: Engine, tracks: Sequence[CatalogQueryTrack]) -> "pa.Table":
    """Return one row per track and video, confirmed or a variant, the most liked first."""
    return engine.table(_statement("videos"), _params(tracks))


def _statement(noun: str) -> str:
    """Return a statement about the tracks that are asked for; both parts are SQL files."""
    asked, rest = read_catalog_model("asked"), read_catalog_model(noun)
    return f"{asked}\n{rest.replace('{jobs_of_tracks}', JOBS_OF_TRACKS)}"


def _params(tracks: Sequence[CatalogQueryTrack]) -> dict[str, object]:
    return {
        "keys": [track.key for track in tracks],
        "labels": [track.label for track in tracks],
        "music_ids": [track.music_id for track in tracks],
        "results": [track.result_job_id for track in tracks],
        "previous": [track.previous_job_id for track in tracks],
    }
