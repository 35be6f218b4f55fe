"""Captures of one job or request: what to read, what to reuse, and whom an input names.

A read goes through a provider and is recorded (`recording.py`). Links that name their target need
no request; short links and videos are followed once and then cached.
"""

import asyncio
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Coroutine, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Unpack

from pipelines.captures import inputs, walks
from pipelines.captures.capture import Capture, CaptureKind, CaptureRequest
from pipelines.captures.chart import choose_music_of_song, most_used_music, song_terms
from pipelines.captures.recording import CaptureOptions, CaptureSession
from pipelines.captures.stored_captures import RecentDetails
from pipelines.platform.call_trace import open_call_trace, watch_items
from pipelines.platform.http.circuit_breaker import HEALTH_TTL_S
from pipelines.platform.parsers.links import SEC_UID, LinkTarget
from pipelines.platform.providers.provider import Provider
from pipelines.platform.sources.rules import ANSWERED
from pipelines.platform.sources.table import CapturedValue, DetailOrUnavailable, Reading, SoundFile
from warehouse.control import hosts, links
from warehouse.queries.captures import read_music_of_song
from warehouse.records import errors, videos
from warehouse.records.coverage import SourceDecision, to_source_decisions
from warehouse.records.search import SearchPage, SearchPosition
from warehouse.records.times import observed_now
from warehouse.records.values import is_platform_id

if TYPE_CHECKING:
    from pipelines.platform.providers.music_service import MusicServicePublic

LINK_TTL_S = 30 * 24 * 3600.0  # how long the target of a link is cached
LIST_PAGE_LIMIT = 200
SONG_SEARCHES = 2  # terms that look for the music id of a song
_EXPIRED = frozenset({403, 404, 410})
_TRACK_HINT = "give the music id, or a link of another video that uses the track"
_USER_HINT = (
    "give the sec_user_id, the handle, a link of the account, or a link of one of its videos"
)
_HASHTAG_HINT = "give the ch_id, or a link of the hashtag"

