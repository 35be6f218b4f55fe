"""Captures of the chart: its issues, and the songs of one. Recorded like every other capture.

Which issue belongs to which date is a rule of the chart history, not of reading.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Unpack

from pipelines.captures.capture import CaptureRequest
from pipelines.captures.recording import CaptureOptions, CaptureSession
from pipelines.platform.providers.provider import ChartProvider
from pipelines.platform.sources.table import Reading
from warehouse.records.charts import ChartIndex, ChartPage, ChartSong
from warehouse.records.errors import ChartUnavailableError
from warehouse.records.videos import Music, ServiceSong, Video

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

    def __init__(self, *, provider: ChartProvider, **options: Unpack[CaptureOptions]) -> None:
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


# Rules that lead from a song of the music service to videos of the platform. Pure.
#
# Names only decide where to look: which videos carry the recording is decided by audio.

LYRIC_TERMS = 2
_SHORTEST_LINE, _LONGEST_LINE = 5, 40  # letters of a lyric line that is worth a search


def song_terms(song: ServiceSong) -> tuple[str, ...]:
    """Return the search terms of a song's names: its title with and without its artist."""
    with_artist = (f"{song.title} {song.artist}",) if song.artist else ()
    return (*with_artist, song.title)


def lyric_terms(song: ServiceSong) -> tuple[str, ...]:
    """Return the lines that captions quote most: repeated ones, then the longest.

    Lines that only repeat the title are left out.
    """
    title = _folded(song.title)
    lines = [line for line in song.lyrics if _is_quotable(_folded(line), title)]
    counts = Counter(map(_folded, lines))
    first = {_folded(line): line for line in reversed(lines)}
    order = {key: place for place, key in enumerate(dict.fromkeys(map(_folded, lines)))}
    best = sorted(counts, key=lambda key: (-counts[key], -len(key), order[key]))
    return tuple(first[key] for key in best[:LYRIC_TERMS])


def choose_music_of_song(song: ServiceSong, videos: Sequence[Video]) -> str | None:
    """Return the music id of a song among videos that a search showed; None without one.

    A music id that names the song by id comes first, then the most frequent one with the same title
    and artist. User sounds are left out: they belong to their uploaders.
    """
    sounds = [video.music for video in videos if video.music is not None]
    named = [music.music_id for music in sounds if music.service_track_id == song.track_id]
    alike = [music.music_id for music in sounds if _has_names_of(music, song)]
    return _most_frequent(named) or _most_frequent(alike)


def most_used_music(videos: Sequence[Video]) -> str | None:
    """Return the music id that most videos name, the smaller one of two; None if none is named."""
    return _most_frequent(video.music.music_id for video in videos if video.music is not None)


def _has_names_of(music: Music, song: ServiceSong) -> bool:
    if music.is_original_sound or not music.title or not music.author or not song.artist:
        return False
    return (_folded(music.title), _folded(music.author)) == (
        _folded(song.title),
        _folded(song.artist),
    )


def _most_frequent(music_ids: Iterable[str]) -> str | None:
    counts = Counter(music_ids)
    return min(counts, key=lambda name: (-counts[name], name), default=None)


def _is_quotable(line: str, title: str) -> bool:
    return _SHORTEST_LINE <= len(line) <= _LONGEST_LINE and line not in title


def _folded(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).casefold()
    return "".join(char for char in plain if char.isalnum())
