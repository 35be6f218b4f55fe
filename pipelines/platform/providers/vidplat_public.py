"""The public surfaces that need no signature and no account, read as any guest reads them.

Here is which surface answers which question, and which one stands in where the policy of a refusal
(`refusals.py`) allows another source. What an answer means is in `vidplat/`.
"""

from pathlib import Path

from pipelines.platform.call_trace import Answer, open_trail
from pipelines.platform.http.client import Ask, GuestClient
from pipelines.platform.http.download import download_sound
from pipelines.platform.parsers.accounts import parse_account_page, parse_user_info
from pipelines.platform.parsers.hashtags import parse_hashtag_info
from pipelines.platform.parsers.links import LinkTarget
from pipelines.platform.parsers.lists import (
    parse_hashtag_list,
    parse_music_list,
    parse_slides_info,
    parse_user_page,
    parse_user_posts,
)
from pipelines.platform.parsers.music import parse_music_info
from pipelines.platform.parsers.pages import parse_work_page
from pipelines.platform.parsers.search import parse_search_single, parse_search_stream
from pipelines.platform.reading import Reading, SoundFile
from pipelines.platform.refusal_table import Policy, allows
from pipelines.platform.surfaces import Surfaces, with_requests
from warehouse.records.errors import (
    EmptyAnswerError,
    InvalidMusicInputError,
    PageWithoutDataError,
    StructureChangedError,
    SubstitutionError,
    UpstreamError,
)
from warehouse.records.search import SearchPage, SearchPlace
from warehouse.records.videos import (
    Account,
    HashtagInfo,
    Track,
    UnavailableVideo,
    VideoDetail,
    VideoPage,
)

PAGE_SIZE = "20"
SHELLS_IN_A_ROW = 3  # after so many, details are asked of the second source first
_GUEST_APP = {"aid": "1128"}
_NOTE_SOURCE = {"request_source": "200"}
_SEARCH = {
    "device_platform": "webapp",
    "aid": "6383",
    "search_channel": "aweme_general",
    "search_source": "normal_search",
    "is_filter_search": "0",
    "list_type": "single",
    "count": "15",
}  # what the search page itself asks with, but for its signature
_GIVE = "give the link of a track or video"

type Detail = VideoDetail | UnavailableVideo