type FetchList = Callable[[str, int], Coroutine[object, object, Reading[videos.VideoPage]]]
type TargetKind = Literal["music", "user", "hashtag"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureCounters:
    """What the captures of a job have spent: requests, the planner's verdicts, demo answers.

    Checkpoints store these names; `stand_ins` is `fallback_count`.
    """

    requests_used: int = 0
    verdicts: list[tuple[str, str, str, int]] = field(default_factory=list)
    stand_ins: int = 0


class Captures(CaptureSession):
    """Reads through a provider and records every call. Use as an async context manager.

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
        **options: Unpack[CaptureOptions],
    ) -> None:
        sources = (provider,) if songs is None else (provider, songs)
        super().__init__(*sources, **options)
        self._provider = provider
        self._songs = songs
        self._sounds_dir = sounds_dir
        self._link_ttl_s = link_ttl_s
        self._recent = RecentDetails(self._engine)
        self._details: dict[str, tuple[datetime, DetailOrUnavailable]] = {}
        self._walked: dict[tuple[str, str], str] = {}

    # What was spent, and where answers came from

    def read_decisions(self) -> list[SourceDecision]:
        """Return what the planner decided about each source so far, with its latest answers."""
        recent = hosts.recent_answers(self._control, max_age_s=HEALTH_TTL_S)
        latest = {
            surface: (len(answers), sum(kind != ANSWERED for kind in answers))
            for (_, surface), answers in recent.items()
        }
        return to_source_decisions(self.verdicts, latest)

    def counters(self) -> CaptureCounters:
        """Return what was spent so far, for a checkpoint."""
        return CaptureCounters(
            requests_used=self.requests_used,
            verdicts=[(*names, count) for names, count in self.verdicts.items()],
            stand_ins=self.fallback_count,
        )

    def restore_counters(self, spent: CaptureCounters) -> None:
        """Go on counting from a checkpoint."""
        self.requests_used = spent.requests_used
        self.verdicts = Counter(
            {
                (question, surface, verdict): count
                for question, surface, verdict, count in spent.verdicts
            }
        )
        self.fallback_count = spent.stand_ins

    # Single entities

    async def track(self, music_id: str) -> videos.Track:
        """Capture the track of a music id.

        Raises:
            InvalidMusicInputError: The platform knows no such music id.
        """
        return await self._entity("track", "music_info", music_id, self._provider.fetch_track)

    async def account(self, sec_uid: str) -> videos.Account:
        """Capture an account.

        Raises:
            UnresolvedIdError: The platform knows no such account.
        """
        return await self._entity("account", "user_info", sec_uid, self._provider.fetch_account)

    async def account_with_handle(self, handle: str) -> str:
        """Return the `sec_user_id` of a handle."""
        fetch = self._provider.fetch_account_by_handle
        return (await self._entity("account", "user_by_handle", handle, fetch)).sec_uid

    async def hashtag(self, ch_id: str) -> videos.HashtagInfo:
        """Capture a hashtag.

        Raises:
            UnresolvedIdError: The platform knows no such hashtag.
        """
        return await self._entity("hashtag", "hashtag_info", ch_id, self._provider.fetch_hashtag)

    async def _entity[T: CapturedValue](
        self,
        kind: CaptureKind,
        surface: str,
        entity_id: str,
        fetch: Callable[[str], Coroutine[object, object, Reading[T]]],
    ) -> T:
        request = CaptureRequest(kind=kind, surface=surface, entity_id=entity_id)
        return (await self._capture(request, lambda: fetch(entity_id))).result

    # The music service

    async def song(self, track_id: str) -> videos.ServiceSong:
        """Capture the page of a song of the music service.

        Raises:
            ProviderUnsupportedError: The source has no music service.
        """
        songs = self._music_service()
        request = CaptureRequest(kind="song", surface="service_track", entity_id=track_id)
        # Its audio has an expiring URL, so the page is never shared with another process.
        return (await self._capture_anew(request, lambda: songs.fetch_song(track_id))).result

    async def song_list(self, surface: str, list_id: str) -> videos.ServiceSongList:
        """Capture the songs of a playlist, an album or an artist of the music service.

        Raises:
            ProviderUnsupportedError: The source has no music service.
        """
        songs = self._music_service()
        request = CaptureRequest(kind="song", surface=surface, entity_id=list_id)
        capture = await self._capture_anew(request, lambda: songs.fetch_song_list(surface, list_id))
        return capture.result

    async def song_sound(self, song: videos.ServiceSong) -> SoundFile:
        """Download the audio of a song; the caller removes the file.

        Raises:
            AudioUnavailableError: The page has no audio, or its URL has expired.
        """
        songs = self._music_service()
        return await self._capture_sound(
            song.track_id, lambda: songs.download_song(song, self._sounds_dir)
        )

    def _music_service(self) -> "MusicServicePublic":
        if self._songs is None:
            raise errors.ProviderUnsupportedError(
                "this source has no music service",
                hint="give the music id, or a link of a video that uses the track",
            )
        return self._songs

    # Lists, page by page

    async def walk_music(
        self, music_id: str, *, limit: int, on_item: Callable[[str], None] = lambda _: None
    ) -> walks.ListWalk:
        """Capture videos under a music id, until about `limit` are seen or the list ends.

        `on_item` is called for each video if the source reads them one by one, which may take
        minutes per page.
        """
        fetch = partial(self._capture_page, "music_list", music_id, self._provider.fetch_music_page)
        steps = walks.ListWalkState(limit=limit, page_limit=LIST_PAGE_LIMIT)
        with watch_items(on_item):
            return await steps.walk("music_list", fetch)

    async def walk_hashtag(
        self, ch_id: str, *, limit: int, pages: int = LIST_PAGE_LIMIT
    ) -> walks.ListWalk:
        """Capture videos under a hashtag, until about `limit` are seen or the list ends."""
        fetch = partial(
            self._capture_page, "hashtag_list", ch_id, self._provider.fetch_hashtag_page
        )
        steps = walks.ListWalkState(limit=limit, page_limit=pages)
        return await steps.walk("hashtag_list", fetch)

    async def walk_user_posts(
        self, sec_uid: str, *, pages: int = 1, cursor: int = 0
    ) -> walks.ListWalk:
        """Capture posts of an account, at most `pages` pages from the platform's `cursor` on.

        Posts are newest first, except for pinned ones.
        """
        fetch = partial(self._capture_page, "user_posts", sec_uid, self._provider.fetch_author_page)
        steps = walks.ListWalkState(limit=sys.maxsize, page_limit=pages, cursor=cursor)
        return await steps.walk("user_posts", fetch)

    async def _capture_page(
        self, surface: str, entity_id: str, fetch: FetchList, cursor: int
    ) -> videos.VideoPage:
        """Capture the page of a list at a cursor."""
        # A cursor belongs to the surface that gave it, so only walks over the same one share pages.
        request = CaptureRequest(
            kind="list",
            surface=surface,
            entity_id=entity_id,
            cursor=cursor,
            begun_on=self._walked.get((surface, entity_id)) if cursor else None,
        )
        capture = await self._capture(request, lambda: fetch(entity_id, cursor))
        if cursor == 0 and not capture.is_fallback:
            self._walked[surface, entity_id] = capture.surface
            if capture.is_shared:
                self._provider.resume_walk(capture.surface, entity_id)
        self._recent.expected.update(video.aweme_id for video in capture.result.videos)
        return capture.result

    async def search(
        self, terms: Sequence[str], *, limits: walks.SearchLimits, known: Collection[str] = ()
    ) -> walks.SearchWalk:
        """Run the guest search for each term in turn, within the limits.

        A refusal is not raised: it becomes the stop reason of a term. `known` are videos already in
        the union (`read_search_union`), which do not count as new.
        """
        steps = walks.SearchWalkState(terms, limits, known=known)
        while (next_page := steps.next_page()) is not None:
            with open_call_trace() as call_trace:
                try:
                    page = await self._search_page(*next_page)
                except (errors.UpstreamError, errors.ProviderUnsupportedError) as error:
                    steps.refuse(error, requests=call_trace.request_count)
                    continue
            steps.take(page, requests=call_trace.request_count)
        walk = steps.result()
        self._recent.expected.update(video.aweme_id for video in walk.videos)
        return walk

    async def _search_page(self, term: str, place: SearchPosition) -> SearchPage:
        request = CaptureRequest(
            kind="search",
            # The platform sends the first page of a search as a stream, later ones as single
            # documents.
            surface="search_stream" if place == SearchPosition() else "search_single",
            entity_id=term,
            cursor=place.cursor,
            place=place,
        )
        capture = await self._capture(
            request, lambda: self._provider.fetch_search_page(term, place)
        )
        return capture.result

    # Videos and their sounds

    async def video(self, aweme_id: str, *, max_age_s: float = 0) -> DetailOrUnavailable:
        """Capture a video with its counts, unless one observed at most `max_age_s` ago is stored.

        A stored one, or one that another process is reading, has no URLs of its sound: those are
        never stored.
        """
        request = CaptureRequest(kind="work", surface="video_page", entity_id=aweme_id)
        if aweme_id in self._details:
            read_at, detail = self._details[aweme_id]
            if observed_now() - read_at < timedelta(seconds=max_age_s):
                return detail
        # What an earlier run of this job has read is taken from its journal, with its cost.
        if max_age_s > 0 and not self._has_journalled(request):
            stored = await self._recent.find(aweme_id, max_age_s=max_age_s)
            if stored is not None:
                return stored
        capture = await self._capture(request, lambda: self._provider.fetch_video(aweme_id))
        self._details[aweme_id] = (capture.observed_at, capture.result)
        return capture.result

    async def sound(self, video: videos.Video) -> SoundFile:
        """Download the sound of a video; its page is read again if URLs are missing or expired.

        The caller removes the file.

        Raises:
            AudioUnavailableError: The video has no sound.
        """
        has_sound = video.sound is not None and bool(video.sound.urls or video.is_silent)
        if has_sound:
            try:
                return await self._download(video)
            except errors.AudioUnavailableError as error:
                if error.status not in _EXPIRED:
                    raise
        aweme_id = video.aweme_id
        request = CaptureRequest(kind="work", surface="video_page", entity_id=aweme_id)
        stored: Capture[DetailOrUnavailable] = Capture(
            request=request,
            surface=request.surface,
            observed_at=video.observed_at,
            value=video,
            capture_id=None,
        )
        capture = await self._capture_anew(
            request,
            lambda: self._provider.fetch_video(aweme_id),
            before=None if has_sound else stored,
        )
        self._details[aweme_id] = (capture.observed_at, capture.result)
        if isinstance(capture.result, videos.Unavailability):
            raise errors.AudioUnavailableError(
                f"the video {aweme_id} is no longer available",
                surface="media",
                reason=capture.result.filter_reason or capture.result.reason,
            )
        return await self._download(capture.result)

    async def _download(self, video: videos.Video) -> SoundFile:
        return await self._capture_sound(
            video.aweme_id,
            lambda: self._provider.download_sound(video, self._sounds_dir),
        )

    # What users enter

    async def resolve(self, text: str) -> str:
        """Return the music id for an id, a link, or text around a link.

        Raises:
            InvalidMusicInputError: It leads to no track.
        """
        music = inputs.read_music_input(text, find_target=self._provider.find_target)
        if music.kind == "music":
            return music.value
        return await self._cached_target("music", music.value, lambda: self._music_behind(music))

    async def resolve_user(self, text: str) -> str:
        """Return the `sec_user_id` for an id, a handle, a link, or text around an id or a link.

        Raises:
            UnresolvedIdError: It leads to no account.
        """
        text = _trimmed(text, errors.UnresolvedIdError, _USER_HINT)
        target = self._provider.find_target(text)
        if target is None:
            # An id first: it has the form of a handle, too.
            bare, handle = SEC_UID.search(text), inputs.read_handle(text)
            if bare is not None:
                return bare[0]
            if handle is None:
                raise _no_target(errors.UnresolvedIdError, _USER_HINT)
            return await self._cached_target(
                "user", handle, lambda: self.account_with_handle(handle)
            )
        if (sec_uid := _named_account(target)) is not None:
            return sec_uid
        key = target.url or target.id
        return await self._cached_target("user", key, lambda: self._user_behind(target))

    async def resolve_hashtag(self, text: str) -> str:
        """Return the `ch_id` for an id, a link, or text around a link.

        Raises:
            InvalidParameterError: It leads to no hashtag.
        """
        text = _trimmed(text, errors.InvalidParameterError, _HASHTAG_HINT)
        if is_platform_id(text):
            return text
        target = self._provider.find_target(text)
        if target is None:
            raise _no_target(errors.InvalidParameterError, _HASHTAG_HINT)
        if target.kind == "hashtag":
            return target.id
        if target.url is None:
            raise _wrong_kind(target.kind, "a hashtag", errors.InvalidParameterError, _HASHTAG_HINT)
        url = target.url

        async def follow() -> str:
            behind = await self._follow(url, errors.InvalidParameterError, _HASHTAG_HINT)
            if behind.kind != "hashtag":
                raise _wrong_kind(
                    behind.kind, "a hashtag", errors.InvalidParameterError, _HASHTAG_HINT
                )
            return behind.id

        return await self._cached_target("hashtag", url, follow)

    async def follow_link(self, url: str) -> LinkTarget:
        """Return the target of a short link.

        Raises:
            InvalidMusicInputError: The link is dead.
        """
        return await self._capture_link(url, self._provider.resolve_link(url))

    async def music_of_song(self, track_id: str) -> str:
        """Return the music id that publishes a song, from observations or by the guest search."""
        observed = await asyncio.to_thread(read_music_of_song, self._engine, track_id)
        if observed is not None:
            return observed
        song = await self.song(track_id)
        limits = walks.SearchLimits(page_limit=1, request_budget=SONG_SEARCHES)
        walk = await self.search(song_terms(song)[:SONG_SEARCHES], limits=limits)
        music_id = choose_music_of_song(song, walk.videos)
        if music_id is None:
            reasons = ", ".join(sorted({term.stop_reason for term in walk.terms}))
            raise errors.InvalidMusicInputError(
                f"No public video with the song {song.title!r} of {song.artist or 'unknown'!r} "
                f"was found (search: {reasons})",
                hint="give the link of a video that uses the song, or its music id",
            )
        return music_id

    async def music_of_trend(self, trends_id: str) -> str:
        """Return the music id that most videos of a trend use."""
        fetch = partial(self._capture_page, "trends_list", trends_id, self._provider.fetch_trend)
        steps = walks.ListWalkState(limit=1, page_limit=1)
        walk = await steps.walk("trends_list", fetch)
        if walk.error is not None:
            raise walk.error
        music_id = most_used_music(walk.videos)
        if music_id is None:
            raise errors.InvalidMusicInputError(
                f"The videos of the trend {trends_id} name no music",
                hint="give the music id, or the link of a video of the trend",
            )
        return music_id

    async def _cached_target(
        self, kind: TargetKind, key: str, follow: Callable[[], Awaitable[str]]
    ) -> str:
        """Return the id behind an input, followed once in `link_ttl_s` seconds."""
        # one video link resolves to a track and to an account: separate cache keys
        key = key if kind == "music" else f"{kind} {key}"
        stored = await asyncio.to_thread(links.read, self._control, key)
        if stored is not None and stored.kind == kind:
            return stored.target
        target = await follow()
        await asyncio.to_thread(
            links.save, self._control, key, kind, target, ttl_s=self._link_ttl_s
        )
        return target

    async def _music_behind(self, music: inputs.MusicInput) -> str:
        kind, target_id = str(music.kind), music.value
        if kind == "short":
            target = await self.follow_link(target_id)
            kind, target_id = target.kind, target.id
        match kind:
            case "music":
                return target_id
            case "service_track":
                return await self.music_of_song(target_id)
            case "trends":
                return await self.music_of_trend(target_id)
            case "video":
                video = await self._visible_video(
                    target_id, errors.InvalidMusicInputError, _TRACK_HINT
                )
                if video.music is None:
                    raise errors.InvalidMusicInputError(
                        f"the video {target_id} names no music", hint=_TRACK_HINT
                    )
                return video.music.music_id
        hint = inputs.hint_for_target(kind, _TRACK_HINT)
        raise _wrong_kind(kind, "a track or a video", errors.InvalidMusicInputError, hint)

    async def _user_behind(self, target: LinkTarget) -> str:
        if target.kind == "short" and target.url:
            target = await self._follow(target.url, errors.UnresolvedIdError, _USER_HINT)
            if (sec_uid := _named_account(target)) is not None:
                return sec_uid
        if target.kind != "video":
            raise _wrong_kind(
                target.kind, "an account or a video", errors.UnresolvedIdError, _USER_HINT
            )
        video = await self._visible_video(target.id, errors.UnresolvedIdError, _USER_HINT)
        if video.author is None:
            raise errors.UnresolvedIdError(
                f"the video {target.id} names no author", hint=_USER_HINT
            )
        return video.author.sec_uid

    async def _follow(self, url: str, dead: type[errors.SametrackError], hint: str) -> LinkTarget:
        """Follow a link that was given in place of another input; a dead one raises `dead`."""
        try:
            return await self.follow_link(url)
        except errors.InvalidMusicInputError as error:
            raise dead(error.detail, hint=hint) from error

    async def _visible_video(
        self, aweme_id: str, error: type[errors.SametrackError], hint: str
    ) -> videos.Video:
        detail = await self.video(aweme_id)
        if isinstance(detail, videos.Unavailability):
            raise error(f"the video {aweme_id} is not visible to guests", hint=hint)
        return detail


def _trimmed(text: str, error: type[errors.SametrackError], hint: str) -> str:
    text = text.strip()
    if not text or len(text) > inputs.MAX_INPUT_LENGTH:
        raise error(
            f"the input has {len(text)} characters; 1 to {inputs.MAX_INPUT_LENGTH} are read",
            hint=hint,
        )
    return text


def _named_account(target: LinkTarget) -> str | None:
    """Return the account that a link itself names: its target, or whose page shows a video."""
    return target.id if target.kind == "user" else target.account


def _no_target(error: type[errors.SametrackError], hint: str) -> errors.SametrackError:
    return error("the text holds neither an id nor a link of the platform", hint=hint)


def _wrong_kind(
    kind: str, expected: str, error: type[errors.SametrackError], hint: str
) -> errors.SametrackError:
    return error(f"the link leads to {inputs.describe_target(kind)}, not to {expected}", hint=hint)
