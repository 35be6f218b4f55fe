"""Operations beyond the sixteen endpoints, for the synchronous client.

Written by `make docs` from `awaiting/extensions.py`.
"""

from collections.abc import Sequence
from typing import Unpack

from ..requests import chart_songs, inspection, watchlists
from ..requests.chart_songs import ChartLinkDecision
from ..requests.inspection import AnnotationVerdict, SeriesKind
from ..requests.watchlists import WatchEntryGiven, WatchlistChanges, WatchlistOptions
from ..responses import ApiResponse
from ..types.extensions import (
    AnnotationsData,
    ChartLinksData,
    ChartSongData,
    ComparisonData,
    ComparisonsData,
    DoctorData,
    JobReadsData,
    ReferenceData,
    SeriesData,
    StorageData,
    WatchDigestsData,
    WatchlistData,
    WatchlistDeletedData,
    WatchlistsData,
    WatchRunData,
    WatchRunsData,
)
from .transport import Sender


class Extensions(Sender):
    """Watchlists, chart songs, evidence, time series, storage and health."""

    def watchlists(self) -> ApiResponse[WatchlistsData]:
        """Return all watchlists with their last and next run."""
        return self.send(watchlists.watchlists())

    def create_watchlist(
        self,
        name: str,
        *,
        every: str,
        entries: Sequence[WatchEntryGiven],
        **options: Unpack[WatchlistOptions],
    ) -> ApiResponse[WatchlistData]:
        """Create a watchlist. It first runs at the next time of its schedule."""
        return self.send(watchlists.create_watchlist(name, every, entries, options))

    def watchlist(self, name: str) -> ApiResponse[WatchlistData]:
        """Return a watchlist."""
        return self.send(watchlists.watchlist(name))

    def change_watchlist(
        self, name: str, **changes: Unpack[WatchlistChanges]
    ) -> ApiResponse[WatchlistData]:
        """Change a watchlist; a new schedule starts now."""
        return self.send(watchlists.change_watchlist(name, changes))

    def delete_watchlist(self, name: str) -> ApiResponse[WatchlistDeletedData]:
        """Delete a watchlist and its runs. Observations are kept."""
        return self.send(watchlists.delete_watchlist(name))

    def run_watchlist(self, name: str) -> ApiResponse[WatchRunData]:
        """Start a run now, or return the running one."""
        return self.send(watchlists.run_watchlist(name))

    def watchlist_runs(self, name: str, *, limit: int | None = None) -> ApiResponse[WatchRunsData]:
        """Return the newest runs with their due times and outcomes."""
        return self.send(watchlists.watchlist_runs(name, limit))

    def watchlist_run(self, name: str, run_id: str) -> ApiResponse[WatchRunData]:
        """Return a run with the outcome of each entry and, once ended, its digest."""
        return self.send(watchlists.watchlist_run(name, run_id))

    def watchlist_digests(
        self, name: str, *, limit: int | None = None
    ) -> ApiResponse[WatchDigestsData]:
        """Return the digests: changes by entry with their numbers, newest first."""
        return self.send(watchlists.watchlist_digests(name, limit))

    def chart_song(self, song_key: str) -> ApiResponse[ChartSongData]:
        """Return chart positions, links with reasons, the curve of the videos, lead or lag."""
        return self.send(chart_songs.chart_song(song_key))

    def chart_links(self, *, song_key: str | None = None) -> ApiResponse[ChartLinksData]:
        """Return link decisions, including withdrawn ones, oldest first."""
        return self.send(chart_songs.chart_links(song_key))

    def link_chart_song(
        self,
        song_key: str,
        music_id: str,
        *,
        said: ChartLinkDecision,
        said_by: str | None = None,
        note: str | None = None,
    ) -> ApiResponse[ChartSongData]:
        """Link, unlink or withdraw a decision; return the updated song."""
        request = chart_songs.link_chart_song(song_key, music_id, said, said_by, note)
        return self.send(request)

    def comparison(self, comparison_id: str) -> ApiResponse[ComparisonData]:
        """Return a compared pair with its measures and limits."""
        return self.send(inspection.comparison(comparison_id))

    def job_comparisons(self, job_id: str) -> ApiResponse[ComparisonsData]:
        """Return the evidence of all pairs compared in a scan, including rejected ones."""
        return self.send(inspection.job_comparisons(job_id))

    def job_reads(self, job_id: str) -> ApiResponse[JobReadsData]:
        """Return the reads of a scan by surface and outcome, also while it runs."""
        return self.send(inspection.job_reads(job_id))

    def annotations(self, comparison_id: str) -> ApiResponse[AnnotationsData]:
        """Return the annotations of a pair, oldest first."""
        return self.send(inspection.annotations(comparison_id))

    def annotate(
        self, comparison_id: str, verdict: AnnotationVerdict, *, note: str | None = None
    ) -> ApiResponse[AnnotationsData]:
        """Annotate a pair with a user judgement. It changes no verdict."""
        return self.send(inspection.annotate(comparison_id, verdict, note))

    def series(self, kind: SeriesKind, entity_id: str) -> ApiResponse[SeriesData]:
        """Return all observations of a video, an account, or the confirmed videos of a track."""
        return self.send(inspection.series(kind, entity_id))

    def storage(self) -> ApiResponse[StorageData]:
        """Return disk usage and the requests per host today."""
        return self.send(inspection.storage())

    def doctor(self) -> ApiResponse[DoctorData]:
        """Return readiness checks and the last probe of each surface."""
        return self.send(inspection.doctor())

    def reference(self) -> ApiResponse[ReferenceData]:
        """Return all operations, parameters and errors in English and Chinese."""
        return self.send(inspection.reference())
