"""Catalogues as documents of the API: importing, reading, requesting a run.

Blocking calls on the control store. A run is made by a worker (`pipelines/catalog/background.py`)
or by `sametrack catalog run`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, cast

from api.params.catalogs import CatalogImportBody, CatalogTrackSort, CatalogTracksQuery
from api.responses.errors import NotFoundError
from api.schemas.extensions import catalogs as schemas
from pipelines.catalog import service
from pipelines.catalog.rules import TRACK_STATES, state_of
from pipelines.catalog.run import CatalogScans, cancel_run
from pipelines.catalog.run_requests import is_run_requested, request_run
from pipelines.documents.videos import to_document
from warehouse.analysis.query_library import find_query
from warehouse.control import ControlStore, catalogs
from warehouse.engine.duckdb_engine import Engine
from warehouse.records.catalogs import CatalogTrack

PATH = "/api/v1/sametrack/catalogs"


@dataclass(frozen=True, eq=False)
class CatalogApi:
    """The catalogues of one world.

    All but `listed` and `add` raise `NotFoundError` if no catalogue has the name.

    Attributes:
        catalogs: The catalogues.
        control: Their store, which also keeps requests for runs.
        engine: What scans have found.
        is_demo: True if observations are demo data.
    """

    catalogs: service.CatalogService
    control: ControlStore
    engine: Engine
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
        """Return a page of its tracks."""
        status = self._status(name)
        settings, now = status.catalog.settings, status.read_at
        # A state is not stored: it follows from the last scan, the settings and the time.
        tracks = [
            track
            for track in status.tracks
            if query.state is None or state_of(track, settings, now) == query.state
        ]
        end = query.cursor + query.limit
        if query.sort == "imported":
            ordered = tracks[::-1] if query.descending else tracks
            page = self._track_documents(status, ordered[query.cursor : end])
        else:
            documents = self._track_documents(status, tracks)
            page = sort_tracks(documents, query.sort, descending=query.descending)
            page = page[query.cursor : end]
        return {
            "name": name,
            "tracks": page,
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

    def _track_documents(
        self, status: service.CatalogStatus, tracks: Sequence[CatalogTrack]
    ) -> list[schemas.CatalogTrackDocument]:
        """Return tracks with what scans have found, in their order."""
        music_ids = {track.given.key: _music_id_of(track) for track in tracks}
        figures = self._figures([music_id for music_id in music_ids.values() if music_id])
        documents = []
        for track in tracks:
            of_scans = figures.get(music_ids[track.given.key])
            document = {
                **service.to_track_document(status, track),
                "title": track.given.label or (of_scans and of_scans["title"]),
                "figures": of_scans,
            }
            documents.append(cast("schemas.CatalogTrackDocument", document))
        return documents

    def _figures(
        self, music_ids: Sequence[str]
    ) -> Mapping[str | None, schemas.CatalogTrackFigures]:
        """Return what all scans of these tracks have found, by music id: as the page that compares
        tracks shows it.
        """
        if not music_ids:
            return {}
        self.engine.refresh()
        rows = self.engine.rows(find_query("compare-tracks").sql, music_ids=",".join(music_ids))
        return {
            row["music_id"]: to_document(
                schemas.CatalogTrackFigures,
                row,
                confirmed_video_count=row["videos"],
                account_count=row["accounts"],
                music_id_count=row["music_ids"],
                music_id_estimate=row["estimated_music_ids"],
                music_id_lower=row["lower_music_ids"],
                music_id_upper=row["upper_music_ids"],
                variant_video_count=row["variants"],
                digg_count=row["likes"],
            )
            for row in rows
        }

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


def sort_tracks(
    tracks: Iterable[schemas.CatalogTrackDocument], sort: CatalogTrackSort, *, descending: bool
) -> list[schemas.CatalogTrackDocument]:
    """Return tracks sorted by a value; those whose value is unknown come last, in their order."""
    valued = [(_SORT_VALUES[sort](track), track) for track in tracks]
    sortable = [(value, track) for value, track in valued if value is not None]
    sortable.sort(key=itemgetter(0), reverse=descending)
    unknown = [track for value, track in valued if value is None]
    return [track for _, track in sortable] + unknown


def _figure(name: str) -> Callable[[schemas.CatalogTrackDocument], Any]:  # of a comparable type
    return lambda track: None if track["figures"] is None else track["figures"].get(name)


_SORT_VALUES: Mapping[CatalogTrackSort, Callable[[schemas.CatalogTrackDocument], Any]] = {
    "title": lambda track: (track["title"] or track["input"]).casefold(),
    "state": lambda track: TRACK_STATES.index(track["state"]),
    **{
        name: _figure(name)
        for name in (
            "confirmed_video_count",
            "music_id_count",
            "music_id_estimate",
            "variant_video_count",
            "digg_count",
            "last_result_at",
        )
    },
}


def _music_id_of(track: CatalogTrack) -> str | None:
    """Return the music id of a track; of one that was never run, that in its key."""
    # Another request may have scanned it all the same.
    kind, _, value = track.given.key.partition(":")
    return track.music_id or (value if kind == "music" else None)
