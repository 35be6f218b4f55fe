"""Catalogues as documents of the API: importing, reading, requesting a run.

Blocking calls on the control store. A run is made by a worker (`pipelines/catalog/background.py`)
or by `sametrack catalog run`.
"""

from dataclasses import dataclass
from typing import cast

from api.params.catalogs import CatalogImportBody, CatalogTracksQuery
from api.responses.errors import NotFoundError
from api.schemas.extensions import catalogs as schemas
from pipelines.catalog import service
from pipelines.catalog.rules import state_of
from pipelines.catalog.run import CatalogScans, cancel_run
from pipelines.catalog.run_requests import is_run_requested, request_run
from warehouse.control import ControlStore, catalogs

PATH = "/api/v1/sametrack/catalogs"


@dataclass(frozen=True, eq=False)
class CatalogApi:
    """The catalogues of one world.

    All but `listed` and `add` raise `NotFoundError` if no catalogue has the name.

    Attributes:
        catalogs: The catalogues.
        control: Their store, which also keeps requests for runs.
        is_demo: True if observations are demo data.
    """

    catalogs: service.CatalogService
    control: ControlStore
    is_demo: bool

    def listed(self) -> schemas.CatalogList:
        """Return all catalogues."""
        documents = [self._document(status) for status in self.catalogs.listed()]
        return {
            "catalogs": documents,
            "returned_count": len(documents),
            "is_demo_data": self.is_demo,
        }

    def read(self, name: str) -> schemas.CatalogDocument:
        """Return one catalogue."""
        return self._document(self._status(name))

    def tracks(self, name: str, query: CatalogTracksQuery) -> schemas.CatalogTracks:
        """Return a page of its tracks, in the order of the imports."""
        status = self._status(name)
        settings, now = status.catalog.settings, status.read_at
        # A state is not stored: it follows from the last scan, the settings and the time.
        tracks = [
            track
            for track in status.tracks
            if query.state is None or state_of(track, settings, now) == query.state
        ]
        page = tracks[query.cursor : query.cursor + query.limit]
        end = query.cursor + len(page)
        return {
            "name": name,
            "tracks": [
                cast("schemas.CatalogTrackDocument", service.to_track_document(status, track))
                for track in page
            ],
            "returned_count": len(page),
            "total_count": len(tracks),
            "next_cursor": end if end < len(tracks) else None,
            "is_demo_data": self.is_demo,
        }

    def add(self, name: str, body: CatalogImportBody) -> schemas.CatalogImport:
        """Add tracks to a catalogue, or update them. A new catalogue is created.

        Raises:
            InvalidParameterError: The name is invalid, or no line names a track.
        """
        report = self.catalogs.import_lines(
            name, body.to_lines(), changes=body.to_changes(), dry_run=body.dry_run
        )
        # The documents of this package are those of `sametrack catalog` with the demo mark.
        document = service.to_import_document(report) | {"is_demo_data": self.is_demo}
        return cast("schemas.CatalogImport", document)

    def remove(self, name: str) -> schemas.CatalogRemoved:
        """Remove a catalogue."""
        count = len(self._status(name).tracks)
        self.catalogs.remove(name)
        return {"name": name, "removed_count": count, "is_demo_data": self.is_demo}

    def run(self, name: str) -> schemas.CatalogDocument:
        """Request a run: a worker scans the tracks that are due."""
        status = self._status(name)
        request_run(self.control, name)
        return self._document(status)

    def cancel(self, name: str, scans: CatalogScans) -> schemas.CatalogCancelled:
        """Stop the run of a catalogue and cancel its jobs."""
        self._status(name)
        count = cancel_run(name, control=self.control, scans=scans)
        return {"name": name, "cancelled_count": count, "is_demo_data": self.is_demo}

    def _status(self, name: str) -> service.CatalogStatus:
        if catalogs.get(self.control, name) is None:
            raise NotFoundError(f"There is no catalogue {name!r}")
        return self.catalogs.status(name)

    def _document(self, status: service.CatalogStatus) -> schemas.CatalogDocument:
        name = status.catalog.name
        running = is_run_requested(self.control, name)
        document = {
            **service.to_catalog_document(status),
            "is_running": running,
            "is_demo_data": self.is_demo,
        }
        return cast("schemas.CatalogDocument", document)
