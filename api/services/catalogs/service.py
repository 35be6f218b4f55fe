"""Catalogues for the API and the command line: importing, reading, asking for a run.

Blocking calls on the control store. A run is made by a worker (`pipelines/catalog/background.py`)
or by `sametrack catalog run`.
"""

from collections.abc import Collection
from dataclasses import asdict
from typing import cast

from api.params.catalogs import CatalogImportBody, CatalogTracksQuery
from api.responses.errors import NotFoundError
from api.schemas.extensions.catalogs import (
    CatalogCancelled,
    CatalogDocument,
    CatalogImport,
    CatalogList,
    CatalogRemoved,
    CatalogTrackDocument,
    CatalogTracks,
)
from pipelines.catalog.rules.planning import TRACK_STATES, TrackState, state_of
from pipelines.catalog.run import CatalogScans, cancel_run
from pipelines.catalog.run_requests import is_run_requested, request_run
from pipelines.catalog.service import (
    CatalogService,
    CatalogStatus,
    CatalogStore,
    ImportReport,
)
from pipelines.documents.videos import to_time
from warehouse.records.catalog.tracks import CatalogTrack

PATH = "/api/v1/sametrack/catalogs"


class CatalogApi:
    """The catalogues of one world.

    Args:
        catalogs: The catalogues.
        control: Their store, which also keeps requests for runs.
        is_demo: True if observations are demo data.
    """

    def __init__(
        self,
        catalogs: CatalogService,
        control: CatalogStore,
        *,
        is_demo: bool,
    ) -> None:
        self._catalogs = catalogs
        self._control = control
        self._is_demo = is_demo

    def listed(self) -> CatalogList:
        """Return all catalogues."""
        found = [self._document(status) for status in self._catalogs.listed()]
        return {"catalogs": found, "returned_count": len(found), "is_demo_data": self._is_demo}

    def read(self, name: str) -> CatalogDocument:
        """Return one catalogue.

        Raises:
            NotFoundError: There is none of this name.
        """
        return self._document(self._status(name))

    def tracks(self, name: str, query: CatalogTracksQuery) -> CatalogTracks:
        """Return a page of its tracks.

        Raises:
            NotFoundError: There is none of this name.
        """
        status = self._status(name)
        wanted = TRACK_STATES if query.state is None else (query.state,)
        found = tracks_in(status, wanted)
        page = found[query.cursor : query.cursor + query.limit]
        after = query.cursor + len(page)
        return {
            "name": name,
            "tracks": [to_track_document(status, track) for track in page],
            "returned_count": len(page),
            "total_count": len(found),
            "next_cursor": after if after < len(found) else None,
            "is_demo_data": self._is_demo,
        }

    def add(self, name: str, body: CatalogImportBody) -> CatalogImport:
        """Add tracks to a catalogue, or update them; it is created if there is none.

        Raises:
            InvalidParameterError: The name cannot be used, or no line names a track.
        """
        report = self._catalogs.import_lines(
            name, body.to_lines(), changes=body.to_changes(), dry_run=body.dry_run
        )
        return to_import_document(report, is_demo=self._is_demo)

    def remove(self, name: str) -> CatalogRemoved:
        """Remove a catalogue.

        Raises:
            NotFoundError: There is none of this name.
        """
        count = len(self._status(name).tracks)
        self._catalogs.remove(name)
        return {"name": name, "removed_count": count, "is_demo_data": self._is_demo}

    def run(self, name: str) -> CatalogDocument:
        """Ask the workers to scan what is due.

        Raises:
            NotFoundError: There is none of this name.
        """
        status = self._status(name)
        request_run(self._control, name)
        return self._document(status)

    def cancel(self, name: str, scans: CatalogScans) -> CatalogCancelled:
        """Stop the run of a catalogue and cancel its jobs.

        Raises:
            NotFoundError: There is none of this name.
        """
        self._status(name)
        count = cancel_run(name, control=self._control, scans=scans)
        return {"name": name, "cancelled_count": count, "is_demo_data": self._is_demo}

    def _status(self, name: str) -> CatalogStatus:
        if self._control.catalog(name) is None:
            raise NotFoundError(f"There is no catalogue {name!r}")
        return self._catalogs.status(name)

    def _document(self, status: CatalogStatus) -> CatalogDocument:
        name = status.catalog.name
        return to_catalog_document(
            status, is_running=is_run_requested(self._control, name), is_demo=self._is_demo
        )


def tracks_in(status: CatalogStatus, states: Collection[TrackState]) -> list[CatalogTrack]:
    """Return the tracks in these states, in the order of the imports."""
    settings, now = status.catalog.settings, status.read_at
    return [track for track in status.tracks if state_of(track, settings, now) in states]


def to_catalog_document(
    status: CatalogStatus, *, is_running: bool, is_demo: bool
) -> CatalogDocument:
    """Return a catalogue as JSON values, without its tracks."""
    catalog = status.catalog
    return cast(
        "CatalogDocument",
        {
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
            "is_running": is_running,
            "is_demo_data": is_demo,
        },
    )


def to_track_document(status: CatalogStatus, track: CatalogTrack) -> CatalogTrackDocument:
    """Return a track of a catalogue as JSON values."""
    job = status.jobs.get(track.given.key)
    return cast(
        "CatalogTrackDocument",
        {
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
        },
    )


def to_import_document(report: ImportReport, *, is_demo: bool) -> CatalogImport:
    """Return an import as JSON values."""
    outcome = report.outcome
    return cast(
        "CatalogImport",
        {
            "name": report.name,
            "is_dry_run": report.is_dry_run,
            "track_count": report.track_count,
            "new_count": report.new_count,
            "updated_count": report.updated_count,
            "duplicates": [asdict(one) for one in outcome.duplicates],
            "problems": [asdict(one) for one in outcome.problems],
            "lists": [asdict(one) for one in report.lists],
            "is_demo_data": is_demo,
        },
    )
