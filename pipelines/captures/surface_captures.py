"""Captures of surfaces for one job or request: what to read, what to store, what to reuse.

Resolving of what users enter is in `session.py`.
"""

import asyncio
import sys
from collections import Counter
from collections.abc import Callable, Collection, Coroutine, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from pipelines.captures.list_walk import FetchPage, ListWalk, ListWalkState
from pipelines.captures.recent_details import RecentDetails
from pipelines.captures.recording.capture_session import CaptureSession, SessionOptions
from pipelines.captures.recording.observations import CaptureKind, CaptureRequest
from pipelines.captures.recording.recorded_call import RecordedCall
from pipelines.captures.search_walk import SearchLimits, SearchWalk, SearchWalkState
from pipelines.captures.songs import choose_music_of_song, most_used_music, song_terms
from pipelines.platform.call_trace import open_call_trace, watch_items
from pipelines.platform.http.learned_health import HEALTH_TTL_S
from pipelines.platform.providers.provider import Provider
from pipelines.platform.reading import CapturedValue, Reading, SoundFile
from pipelines.platform.sources.rules import ANSWERED
from warehouse.control.hosts import surface_answers
from warehouse.queries.captures import read_music_of_song
from warehouse.records.coverage import SourceDecision, to_source_decisions
from warehouse.records.errors import (
    AudioUnavailableError,
    InvalidMusicInputError,
    ProviderUnsupportedError,
    UpstreamError,
)
from warehouse.records.search import SearchPage, SearchPosition
from warehouse.records.times import observed_now
from warehouse.records.videos import (
    Account,
    HashtagInfo,
    ServiceSong,
    ServiceSongList,
    Track,
    UnavailableVideo,
    VideoDetail,
    VideoPage,
)

if TYPE_CHECKING:
    from pipelines.platform.providers.music_service import MusicServicePublic

LINK_TTL_S = 30 * 24 * 3600.0  # how long the target of a link is cached
LIST_PAGE_LIMIT = 200
SONG_SEARCHES = 2  # terms that look for the music id of a song
_EXPIRED = frozenset({403, 404, 410})

