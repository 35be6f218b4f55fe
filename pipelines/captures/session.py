"""The captures of one job or request: what to read, what to keep, what to serve from before."""

import asyncio
import sys
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Self

from pipelines.captures.attempts import Attempt, succeeded
from pipelines.captures.booking import Booking
from pipelines.captures.cancelling import CancelWatch
from pipelines.captures.keeper import Keeper
from pipelines.captures.recall import Recall
from pipelines.captures.walk import FetchPage, Steps, Walk
from pipelines.domain.coverage import SourceCoverage
from pipelines.domain.errors import (
    AudioUnavailableError,
    InvalidMusicInputError,
)
from pipelines.domain.inputs import MusicInput, read_music_input
from pipelines.domain.records import Account, Track, UnavailableVideo, VideoDetail, VideoPage
from pipelines.upstream.providers import Provider
from pipelines.upstream.reading import Reading, SoundFile
from pipelines.upstream.trail import open_trail
from warehouse.control import ControlStore
from warehouse.engine import Engine
from warehouse.lake import Lake

LINK_TTL_S = 30 * 24 * 3600
MUSIC_PAGE_LIMIT = 200
_EXPIRED = frozenset({403, 404, 410})
_GIVE = "give the music id, or a link of another video that uses the track"

type Detail = VideoDetail | UnavailableVideo


