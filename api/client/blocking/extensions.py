"""The service's own operations: a part of the client that waits for its answers.

Written by `make docs` from `awaiting/extensions.py`.
"""

from collections.abc import Sequence
from typing import Unpack

from ..requests import chart_songs as charting
from ..requests import inspection as looking
from ..requests import watchlists as watching
from ..requests.chart_songs import ChartSaid
from ..requests.inspection import Heard, SeriesKind
from ..requests.watchlists import WatchEntryGiven, WatchlistChanges, WatchlistOptions
from ..responses import Answer
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
    """Watchlists, the chart beside the platform, evidence, counts over time, the service itself."""

    def watchlists(self) -> Answer[WatchlistsData]:
        """All watchlists, each with its last run and its next due time."""
        return self.send(watching.watchlists())

    def create_watchlist(
        self,
        name: str,
        *,
        every: str,
        entries: Sequence[WatchEntryGiven],
        **options: Unpack[WatchlistOptions],
    ) -> Answer[WatchlistData]:
        """Keep a new watchlist; it is due first at the next time of its rhythm."""
        return self.send(watching.create_watchlist(name, every, entries, options))

    def watchlist(self, name: str) -> Answer[WatchlistData]:
        """One watchlist as it is kept."""
        return self.send(watching.watchlist(name))

    def change_watchlist(
        self, name: str, **changes: Unpack[WatchlistChanges]
    ) -> Answer[WatchlistData]:
        """Replace what is given; a new rhythm begins now."""
        return self.send(watching.change_watchlist(name, changes))

    def delete_watchlist(self, name: str) -> Answer[WatchlistDeletedData]:
        """Forget a watchlist and its runs; what was observed stays."""
        return self.send(watching.delete_watchlist(name))

    def run_watchlist(self, name: str) -> Answer[WatchRunData]:
        """A run outside the rhythm, or the one that is going on."""
        return self.send(watching.run_watchlist(name))

    def watchlist_runs(self, name: str, *, limit: int | None = None) -> Answer[WatchRunsData]:
        """The newest runs: when they were due, how they ended."""
        return self.send(watching.watchlist_runs(name, limit))

    def watchlist_run(self, name: str, run_id: str) -> Answer[WatchRunData]:
        """A run with what became of each entry and, once ended, its digest."""
        return self.send(watching.watchlist_run(name, run_id))

    def watchlist_digests(self, name: str, *, limit: int | None = None) -> Answer[WatchDigestsData]:
        """What changed, by entry, with the numbers behind it; newest first."""
        return self.send(watching.watchlist_digests(name, limit))

    def chart_song(self, song_key: str) -> Answer[ChartSongData]:
        """A song's places, its links to music ids with reasons, its works' curve, lead or lag."""
        return self.send(charting.chart_song(song_key))

    def chart_links(self, *, song_key: str | None = None) -> Answer[ChartLinksData]:
        """What people said of songs and music ids, withdrawn statements too, oldest first."""
        return self.send(charting.chart_links(song_key))

    def link_chart_song(
        self,
        song_key: str,
        music_id: str,
        *,
        said: ChartSaid,
        said_by: str | None = None,
        note: str | None = None,
    ) -> Answer[ChartSongData]:
        """Say that a song is a music id or is not, or take that back; the song as it stands now."""
        ask = charting.link_chart_song(song_key, music_id, said, said_by, note)
        return self.send(ask)

    def comparison(self, comparison_id: str) -> Answer[ComparisonData]:
        """A compared pair: what was measured, against which limits."""
        return self.send(looking.comparison(comparison_id))

    def job_comparisons(self, job_id: str) -> Answer[ComparisonsData]:
        """The evidence of every pair that a scan compared, rejected ones too."""
        return self.send(looking.job_comparisons(job_id))

    def job_reads(self, job_id: str) -> Answer[JobReadsData]:
        """Reads by surface and outcome, while a scan goes on and after it."""
        return self.send(looking.job_reads(job_id))

    def annotations(self, comparison_id: str) -> Answer[AnnotationsData]:
        """Everything that people said of a pair, oldest first."""
        return self.send(looking.annotations(comparison_id))

    def annotate(
        self, comparison_id: str, verdict: Heard, *, note: str | None = None
    ) -> Answer[AnnotationsData]:
        """Keep what a person heard, beside the evidence; it changes no verdict."""
        return self.send(looking.annotate(comparison_id, verdict, note))

    def series(self, kind: SeriesKind, entity_id: str) -> Answer[SeriesData]:
        """Every observation of a work, an account, or the confirmed works of a track."""
        return self.send(looking.series(kind, entity_id))

    def storage(self) -> Answer[StorageData]:
        """How much room the stores take, and what was asked of each host today."""
        return self.send(looking.storage())

    def doctor(self) -> Answer[DoctorData]:
        """What the service needs, and how each surface fared when it was last probed."""
        return self.send(looking.doctor())

    def reference(self) -> Answer[ReferenceData]:
        """Every operation with its parameters, every error, in English and Chinese."""
        return self.send(looking.reference())