type DetailOrUnavailable = VideoDetail | UnavailableVideo
type FetchList = Callable[[str, int], Coroutine[object, object, Reading[VideoPage]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureCounters:
    """What the captures of a job have spent: requests, the planner's verdicts, demo answers."""

    requests_used: int = 0
    verdicts: list[tuple[str, str, str, int]] = field(default_factory=list)
    stand_ins: int = 0


class SurfaceCaptures(CaptureSession):
    """Reads through a provider and records every attempt. Use as an async context manager.

    Raises (all reads):
        UpstreamError: The source refused or could not be reached.
        RunCancelledError: The job was cancelled.
        WarehouseError: The observations could not be stored.
    """

    def __init__(
        self,
        *,
        provider: Provider,
        sounds_dir: Path,
        songs: "MusicServicePublic | None" = None,
        link_ttl_s: float = LINK_TTL_S,
        **options: Unpack[SessionOptions],
    ) -> None:
        super().__init__(provider, **options)
        self._provider = provider
        self._songs = songs
        self._sounds_dir = sounds_dir
        self._link_ttl_s = link_ttl_s
        self._recall = RecentDetails(self._engine)
        self._read: dict[str, tuple[datetime, DetailOrUnavailable]] = {}
        self._walked: dict[tuple[str, str], str] = {}

    async def __aexit__(self, *exc: object) -> None:
        try:
            await super().__aexit__(*exc)
        finally:
            if self._songs is not None:
                await self._songs.aclose()

    def read_decisions(self) -> list[SourceDecision]:
        """Return what the planner decided about each source so far, with its latest answers."""
        known = surface_answers.read_recent(self._control, max_age_s=HEALTH_TTL_S)
        latest = {
            surface: (len(answers), sum(kind != ANSWERED for kind in answers))
            for (_, surface), answers in known.items()
        }
        return to_source_decisions(self._call_recorder.verdicts, latest)

    def counters(self) -> CaptureCounters:
        """Return what was spent so far, for a checkpoint."""
        calls = self._call_recorder
        return CaptureCounters(
            requests_used=calls.requests_used,
            verdicts=[(*name, count) for name, count in calls.verdicts.items()],
            stand_ins=calls.stand_ins,
        )

    def restore_counters(self, spent: CaptureCounters) -> None:
        """Go on counting from a checkpoint."""
        calls = self._call_recorder
        calls.requests_used = spent.requests_used
        calls.verdicts = Counter({(one, two, three): n for one, two, three, n in spent.verdicts})
        calls.stand_ins = spent.stand_ins

    @property
    def used_fallback(self) -> bool:
        """True once demo data has replaced a refused response.

        Results are then to be marked `data_provider: "mock"`; demo data is not in the warehouse.
        """
        return self._call_recorder.stand_ins > 0

    async def track(self, music_id: str) -> Track:
        """Capture the track of a music id.

        Raises:
            InvalidMusicInputError: The platform knows no such music id.
        """
        return await self._single("track", "music_info", music_id, self._provider.fetch_track)

    async def account(self, sec_uid: str) -> Account:
        """Capture an account.

        Raises:
            UnresolvedIdError: The platform knows no such account.
        """
        return await self._single("account", "user_info", sec_uid, self._provider.fetch_account)

    async def hashtag(self, ch_id: str) -> HashtagInfo:
        """Capture a hashtag.

        Raises:
            UnresolvedIdError: The platform knows no such hashtag.
        """
        return await self._single("hashtag", "hashtag_info", ch_id, self._provider.fetch_hashtag)

    async def song(self, track_id: str) -> ServiceSong:
        """Capture the page of a song of the music service.

        Raises:
            ProviderUnsupportedError: The source has no music service.
        """
        songs = self._music_service()
        request = CaptureRequest(kind="song", surface="service_track", entity_id=track_id)
        # Its audio has an expiring URL, so the page is never shared with another process.
        call = partial(songs.fetch_song, track_id)
        return (await self._call_recorder.anew(request, call)).value

    async def song_list(self, surface: str, list_id: str) -> ServiceSongList:
        """Capture the songs of a playlist, an album or an artist of the music service.

        Raises:
            ProviderUnsupportedError: The source has no music service.
        """
        songs = self._music_service()
        request = CaptureRequest(kind="song", surface=surface, entity_id=list_id)
        call = partial(songs.fetch_song_list, surface, list_id)
        return (await self._call_recorder.anew(request, call)).value

    async def song_sound(self, song: ServiceSong) -> SoundFile:
        """Download the audio of a song; the caller removes the file.

        Raises:
            AudioUnavailableError: The page has no audio, or its URL has expired.
        """
        call = partial(self._music_service().download_song, song, self._sounds_dir)
        return await self._call_recorder.sound(song.track_id, call)

    async def walk_music(
        self, music_id: str, *, limit: int, on_item: Callable[[str], None] = lambda _: None
    ) -> ListWalk:
        """Capture videos under a music id, until about `limit` are seen or the list ends.

        `on_item` is called for each video if the source reads them one by one, which may take
        minutes per page.
        """
        fetch = partial(self._page, "music_list", music_id, self._provider.fetch_music_page)
        steps = ListWalkState(limit=limit, page_limit=LIST_PAGE_LIMIT)
        with watch_items(on_item):
            return await self._walk("music_list", fetch, steps)

    async def walk_hashtag(
        self, ch_id: str, *, limit: int, pages: int = LIST_PAGE_LIMIT
    ) -> ListWalk:
        """Capture videos under a hashtag, until about `limit` are seen or the list ends."""
        fetch = partial(self._page, "hashtag_list", ch_id, self._provider.fetch_hashtag_page)
        return await self._walk("hashtag_list", fetch, ListWalkState(limit=limit, page_limit=pages))

    async def walk_user_posts(self, sec_uid: str, *, pages: int = 1, cursor: int = 0) -> ListWalk:
        """Capture posts of an account, at most `pages` pages from the platform's `cursor` on.

        Posts are newest first, except for pinned ones.
        """
        fetch = partial(self._page, "user_posts", sec_uid, self._provider.fetch_author_page)
        steps = ListWalkState(limit=sys.maxsize, page_limit=pages, cursor=cursor)
        return await self._walk("user_posts", fetch, steps)

    async def search(
        self, terms: Sequence[str], *, limits: SearchLimits, known: Collection[str] = ()
    ) -> SearchWalk:
        """Run the guest search for each term in turn, within the limits.

        A refusal is not raised: it becomes the stop reason of a term. `known` are videos already in
        the union (`read_search_union`), which do not count as new.
        """
        steps = SearchWalkState(terms, limits, known=known)
        while (wanted := steps.next_page()) is not None:
            with open_call_trace() as call_trace:
                try:
                    page = await self._search_page(*wanted)
                except (UpstreamError, ProviderUnsupportedError) as error:
                    steps.refuse(error, requests=call_trace.request_count)
                    continue
            steps.take(page, requests=call_trace.request_count)
        walk = steps.result()
        self._recall.expect(video.aweme_id for video in walk.videos)
        return walk

    async def video(self, aweme_id: str, *, max_age_s: float = 0) -> DetailOrUnavailable:
        """Capture a video with its counts, unless one observed at most `max_age_s` ago is stored.

        A stored one, or one that another process is reading, has no URLs of its sound: those are
        never stored.
        """
        request = _video_request(aweme_id)
        fresh = self._fresh(aweme_id, max_age_s)
        if fresh is not None:
            return fresh
        # What an earlier run of this job has read is taken from its journal, with its cost.
        if max_age_s > 0 and not self._call_recorder.has_recorded(request):
            known = await self._recall.find(aweme_id, max_age_s=max_age_s)
            if known is not None:
                return VideoDetail(video=known)
        found = await self._call_recorder.reading(
            request, lambda: self._provider.fetch_video(aweme_id)
        )
        self._read[aweme_id] = (found.observed_at, found.value)
        return found.value

    async def sound(self, detail: VideoDetail) -> SoundFile:
        """Download the sound of a video; its detail is read again if URLs are missing or expired.

        The caller removes the file.

        Raises:
            AudioUnavailableError: The video has no sound.
        """
        has_sound = detail.play_urls or detail.is_silent_placeholder
        if has_sound:
            try:
                return await self._download(detail)
            except AudioUnavailableError as error:
                if error.status not in _EXPIRED:
                    raise
        aweme_id = detail.video.aweme_id
        stored = RecordedCall(observed_at=detail.video.observed_at, value=detail)
        found = await self._call_recorder.anew(
            _video_request(aweme_id),
            partial(self._provider.fetch_video, aweme_id),
            before=None if has_sound else stored,
        )
        self._read[aweme_id] = (found.observed_at, found.value)
        if isinstance(found.value, UnavailableVideo):
            raise AudioUnavailableError(
                f"the video {aweme_id} is no longer available",
                surface="media",
                reason=found.value.filter_reason or found.value.reason,
            )
        return await self._download(found.value)

    def _music_service(self) -> "MusicServicePublic":
        if self._songs is None:
            raise ProviderUnsupportedError(
                "this source has no music service",
                hint="give the music id, or a link of a video that uses the track",
            )
        return self._songs

    async def account_with_handle(self, handle: str) -> str:
        """Return the `sec_user_id` of a handle."""
        fetch = self._provider.fetch_account_by_handle
        return (await self._single("account", "user_by_handle", handle, fetch)).sec_uid

    async def music_of_song(self, track_id: str) -> str:
        """Return the music id that publishes a song, from observations or by the guest search."""
        known = await asyncio.to_thread(read_music_of_song, self._engine, track_id)
        if known is not None:
            return known
        song = await self.song(track_id)
        limits = SearchLimits(page_limit=1, request_budget=SONG_SEARCHES)
        walk = await self.search(song_terms(song)[:SONG_SEARCHES], limits=limits)
        found = choose_music_of_song(song, walk.videos)
        if found is None:
            reasons = ", ".join(sorted({term.stop_reason for term in walk.terms}))
            raise InvalidMusicInputError(
                f"No public video with the song {song.title!r} of {song.artist or 'unknown'!r} "
                f"was found (search: {reasons})",
                hint="give the link of a video that uses the song, or its music id",
            )
        return found

    async def music_of_trend(self, trends_id: str) -> str:
        """Return the music id that most videos of a trend use."""
        fetch = partial(self._page, "trends_list", trends_id, self._provider.fetch_trend)
        walk = await self._walk("trends_list", fetch, ListWalkState(limit=1, page_limit=1))
        if walk.error is not None:
            raise walk.error
        music_id = most_used_music(walk.videos)
        if music_id is None:
            raise InvalidMusicInputError(
                f"The videos of the trend {trends_id} name no music",
                hint="give the music id, or the link of a video of the trend",
            )
        return music_id

    def _fresh(self, aweme_id: str, max_age_s: float) -> DetailOrUnavailable | None:
        read_at, detail = self._read.get(aweme_id, (None, None))
        if read_at is None or observed_now() - read_at >= timedelta(seconds=max_age_s):
            return None
        return detail

    async def _single[T: CapturedValue](
        self,
        kind: CaptureKind,
        surface: str,
        entity_id: str,
        fetch: Callable[[str], Coroutine[object, object, Reading[T]]],
    ) -> T:
        question = CaptureRequest(kind=kind, surface=surface, entity_id=entity_id)
        return (await self._call_recorder.reading(question, lambda: fetch(entity_id))).value

    async def _page(self, surface: str, entity_id: str, fetch: FetchList, cursor: int) -> VideoPage:
        # A cursor belongs to the surface that gave it, so only walks over the same one share pages.
        question = CaptureRequest(
            kind="list",
            surface=surface,
            entity_id=entity_id,
            cursor=cursor,
            begun_on=self._walked.get((surface, entity_id)) if cursor else None,
        )
        found = await self._call_recorder.reading(question, lambda: fetch(entity_id, cursor))
        if cursor == 0 and found.surface is not None:
            self._walked[surface, entity_id] = found.surface
            if found.is_shared:
                self._provider.resume_walk(found.surface, entity_id)
        return found.value

    async def _search_page(self, term: str, place: SearchPosition) -> SearchPage:
        question = CaptureRequest(
            kind="search",
            # The platform sends the first page of a search as a stream, later ones as single
            # documents.
            surface="search_stream" if place == SearchPosition() else "search_single",
            entity_id=term,
            cursor=place.cursor,
            place=place,
        )
        found = await self._call_recorder.reading(
            question, lambda: self._provider.fetch_search_page(term, place)
        )
        return found.value

    async def _download(self, detail: VideoDetail) -> SoundFile:
        return await self._call_recorder.sound(
            detail.video.aweme_id,
            partial(self._provider.download_sound, detail, self._sounds_dir),
        )

    async def _walk(self, surface: str, fetch: FetchPage, steps: ListWalkState) -> ListWalk:
        with open_call_trace() as call_trace:
            stop_reason = await steps.walk(fetch)
        self._recall.expect(steps.videos)
        return steps.to_walk(surface, requests=call_trace.request_count, stop_reason=stop_reason)


def _video_request(aweme_id: str) -> CaptureRequest:
    return CaptureRequest(kind="work", surface="video_page", entity_id=aweme_id)
