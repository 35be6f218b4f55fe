"""Catalogues, tracks and imports as JSON values, for the API and the command line. Pure."""

from dataclasses import asdict
from typing import TYPE_CHECKING

from pipelines.catalog.rules.planning import state_of
from pipelines.documents.videos import to_time
from warehouse.records.catalogs import CatalogTrack
from warehouse.records.values import Document

if TYPE_CHECKING:
    from pipelines.catalog.service import CatalogStatus, ImportReport


def to_catalog_document(status: "CatalogStatus") -> Document:
    """Return where a catalogue stands, without its tracks."""
    catalog = status.catalog
    return {
        "name": catalog.name,
        "settings": catalog.settings.to_document(),
        "created_at": to_time(catalog.created_at),
        "updated_at": to_time(catalog.updated_at),
        "read_at": to_time(status.read_at),
        "track_count": len(status.tracks),
        "states": dict(status.states),
        "due_count": len(status.due),
        "spent_today": asdict(status.spent),
        "same_music": {music_id: list(keys) for music_id, keys in status.same_music.items()},
    }


def to_track_document(status: "CatalogStatus", track: CatalogTrack) -> Document:
    """Return a track of a catalogue."""
    job = status.jobs.get(track.given.key)
    return {
        **asdict(track.given),
        "state": state_of(track, status.catalog.settings, status.read_at),
        "music_id": track.music_id,
        "job_id": track.job_id,
        "stage": None if job is None else job.progress.stage,
        "result_job_id": track.result_job_id,
        "result_at": to_time(track.result_at),
        "previous_job_id": track.previous_job_id,
        "failed_at": to_time(track.failed_at),
        "error": track.error,
    }


def to_import_document(report: "ImportReport") -> Document:
    """Return what an import did."""
    outcome = report.outcome
    return {
        "name": report.name,
        "is_dry_run": report.is_dry_run,
        "track_count": report.track_count,
        "new_count": report.new_count,
        "updated_count": report.updated_count,
        "duplicates": [asdict(line) for line in outcome.duplicates],
        "problems": [asdict(problem) for problem in outcome.problems],
        "lists": [asdict(song_list) for song_list in report.lists],
    }
