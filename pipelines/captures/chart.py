"""Captures of the chart: its issues, and the songs of one. Recorded like every other capture.

Which issue belongs to which date is a rule of the chart history, not of reading.
"""

from datetime import date
from typing import Unpack

from pipelines.captures.capture import CaptureRequest
from pipelines.captures.recording import CaptureSession, SessionOptions
from pipelines.platform.providers.provider import ChartProvider
from pipelines.platform.reading import Reading
from warehouse.records.charts import ChartIndex, ChartPage, ChartSong
from warehouse.records.errors import ChartUnavailableError

LATEST = "latest"
CHART_SIZE = 500
_PAGE_LIMIT = 40  # the smallest pages have 22 songs


class ChartCaptures(CaptureSession):
    """Reads through a chart provider and records every call. An async context manager.

    Raises (all reads):
        ChartUnavailableError: The source refuses, or returned another issue.
        UpstreamError: The source could not be reached.
        RunCancelledError: The job was cancelled.
        WarehouseError: The observations could not be stored.
    """

    def __init__(self, *, provider: ChartProvider, **options: Unpack[SessionOptions]) -> None:
        super().__init__(provider, **options)
        self._provider = provider

    async def issues(self) -> ChartIndex:
        """Capture all issues that the source lists."""
        request = CaptureRequest(kind="issues", surface="chart_issues", entity_id="all")
        return (await self._capture(request, self._provider.fetch_issues)).result

    async def songs(
        self, volid: str | None, *, chart_date: date | None = None, limit: int = 20
    ) -> ChartPage:
        """Capture the first songs of an issue as one page, `limit` at most.

        Args:
            volid: The issue; None for the latest.
            chart_date: Its date in the list of issues; a page with another date is refused.
            limit: Number of songs, up to the size of the chart.
        """
        first = await self._page(volid, 1, chart_date)
        songs: dict[int, ChartSong] = {song.rank: song for song in first.songs}
        song_count = min(limit, first.total or CHART_SIZE)
        for page in range(2, _PAGE_LIMIT + 1):
            if len(songs) >= song_count:
                break
            following = await self._page(volid, page, chart_date)
            fresh = {song.rank: song for song in following.songs if song.rank not in songs}
            # A page without a new rank is the end, or the same page again.
            if not fresh:
                break
            songs |= fresh
        ranked = tuple(songs[rank] for rank in sorted(songs))[:limit]
        return ChartPage(
            songs=ranked,
            surface=first.surface,
            observed_at=first.observed_at,
            page=1,
            volid=first.volid or volid,
            chart_date=first.chart_date or chart_date,
            total=first.total,
        )

    async def _page(self, volid: str | None, page: int, chart_date: date | None) -> ChartPage:
        request = CaptureRequest(
            kind="songs",
            surface="chart_songs",
            entity_id=volid or LATEST,
            cursor=page,
            volid=volid,
        )

        async def fetch() -> Reading[ChartPage]:
            """Check the issue of a page before it is recorded as an observation of it."""
            reading = await self._provider.fetch_songs(volid, page)
            songs = reading.value
            if volid is not None and songs.volid not in {None, volid}:
                raise _other_issue(f"got issue {songs.volid}, not {volid}", reading)
            if chart_date is not None and songs.chart_date not in {None, chart_date}:
                raise _other_issue(f"got songs of {songs.chart_date}, not of {chart_date}", reading)
            return reading

        return (await self._capture(request, fetch)).result


def _other_issue(what: str, reading: Reading[ChartPage]) -> ChartUnavailableError:
    return ChartUnavailableError(
        what,
        surface=reading.surface,
        reason="other_issue",
        status=reading.http_status,
    )
