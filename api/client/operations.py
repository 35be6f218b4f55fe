"""The operations of the service, one declaration each.

The methods of both clients, the types of their responses and the table of the interface in the
reference come from here; commands and assistant tools call the methods.
"""

# A declaration has no body, because `operation` sends the request; and annotations are not
# evaluated, because the types that they name are written from this table.
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Unpack

from .connection import JOB_TIMEOUT_S
from .operation import Operation, operation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from . import answers
    from .answers import (
        AlertLanguage,
        AnnotationVerdict,
        CatalogTrackSort,
        ChartLinkDecision,
        JobStatus,
        NoteKind,
        SeriesKind,
        SharedLinkKind,
        SortBy,
    )


APP = "/api/v1/vidplat/app/v3"
WEB = "/api/v1/vidplat/web"
SEARCH = "/api/v1/vidplat/search"
JOBS = f"{APP}/music_collection_jobs"
OWN = "/api/v1/sametrack"
LISTS = f"{OWN}/watchlists"
CHANNELS = f"{OWN}/alert_channels"
CATALOGS = f"{OWN}/catalogs"
PAIR = f"{OWN}/comparisons/{{comparison_id}}"
JOB_EVENTS = f"{OWN}/jobs/{{job_id}}/events"
TRACK_NAMES = {"music": "music_id", "keywords": "search_keywords"}