class Captures:
    """Reads through a provider and keeps every attempt. Use as an async context manager.

    Raises (all reads):
        UpstreamError: By name, what the source answered instead of data.
        RunCancelledError: Cancelling was asked for.
        WarehouseError: What was read could not be kept.
    """

    def __init__(
        self,
        *,
        provider: Provider,
        lake: Lake,
        engine: Engine,
        control: ControlStore,
        sounds_dir: Path,
        job_id: str | None = None,
        cancelled: Callable[[], bool] = lambda: False,
        flush_every: int = 50,
    ) -> None:
        self._provider = provider
        self._control = control
        self._sounds_dir = sounds_dir
        self._recall = Recall(engine)
        self._keeper = Keeper(
            lake=lake,
            engine=engine,
            control=control,
            data_provider=provider.name,
            job_id=job_id,
            flush_every=flush_every,
        )
        self._booking = Booking(self._keeper, CancelWatch(cancelled))
        self._read: dict[str, tuple[datetime, Detail]] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exc: object) -> None:
        try:
            await self._keeper.flush()
        finally:
            await self._provider.aclose()

    @property
    def requests_used(self) -> int:
        """Requests made until now; it grows when a call ends."""
        return self._booking.requests_used

    async def flush(self) -> None:
        """Write everything observed until now."""
        await self._keeper.flush()

    async def resolve(self, text: str) -> str:
        """The music id that an id, a link or prose around a link leads to.

        Raises:
            InvalidMusicInputError: It leads to no track.
        """
        given = read_music_input(text, find_target=self._provider.find_target)
        if given.kind == "music":
            return given.value
        known = await asyncio.to_thread(self._control.recall_link, given.value)
        if known is not None and known.kind == "music":
            return known.target
        music_id = await self._follow(given)
        await asyncio.to_thread(
            self._control.remember_link, given.value, "music", music_id, ttl_s=LINK_TTL_S
        )
        return music_id

    async def track(self, music_id: str) -> Track:
        """The track under a music id.

        Raises:
            InvalidMusicInputError: The platform knows no such music id.
        """
        reading = await self._booking.reading(
            "music_info",
            music_id,
            self._provider.fetch_track(music_id),
            lambda found: succeeded(found, tracks=(found.value,)),
        )
        return reading.value

    async def account(self, sec_uid: str) -> Account:
        """The account.

        Raises:
            UnresolvedIdError: The platform knows no such account.
        """
        reading = await self._booking.reading(
            "user_info",
            sec_uid,
            self._provider.fetch_account(sec_uid),
            lambda found: succeeded(found, accounts=(found.value,)),
        )
        return reading.value

    async def walk_music(self, music_id: str, *, limit: int) -> Walk:
        """Works under a music id, until about `limit` are seen or the list ends."""
        fetch = partial(self._page, "music_list", music_id, self._provider.fetch_music_page)
        return await self._walk("music_list", fetch, limit=limit, page_limit=MUSIC_PAGE_LIMIT)

    async def walk_author(self, sec_uid: str, *, pages: int = 1) -> Walk:
        """The newest posts of an account, at most so many pages."""
        fetch = partial(self._page, "user_posts", sec_uid, self._provider.fetch_author_page)
        return await self._walk("user_posts", fetch, limit=sys.maxsize, page_limit=pages)

    async def video(self, aweme_id: str, *, max_age_s: float = 0) -> Detail:
        """A work with its counts. One observed at most `max_age_s` ago is not read again; one
        from the warehouse comes without addresses of its sound, which would have expired.
        """
        fresh = self._fresh(aweme_id, max_age_s)
        if fresh is not None:
            return fresh
        if max_age_s > 0:
            known = await self._recall.find(aweme_id, max_age_s=max_age_s)
            if known is not None:
                return VideoDetail(video=known)
        reading = await self._booking.reading(
            "video_page", aweme_id, self._provider.fetch_video(aweme_id), _noted_detail
        )
        self._read[aweme_id] = (reading.fetched_at, reading.value)
        return reading.value

    async def sound(self, detail: VideoDetail) -> SoundFile:
        """The sound of a work, read anew where its addresses are unknown or have expired. The
        file is the caller's to remove.

        Raises:
            AudioUnavailableError: There is no sound to hear.
        """
        if detail.play_urls or detail.is_silent_placeholder:
            try:
                return await self._download(detail)
            except AudioUnavailableError as error:
                if error.status not in _EXPIRED:
                    raise
        fresh = await self.video(detail.video.aweme_id)
        if isinstance(fresh, UnavailableVideo):
            raise AudioUnavailableError(
                f"the work {fresh.aweme_id} is not shown any more",
                surface="media",
                reason=fresh.filter_reason or fresh.reason,
            )
        return await self._download(fresh)

    def _fresh(self, aweme_id: str, max_age_s: float) -> Detail | None:
        read_at, detail = self._read.get(aweme_id, (None, None))
        if read_at is None or datetime.now(UTC) - read_at >= timedelta(seconds=max_age_s):
            return None
        return detail

    async def _follow(self, given: MusicInput) -> str:
        """The music id behind a short link or a video."""
        aweme_id = given.value
        if given.kind == "short":
            target = await self._booking.link(given.value, self._provider.resolve_link(given.value))
            if target.kind not in {"music", "video"}:
                raise InvalidMusicInputError(
                    f"the link leads to a {target.kind}, not to a track or a video", hint=_GIVE
                )
            if target.kind == "music":
                return target.id
            aweme_id = target.id
        detail = await self.video(aweme_id)
        if isinstance(detail, UnavailableVideo):
            raise InvalidMusicInputError(f"the video {aweme_id} is not shown to guests", hint=_GIVE)
        if detail.video.music is None:
            raise InvalidMusicInputError(f"the video {aweme_id} names no music", hint=_GIVE)
        return detail.video.music.music_id

    async def _download(self, detail: VideoDetail) -> SoundFile:
        return await self._booking.sound(
            detail.video.aweme_id, self._provider.download_sound(detail, self._sounds_dir)
        )

    async def _page(
        self,
        surface: str,
        entity_id: str,
        fetch: Callable[[str, int], Coroutine[object, object, Reading[VideoPage]]],
        cursor: int,
    ) -> VideoPage:
        def note(found: Reading[VideoPage]) -> Attempt:
            page = found.value
            return succeeded(
                found,
                cursor_in=cursor,
                cursor_out=page.cursor,
                has_more=page.has_more,
                items=tuple(video.aweme_id for video in page.videos),
                videos=page.videos,
            )

        reading = await self._booking.reading(
            surface, entity_id, fetch(entity_id, cursor), note, cursor_in=cursor
        )
        return reading.value

    async def _walk(self, surface: str, fetch: FetchPage, *, limit: int, page_limit: int) -> Walk:
        steps = Steps(limit=limit, page_limit=page_limit)
        with open_trail() as trail:
            stop_reason = await steps.walk(fetch)
        self._recall.expect(steps.videos)
        return Walk(
            videos=tuple(steps.videos.values()),
            coverage=SourceCoverage(
                surface=surface,
                requests=trail.request_count,
                pages=steps.pages,
                items=steps.items,
                new_items=len(steps.videos),
                stop_reason=stop_reason,
            ),
            error=steps.error,
        )


def _noted_detail(found: Reading[Detail]) -> Attempt:
    detail = found.value
    seen = (detail.video,) if isinstance(detail, VideoDetail) else ()
    return succeeded(found, videos=seen)
