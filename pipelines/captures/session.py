"""Captures of one job or request, which resolve what users enter: a track, an account, a hashtag.

Links that name their target need no request; short links and videos are followed once and then
cached.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Literal

from pipelines.captures.inputs import (
    MAX_INPUT_LENGTH,
    MusicInput,
    describe_target,
    hint_for_target,
    read_handle,
    read_music_input,
)
from pipelines.captures.surface_captures import SurfaceCaptures
from pipelines.platform.parsers.links import SEC_UID, LinkTarget
from warehouse.control import links
from warehouse.records.errors import (
    InvalidMusicInputError,
    InvalidParameterError,
    SametrackError,
    UnresolvedIdError,
)
from warehouse.records.values import is_platform_id
from warehouse.records.videos import UnavailableVideo, Video

_TRACK_HINT = "give the music id, or a link of another video that uses the track"
_USER_HINT = (
    "give the sec_user_id, @ and the handle, a link of the account, or a link of one of its videos"
)
_HASHTAG_HINT = "give the ch_id, or a link of the hashtag"

type TargetKind = Literal["music", "user", "hashtag"]


class Captures(SurfaceCaptures):
    """Captures that also resolve what users enter; what was followed is cached."""

    async def resolve(self, text: str) -> str:
        """Return the music id for an id, a link, or text around a link.

        Raises:
            InvalidMusicInputError: It leads to no track.
        """
        given = read_music_input(text, find_target=self._provider.find_target)
        if given.kind == "music":
            return given.value
        return await self._remembered("music", given.value, lambda: self._track_behind(given))

    async def resolve_user(self, text: str) -> str:
        """Return the `sec_user_id` for an id, `@` and a handle, a link, or text around a link.

        Raises:
            UnresolvedIdError: It leads to no account.
        """
        text = _trimmed(text, UnresolvedIdError, _USER_HINT)
        handle = read_handle(text)
        if handle is not None:
            return await self._remembered("user", handle, lambda: self.account_with_handle(handle))
        target = self._provider.find_target(text)
        if target is None:
            return _bare_sec_uid(text)
        if (named := _named_account(target)) is not None:
            return named
        key = target.url or target.id
        return await self._remembered("user", key, lambda: self._user_behind(target))

    async def resolve_hashtag(self, text: str) -> str:
        """Return the `ch_id` for an id, a link, or text around a link.

        Raises:
            InvalidParameterError: It leads to no hashtag.
        """
        text = _trimmed(text, InvalidParameterError, _HASHTAG_HINT)
        if is_platform_id(text):
            return text
        target = self._target(text, InvalidParameterError, _HASHTAG_HINT)
        if target.kind == "hashtag":
            return target.id
        if target.url is None:
            raise _wrong_kind(target.kind, "a hashtag", InvalidParameterError, _HASHTAG_HINT)
        url = target.url
        return await self._remembered("hashtag", url, lambda: self._hashtag_behind(url))

    async def follow_link(self, url: str) -> LinkTarget:
        """Return the target of a short link.

        Raises:
            InvalidMusicInputError: The link is dead.
        """
        return await self._call_recorder.link(url, self._provider.resolve_link(url))

    def _target(self, text: str, error: type[SametrackError], hint: str) -> LinkTarget:
        target = self._provider.find_target(text)
        if target is None:
            raise error("the text holds neither an id nor a link of the platform", hint=hint)
        return target

    async def _remembered(
        self, wanted: TargetKind, key: str, follow: Callable[[], Awaitable[str]]
    ) -> str:
        # one video link resolves to a track and to an account: separate cache keys
        key = key if wanted == "music" else f"{wanted} {key}"
        known = await asyncio.to_thread(links.read, self._control, key)
        if known is not None and known.kind == wanted:
            return known.target
        found = await follow()
        await asyncio.to_thread(
            links.save, self._control, key, wanted, found, ttl_s=self._link_ttl_s
        )
        return found

    async def _track_behind(self, given: MusicInput) -> str:
        kind: str = given.kind
        found = given.value
        if given.kind == "short":
            target = await self.follow_link(given.value)
            kind, found = target.kind, target.id
        if kind == "music":
            return found
        if kind == "service_track":
            return await self.music_of_song(found)
        if kind == "trends":
            return await self.music_of_trend(found)
        if kind != "video":
            hint = hint_for_target(kind, _TRACK_HINT)
            raise _wrong_kind(kind, "a track or a video", InvalidMusicInputError, hint)
        video = await self._work(found, InvalidMusicInputError, _TRACK_HINT)
        if video.music is None:
            raise InvalidMusicInputError(f"the video {found} names no music", hint=_TRACK_HINT)
        return video.music.music_id

    async def _user_behind(self, target: LinkTarget) -> str:
        if target.kind == "short" and target.url:
            target = await self._follow_instead(target.url, UnresolvedIdError, _USER_HINT)
            if (named := _named_account(target)) is not None:
                return named
        if target.kind != "video":
            raise _wrong_kind(target.kind, "an account or a video", UnresolvedIdError, _USER_HINT)
        video = await self._work(target.id, UnresolvedIdError, _USER_HINT)
        if video.author is None:
            raise UnresolvedIdError(f"the video {target.id} names no author", hint=_USER_HINT)
        return video.author.sec_uid

    async def _hashtag_behind(self, url: str) -> str:
        target = await self._follow_instead(url, InvalidParameterError, _HASHTAG_HINT)
        if target.kind != "hashtag":
            raise _wrong_kind(target.kind, "a hashtag", InvalidParameterError, _HASHTAG_HINT)
        return target.id

    async def _follow_instead(self, url: str, dead: type[SametrackError], hint: str) -> LinkTarget:
        """Follow a link that was given in place of another input; a dead one raises `dead`."""
        try:
            return await self.follow_link(url)
        except InvalidMusicInputError as error:
            raise dead(error.detail, hint=hint) from error

    async def _work(self, aweme_id: str, error: type[SametrackError], hint: str) -> Video:
        detail = await self.video(aweme_id)
        if isinstance(detail, UnavailableVideo):
            raise error(f"the video {aweme_id} is not visible to guests", hint=hint)
        return detail.video


def _trimmed(text: str, error: type[SametrackError], hint: str) -> str:
    text = text.strip()
    if not text or len(text) > MAX_INPUT_LENGTH:
        raise error(
            f"the input has {len(text)} characters; 1 to {MAX_INPUT_LENGTH} are read", hint=hint
        )
    return text


def _named_account(target: LinkTarget) -> str | None:
    """Return the account that a link itself names: its target, or whose page shows a video."""
    return target.id if target.kind == "user" else target.account


def _bare_sec_uid(text: str) -> str:
    found = SEC_UID.search(text)
    if found is None:
        raise UnresolvedIdError(
            "the text holds neither an id nor a link of the platform", hint=_USER_HINT
        )
    return found[0]


def _wrong_kind(kind: str, wanted: str, error: type[SametrackError], hint: str) -> SametrackError:
    return error(f"the link leads to {describe_target(kind)}, not to {wanted}", hint=hint)