class Operations:
    """All operations of the service that return data, one method each.

    Files (plots, excerpts, exports) are downloaded with a plain GET. Every method raises
    `ServiceError` for an error response and `ConnectionFailedError` if the service is unreachable.
    """

    @operation("GET", f"{WEB}/get_sec_user_id", number=1)
    def sec_user_id(self, url: str) -> answers.SecUserIdData:
        """Resolve a profile link, a short link, `@` and a handle, or text to a `sec_user_id`."""

    @operation("GET", f"{APP}/handler_user_profile", number=2)
    def user_profile(self, sec_user_id: str) -> answers.UserProfileData:
        """Return the profile of an account."""

    @operation("GET", f"{APP}/fetch_user_post_videos", number=3)
    def user_posts(
        self,
        sec_user_id: str,
        *,
        max_cursor: int | None = None,
        count: int | None = None,
        sort_type: int | None = None,
    ) -> answers.UserPostsData:
        """Return one page of the posts of an account; `sort_type` 0 newest, 1 hottest."""

    @operation("GET", f"{APP}/fetch_user_metrics", number=4)
    def user_metrics(
        self, sec_user_id: str, *, days: int | None = None, count: int | None = None
    ) -> answers.UserMetricsData:
        """Return followers, likes, and the average and best post of the last `days`."""

    @operation(
        "GET",
        f"{APP}/fetch_music_hot_videos",
        number=5,
        sent_as=TRACK_NAMES,
        timeout_s=JOB_TIMEOUT_S,
    )
    def hot_videos(
        self, music: str, *, keywords: Sequence[str] = (), **options: Unpack[answers.ScanOptions]
    ) -> answers.HotVideosData:
        """Return the stored ranking of a track, or the job that creates it (status 202)."""

    @operation("POST", f"{APP}/fetch_music_hot_videos_batch", number=6, sent_as=TRACK_NAMES)
    def hot_videos_batch(
        self,
        inputs: Sequence[str],
        *,
        keywords: Sequence[str] = (),
        **options: Unpack[answers.ScanOptions],
    ) -> answers.BatchData:
        """Return the result, the job or the error of each of up to ten tracks.

        A link to a list of songs of the music service counts as its songs.
        """

    @operation("POST", JOBS, number=7, sent_as={**TRACK_NAMES, "music": "input"})
    def create_job(
        self, music: str, *, keywords: Sequence[str] = (), **options: Unpack[answers.ScanOptions]
    ) -> answers.JobData:
        """Start a scan of a track (202), or return a stored result (200)."""

    @operation("POST", JOBS, sent_as=TRACK_NAMES, always={"search_only": True})
    def create_search_job(
        self, keyword: str, *, keywords: Sequence[str] = (), **options: Unpack[answers.ScanOptions]
    ) -> answers.JobData:
        """Start a search by the name of a song. It confirms nothing."""

    @operation("GET", f"{JOBS}/{{job_id}}", number=8, id="music_collection_job")
    def job(self, job_id: str) -> answers.JobData:
        """Return a job."""

    @operation("DELETE", f"{JOBS}/{{job_id}}", number=8, id="cancel_music_collection_job")
    def cancel_job(self, job_id: str) -> answers.JobData:
        """Cancel a job. Everything read so far is kept."""

    @operation(
        "GET",
        f"{APP}/discover_music_related_videos",
        number=9,
        sent_as=TRACK_NAMES,
        timeout_s=JOB_TIMEOUT_S,
    )
    def related_videos(
        self, music: str, **options: Unpack[answers.RelatedOptions]
    ) -> answers.RelatedVideosData:
        """Return videos related to a track, and the outcome of every candidate. Slow."""

    @operation(
        "POST",
        f"{WEB}/fetch_multi_video",
        number=10,
        id="fetch_multi_video_web",
        body="aweme_ids",
        is_safe=True,
    )
    def videos(self, aweme_ids: Sequence[str]) -> answers.VideosData:
        """Return up to 50 videos by id; unavailable ones are in `filter_list` with a reason."""

    @operation(
        "POST",
        f"{APP}/fetch_multi_video",
        number=11,
        id="fetch_multi_video_app",
        body="aweme_ids",
        is_safe=True,
    )
    def videos_v1(self, aweme_ids: Sequence[str]) -> answers.VideosData:
        """Return up to 10 videos by id, through the app endpoint."""

    @operation("GET", f"{APP}/fetch_music_video_list", number=12)
    def music_videos(
        self,
        music_id: str,
        *,
        cursor: int | None = None,
        count: int | None = None,
        refresh: bool | None = None,
    ) -> answers.MusicVideosData:
        """Return one page of the observed videos of a music id."""

    @operation("GET", f"{APP}/fetch_hashtag_video_list", number=13)
    def hashtag_videos(
        self,
        ch_id: str,
        *,
        cursor: int | None = None,
        count: int | None = None,
        sort_type: int | None = None,
        refresh: bool | None = None,
    ) -> answers.HashtagVideosData:
        """Return one page of the observed videos of a hashtag; `sort_type` 1 likes, 2 time."""

    @operation("POST", f"{SEARCH}/fetch_music_search", number=14, is_safe=True)
    def music_search(self, keyword: str) -> object:
        """Always raise `UnsupportedError`: the platform protects this search."""

    @operation("POST", f"{SEARCH}/fetch_video_search_v1", number=15, is_safe=True)
    def video_search(self, keyword: str) -> object:
        """Always raise `UnsupportedError`: the platform protects this search."""

    @operation("GET", "/api/v1/music/chartsrc/top500/history", number=16, id="chart_history")
    def chart_history(self, start_date: str, end_date: str) -> answers.ChartHistoryData:
        """Return the top 20 of one chart issue per ten days of the range (`YYYY-MM-DD`)."""

    @operation("GET", f"{OWN}/jobs")
    def jobs(
        self, *, limit: int | None = None, status: JobStatus | None = None
    ) -> answers.JobListData:
        """Return the newest jobs, without results."""

    @operation("GET", f"{OWN}/jobs/{{job_id}}/ranking")
    def job_ranking(
        self,
        job_id: str,
        *,
        count: int | None = None,
        sort_by: SortBy | None = None,
        viral_threshold: int | None = None,
        viral_only: bool | None = None,
        include_variants: bool = False,
    ) -> answers.JobRankingData:
        """Return a job with its ranking in another view. Starts no scan.

        With `include_variants`, a row with `variant_kind` is a variant, which is not confirmed.
        """

    @operation("GET", f"{OWN}/jobs/{{job_id}}/preview")
    def job_preview(self, job_id: str) -> answers.JobPreviewData:
        """Return what a running scan has confirmed so far, ranked; empty once it has ended."""

    @operation("GET", f"{OWN}/jobs/{{job_id}}/comparisons")
    def job_comparisons(self, job_id: str) -> answers.ComparisonsData:
        """Return the evidence of all pairs compared in a scan, including rejected ones."""

    @operation("GET", f"{OWN}/jobs/{{job_id}}/plots")
    def job_plots(self, job_id: str, *, viral_threshold: int | None = None) -> answers.JobPlotsData:
        """Return what the plots of a scan show: cumulative videos and likes, top creators."""

    @operation("GET", f"{OWN}/jobs/{{job_id}}/reads")
    def job_reads(self, job_id: str) -> answers.JobReadsData:
        """Return the reads of a scan by surface and outcome, also while it runs."""

    @operation("GET", LISTS)
    def watchlists(self) -> answers.WatchlistsData:
        """Return all watchlists with their last and next run."""

    @operation("POST", LISTS)
    def create_watchlist(
        self,
        name: str,
        *,
        every: str,
        entries: Sequence[answers.WatchEntryGiven],
        **options: Unpack[answers.WatchlistOptions],
    ) -> answers.WatchlistData:
        """Create a watchlist. It first runs at the next time of its schedule."""

    @operation("GET", f"{LISTS}/{{name}}")
    def watchlist(self, name: str) -> answers.WatchlistData:
        """Return a watchlist."""

    @operation("PATCH", f"{LISTS}/{{name}}")
    def change_watchlist(
        self, name: str, **changes: Unpack[answers.WatchlistChanges]
    ) -> answers.WatchlistData:
        """Change a watchlist; a new schedule starts now."""

    @operation("DELETE", f"{LISTS}/{{name}}")
    def delete_watchlist(self, name: str) -> answers.WatchlistDeletedData:
        """Delete a watchlist and its runs. Observations are kept."""

    @operation("POST", f"{LISTS}/{{name}}/runs")
    def run_watchlist(self, name: str) -> answers.WatchRunData:
        """Start a run now, or return the running one."""

    @operation("GET", f"{LISTS}/{{name}}/runs")
    def watchlist_runs(self, name: str, *, limit: int | None = None) -> answers.WatchRunsData:
        """Return the newest runs with their due times and outcomes."""

    @operation("GET", f"{LISTS}/{{name}}/runs/{{run_id}}")
    def watchlist_run(self, name: str, run_id: str) -> answers.WatchRunData:
        """Return a run with the outcome of each entry and, once ended, its digest."""

    @operation("GET", f"{LISTS}/{{name}}/digests")
    def watchlist_digests(self, name: str, *, limit: int | None = None) -> answers.WatchDigestsData:
        """Return the digests: changes by entry with their numbers, newest first."""

    @operation("GET", CHANNELS)
    def alert_channels(self) -> answers.AlertChannelsData:
        """Return all channels for alerts with their newest test, without their URLs."""

    @operation("POST", CHANNELS)
    def create_alert_channel(
        self, name: str, *, url: str, language: AlertLanguage | None = None
    ) -> answers.AlertChannelData:
        """Create a channel for alerts by its Apprise URL. Nothing is sent yet."""

    @operation("POST", f"{CHANNELS}/{{name}}/test")
    def test_alert_channel(self, name: str) -> answers.AlertChannelData:
        """Send a test message to a channel, and return how it ended."""

    @operation("DELETE", f"{CHANNELS}/{{name}}")
    def delete_alert_channel(self, name: str) -> answers.AlertChannelDeletedData:
        """Delete a channel for alerts, and what waits to be sent to it."""

    @operation("GET", CATALOGS)
    def catalogs(self) -> answers.CatalogsData:
        """Return all catalogues with the states of their tracks."""

    @operation("GET", f"{CATALOGS}/{{name}}")
    def catalog(self, name: str) -> answers.CatalogData:
        """Return where a catalogue stands: what is due, under way, and spent today."""

    @operation("GET", f"{CATALOGS}/{{name}}/tracks")
    def catalog_tracks(
        self,
        name: str,
        *,
        state: Literal["running", "failed", "fresh", "stale", "never_read"] | None = None,
        sort: CatalogTrackSort | None = None,
        descending: bool | None = None,
        cursor: int | None = None,
        limit: int | None = None,
    ) -> answers.CatalogTracksData:
        """Return a page of tracks with what all scans have found, by default as imported."""

    @operation("POST", f"{CATALOGS}/{{name}}/tracks")
    def import_tracks(
        self,
        name: str,
        *,
        inputs: Sequence[str] = (),
        rows: Sequence[Mapping[str, str]] = (),
        first_line: int = 1,
        dry_run: bool = False,
        **options: Unpack[answers.CatalogOptions],
    ) -> answers.CatalogImportData:
        """Add tracks, or update them; each line that is not imported is named."""

    @operation("DELETE", f"{CATALOGS}/{{name}}")
    def remove_catalog(self, name: str) -> answers.CatalogRemovedData:
        """Remove a catalogue. Its jobs continue; results and observations are kept."""

    @operation("POST", f"{CATALOGS}/{{name}}/runs")
    def run_catalog(self, name: str) -> answers.CatalogRunData:
        """Have workers scan what is due, until the day's budget is spent."""

    @operation("DELETE", f"{CATALOGS}/{{name}}/runs")
    def cancel_catalog(self, name: str) -> answers.CatalogCancelledData:
        """Stop the run and cancel its jobs. What was scanned is kept."""

    @operation("GET", f"{OWN}/chart/songs/{{song_key}}")
    def chart_song(self, song_key: str) -> answers.ChartSongData:
        """Return chart positions, links with reasons, the curve of the videos, lead or lag."""

    @operation("GET", f"{OWN}/chart/tracks")
    def chart_tracks(self) -> answers.ChartTracksData:
        """Return the scanned tracks of the stored chart songs, the surest of each song first."""

    @operation("GET", f"{OWN}/chart/links")
    def chart_links(self, *, song_key: str | None = None) -> answers.ChartLinksData:
        """Return link decisions, including withdrawn ones, oldest first."""

    @operation("POST", f"{OWN}/chart/links")
    def link_chart_song(
        self,
        song_key: str,
        music_id: str,
        *,
        said: ChartLinkDecision,
        said_by: str | None = None,
        note: str | None = None,
    ) -> answers.ChartSongData:
        """Link, unlink or withdraw a decision; return the updated song."""

    @operation("POST", f"{OWN}/chart/judge")
    def judge_chart(self) -> answers.ChartJudgingData:
        """Judge the links of all stored chart songs again; makes no requests to the platform."""

    @operation("GET", PAIR)
    def comparison(self, comparison_id: str) -> answers.ComparisonData:
        """Return a compared pair with its measures and limits."""

    @operation("GET", f"{PAIR}/annotations")
    def annotations(self, comparison_id: str) -> answers.AnnotationsData:
        """Return the annotations of a pair, oldest first."""

    @operation("POST", f"{PAIR}/annotations")
    def annotate(
        self, comparison_id: str, verdict: AnnotationVerdict, *, note: str | None = None
    ) -> answers.AnnotationsData:
        """Annotate a pair with a user judgement. It changes no verdict."""

    @operation("GET", f"{OWN}/notes")
    def notes(self, *, kind: NoteKind | None = None, limit: int | None = None) -> answers.NotesData:
        """Return notes and tags on tracks, videos and pairs, the newest first."""

    @operation("POST", f"{OWN}/notes", sent_as={"entity_id": "id"})
    def write_note(
        self,
        kind: NoteKind,
        entity_id: str,
        *,
        note: str | None = None,
        tags: Sequence[str] = (),
    ) -> answers.NoteData:
        """Replace the note and the tags of something; without both they are deleted."""

    @operation("POST", f"{OWN}/shared", sent_as={"entity_id": "id"})
    def create_shared_link(
        self, entity_id: str, *, kind: SharedLinkKind | None = None, days: int | None = None
    ) -> answers.SharedLinkData:
        """Create a read-only link to the result of a job, or with `kind` to the page of a track.

        Without `days` it lasts 30.
        """

    @operation("GET", f"{OWN}/shared", sent_as={"entity_id": "id"})
    def shared_links(
        self, *, kind: SharedLinkKind | None = None, entity_id: str | None = None
    ) -> answers.SharedLinksData:
        """Return the valid read-only links, newest first: all, or those to one thing."""

    @operation("DELETE", f"{OWN}/shared/{{link_id}}")
    def revoke_shared_link(self, link_id: str) -> answers.SharedLinkRevokedData:
        """End a read-only link at once."""

    @operation("GET", f"{OWN}/series/{{kind}}/{{entity_id}}")
    def series(self, kind: SeriesKind, entity_id: str) -> answers.SeriesData:
        """Return all observations of a video, an account, or the confirmed videos of a track."""

    @operation("GET", f"{OWN}/tracks/{{music_id}}", id="track")
    def track(self, music_id: str) -> answers.TrackData:
        """Return what is stored of a track: usage count, scans, creators, regions, variants."""

    @operation("GET", f"{OWN}/storage")
    def storage(self) -> answers.StorageData:
        """Return disk usage and the requests per host today."""

    @operation("GET", f"{OWN}/queries")
    def queries(self) -> answers.QueriesData:
        """Return the library of named queries with their parameters."""

    @operation("GET", f"{OWN}/tables")
    def tables(self) -> answers.TablesData:
        """Return the tables that a statement can read, with their columns."""

    @operation("POST", f"{OWN}/sql", timeout_s=JOB_TIMEOUT_S)
    def sql(
        self,
        sql: str | None = None,
        *,
        query: str | None = None,
        parameters: Mapping[str, str | float | None] | None = None,
        as_of: str | None = None,
        row_limit: int | None = None,
    ) -> answers.SqlData:
        """Run one read-only statement, or a named query, and return its first rows."""

    @operation("GET", f"{OWN}/doctor")
    def doctor(self) -> answers.DoctorData:
        """Return readiness checks and the last probe of each surface."""

    @operation("GET", f"{OWN}/settings")
    def settings(self) -> answers.SettingsData:
        """Return every setting of the service, its value and where it comes from."""

    @operation("GET", f"{OWN}/example")
    def example(self) -> answers.ExampleData:
        """Return a track of the current world to begin with."""

    @operation("GET", f"{OWN}/reference")
    def reference(self) -> answers.ReferenceData:
        """Return all operations, parameters and errors in English and Chinese."""


OPERATIONS = tuple(value for value in vars(Operations).values() if isinstance(value, Operation))