class VidplatPublic:
    """Music, author and detail surfaces of the platform in the profile. Owns its client."""

    def __init__(self, client: GuestClient, *, name: str) -> None:
        self.name = name
        self._client = client
        self._surfaces = Surfaces(client)
        self._shells = 0

    def find_target(self, text: str) -> LinkTarget | None:
        """The first link of the platform in a text."""
        return self._client.profile.find_target(text)

    async def fetch_track(self, music_id: str) -> Reading[Track]:
        """One music id."""
        at = self._surfaces
        return await at.read_twice(
            at.ask("music_info", music_id=music_id),
            music_id,
            lambda a: parse_music_info(a.body, music_id=music_id, seen=at.seen(a)),
        )

    async def fetch_music_page(self, music_id: str, cursor: int) -> Reading[VideoPage]:
        """One page of the works under a music id."""
        at = self._surfaces
        return await at.read_twice(
            at.ask("music_list", music_id=music_id, count=PAGE_SIZE, cursor=str(cursor)),
            music_id,
            lambda a: parse_music_list(a.body, music_id=music_id, seen=at.seen(a)),
        )

    async def fetch_author_page(self, sec_uid: str, cursor: int) -> Reading[VideoPage]:
        """One page of posts; where the surface stays empty, the first screen of the share page."""
        with open_trail() as trail:
            try:
                return await self._user_posts(sec_uid, cursor)
            except UpstreamError as error:
                if cursor != 0 or not allows(error, Policy.OTHER_SOURCE):
                    raise
            found = await self._user_page(sec_uid)
        return with_requests(found, trail.request_count)

    async def fetch_account(self, sec_uid: str) -> Reading[Account]:
        """One account; where the surface stays empty, what its share page shows of it."""
        at = self._surfaces
        ask = at.ask("user_info", sec_uid=sec_uid)
        with open_trail() as trail:
            try:
                return await at.read_twice(
                    ask,
                    sec_uid,
                    lambda a: parse_user_info(a.body, sec_uid=sec_uid, seen=at.seen(a)),
                )
            except UpstreamError as error:
                if not allows(error, Policy.OTHER_SOURCE):
                    raise
            found = await at.read_twice(
                at.ask_page("user_page", sec_uid=sec_uid),
                sec_uid,
                lambda a: parse_account_page(a.body, sec_uid=sec_uid, seen=at.seen(a)),
            )
        return with_requests(found, trail.request_count)

    async def fetch_video(self, aweme_id: str) -> Reading[Detail]:
        """One work: its share page, and where that withholds the data the second source."""
        sources = [self._work_page, self._slides_info]
        if self._shells >= SHELLS_IN_A_ROW:
            sources.reverse()
        first, second = sources
        with open_trail() as trail:
            try:
                found = await first(aweme_id)
            except UpstreamError as error:
                if not allows(error, Policy.OTHER_SOURCE):
                    raise
                found = await second(aweme_id)
        return with_requests(found, trail.request_count)

    async def fetch_hashtag(self, ch_id: str) -> Reading[HashtagInfo]:
        """One hashtag."""
        at = self._surfaces
        return await at.read_twice(
            at.ask("hashtag_info", ch_id=ch_id),
            ch_id,
            lambda a: parse_hashtag_info(a.body, ch_id=ch_id, seen=at.seen(a)),
        )

    async def fetch_hashtag_page(self, ch_id: str, cursor: int) -> Reading[VideoPage]:
        """One page of the works under a hashtag."""
        at = self._surfaces
        return await at.read_twice(
            at.ask("hashtag_list", ch_id=ch_id, count=PAGE_SIZE, cursor=str(cursor)),
            ch_id,
            lambda a: parse_hashtag_list(a.body, seen=at.seen(a)),
        )

    async def fetch_search_page(self, term: str, place: SearchPlace) -> Reading[SearchPage]:
        """One page of the guest search: the framed first screen, then single documents."""
        at = self._surfaces
        is_first = place == SearchPlace()
        surface = "search_stream" if is_first else "search_single"
        parse = parse_search_stream if is_first else parse_search_single
        asked = {
            **_SEARCH,
            "keyword": term,
            "offset": str(place.cursor),
            "search_id": place.search_id,
            "backtrace": place.backtrace,
        }
        return await at.read_twice(
            at.ask(surface, **asked), term, lambda a: parse(a.body, place=place, seen=at.seen(a))
        )

    async def resolve_link(self, url: str) -> LinkTarget:
        """Follow a short link as far as the first address that names something."""
        ask = Ask(
            surface="short_link",
            url=url,
            allowed=self._client.profile.links.redirect,
            ends_at=lambda target: self._surfaces.ends_at(target) or self._is_named(target),
        )
        try:
            async with self._client.circuit(ask):
                answer = await self._client.fetch(ask)
        except SubstitutionError as error:
            raise InvalidMusicInputError(
                "the short link leads off the platform", hint=_GIVE
            ) from error
        if self._surfaces.is_gone(answer):
            raise InvalidMusicInputError("what the short link led to is gone", hint=_GIVE)
        target = self.find_target(answer.location or answer.url)
        if target is None or target.kind == "short":
            raise self._dead_link(answer)
        return target

    async def download_sound(self, detail: VideoDetail, into: Path) -> SoundFile:
        """The sound of a work as a file in `into`."""
        return await download_sound(self._client, detail, into)

    async def aclose(self) -> None:
        """Close every connection."""
        await self._client.aclose()

    async def _user_posts(self, sec_uid: str, cursor: int) -> Reading[VideoPage]:
        at = self._surfaces
        ask = at.ask(
            "user_posts", sec_uid=sec_uid, count=PAGE_SIZE, max_cursor=str(cursor), **_GUEST_APP
        )
        return await at.read_twice(
            ask, sec_uid, lambda a: parse_user_posts(a.body, sec_uid=sec_uid, seen=at.seen(a))
        )

    async def _user_page(self, sec_uid: str) -> Reading[VideoPage]:
        at = self._surfaces
        return await at.read_twice(
            at.ask_page("user_page", sec_uid=sec_uid),
            sec_uid,
            lambda a: parse_user_page(a.body, sec_uid=sec_uid, seen=at.seen(a)),
        )

    async def _work_page(self, aweme_id: str) -> Reading[Detail]:
        at = self._surfaces

        def parse(answer: Answer) -> Detail:
            if at.is_gone(answer):
                return UnavailableVideo(aweme_id=aweme_id, reason="unavailable")
            return parse_work_page(answer.body, aweme_id=aweme_id, seen=at.seen(answer))

        try:
            found = await at.read_twice(
                at.ask_page("video_page", aweme_id=aweme_id), aweme_id, parse
            )
        except PageWithoutDataError:
            self._shells += 1
            raise
        self._shells = 0
        return found

    async def _slides_info(self, aweme_id: str) -> Reading[Detail]:
        """The plain form first; "gone" counts only when the form for notes says it too."""
        at = self._surfaces

        def parse(answer: Answer) -> Detail:
            return parse_slides_info(answer.body, aweme_id=aweme_id, seen=at.seen(answer))

        asked = {"aweme_ids": f"[{aweme_id}]"}
        refused: Reading[Detail] | None = None
        try:
            refused = await at.read_twice(at.ask("slides_info", **asked), aweme_id, parse)
            if isinstance(refused.value, VideoDetail):
                return refused
        except EmptyAnswerError as error:
            if error.reason != "empty_detail":
                raise
        found = await at.read(at.ask("slides_info", **asked, **_NOTE_SOURCE), aweme_id, parse)
        return found if isinstance(found.value, VideoDetail) or refused is None else refused

    def _is_named(self, target: str) -> bool:
        found = self.find_target(target)
        return found is not None and found.kind != "short"

    def _dead_link(self, answer: Answer) -> InvalidMusicInputError:
        """The error for a short link that leads nowhere, unless the platform says no by name."""
        try:
            self._surfaces.refuse(answer)
        except StructureChangedError as error:
            dead = InvalidMusicInputError("the short link is dead", hint="copy the link again")
            dead.__cause__ = error
            return dead
        return InvalidMusicInputError("the short link leads to no track and no video", hint=_GIVE)
