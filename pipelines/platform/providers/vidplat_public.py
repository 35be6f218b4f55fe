"""Provider `vidplat-public`: the public surfaces that need no signature and no account.

Here: which surface is read for what, and which one replaces it if the policy of a refusal
(`refusal_table.py`) allows another source. Responses are parsed in `parsers/`.
"""

from pathlib import Path

from pipelines.platform.call_trace import HttpResponse, open_call_trace
from pipelines.platform.http.client import GuestClient, HttpRequest
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
from pipelines.platform.parsers.pages import parse_video_page
from pipelines.platform.parsers.search import parse_search_single, parse_search_stream
from pipelines.platform.reading import Reading, SoundFile
from pipelines.platform.refusal_table import RefusalPolicy, allows_policy
from pipelines.platform.surfaces import SurfaceReader, with_requests
from warehouse.records.errors import (
    EmptyAnswerError,
    InvalidMusicInputError,
    PageWithoutDataError,
    StructureChangedError,
    SubstitutionError,
    UpstreamError,
)
from warehouse.records.search import SearchPage, SearchPosition
from warehouse.records.videos import (
    Account,
    HashtagInfo,
    Track,
    UnavailableVideo,
    VideoDetail,
    VideoPage,
)

PAGE_SIZE = "20"
MAX_EMPTY_PAGES = 3  # after so many pages without data, the second source is read first
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
}  # parameters of the search page itself, except for its signature
_LINK_HINT = "give the link of a track or video"

type DetailOrUnavailable = VideoDetail | UnavailableVideo


class VidplatPublic:
    """Music, author and detail surfaces of the platform in the profile. Owns its client."""

    def __init__(self, client: GuestClient, *, name: str) -> None:
        self.name = name
        self._client = client
        self._surfaces = SurfaceReader(client)
        self._shells = 0

    def find_target(self, text: str) -> LinkTarget | None:
        """Return the target of the first platform link in a text."""
        return self._client.profile.find_target(text)

    async def fetch_track(self, music_id: str) -> Reading[Track]:
        """Fetch one music id."""
        at = self._surfaces
        return await at.read_twice(
            at.ask("music_info", music_id=music_id),
            music_id,
            lambda a: parse_music_info(a.body, music_id=music_id, seen=at.seen(a)),
        )

    async def fetch_music_page(self, music_id: str, cursor: int) -> Reading[VideoPage]:
        """Fetch one page of the videos under a music id."""
        at = self._surfaces
        return await at.read_twice(
            at.ask("music_list", music_id=music_id, count=PAGE_SIZE, cursor=str(cursor)),
            music_id,
            lambda a: parse_music_list(a.body, music_id=music_id, seen=at.seen(a)),
        )

    async def fetch_author_page(self, sec_uid: str, cursor: int) -> Reading[VideoPage]:
        """Fetch one page of posts; if the surface is empty, the share page's first screen."""
        with open_call_trace() as call_trace:
            try:
                return await self._user_posts(sec_uid, cursor)
            except UpstreamError as error:
                if cursor != 0 or not allows_policy(error, RefusalPolicy.OTHER_SOURCE):
                    raise
            found = await self._user_page(sec_uid)
        return with_requests(found, call_trace.request_count)

    async def fetch_account(self, sec_uid: str) -> Reading[Account]:
        """Fetch one account; if the surface is empty, from its share page."""
        at = self._surfaces
        ask = at.ask("user_info", sec_uid=sec_uid)
        with open_call_trace() as call_trace:
            try:
                return await at.read_twice(
                    ask,
                    sec_uid,
                    lambda a: parse_user_info(a.body, sec_uid=sec_uid, seen=at.seen(a)),
                )
            except UpstreamError as error:
                if not allows_policy(error, RefusalPolicy.OTHER_SOURCE):
                    raise
            found = await at.read_twice(
                at.ask_page("user_page", sec_uid=sec_uid),
                sec_uid,
                lambda a: parse_account_page(a.body, sec_uid=sec_uid, seen=at.seen(a)),
            )
        return with_requests(found, call_trace.request_count)

    async def fetch_video(self, aweme_id: str) -> Reading[DetailOrUnavailable]:
        """Fetch one video from its share page; if that withholds the data, from `slides_info`."""
        sources = [self._work_page, self._slides_info]
        if self._shells >= MAX_EMPTY_PAGES:
            sources.reverse()
        first, second = sources
        with open_call_trace() as call_trace:
            try:
                found = await first(aweme_id)
            except UpstreamError as error:
                if not allows_policy(error, RefusalPolicy.OTHER_SOURCE):
                    raise
                found = await second(aweme_id)
        return with_requests(found, call_trace.request_count)

    async def fetch_hashtag(self, ch_id: str) -> Reading[HashtagInfo]:
        """Fetch one hashtag."""
        at = self._surfaces
        return await at.read_twice(
            at.ask("hashtag_info", ch_id=ch_id),
            ch_id,
            lambda a: parse_hashtag_info(a.body, ch_id=ch_id, seen=at.seen(a)),
        )

    async def fetch_hashtag_page(self, ch_id: str, cursor: int) -> Reading[VideoPage]:
        """Fetch one page of the videos under a hashtag."""
        at = self._surfaces
        return await at.read_twice(
            at.ask("hashtag_list", ch_id=ch_id, count=PAGE_SIZE, cursor=str(cursor)),
            ch_id,
            lambda a: parse_hashtag_list(a.body, seen=at.seen(a)),
        )

    async def fetch_search_page(self, term: str, place: SearchPosition) -> Reading[SearchPage]:
        """Fetch one page of the guest search: the framed first screen, then single documents."""
        at = self._surfaces
        is_first = place == SearchPosition()
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
        """Follow a short link up to the first URL that names a target."""
        ask = HttpRequest(
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
                "the short link leads off the platform", hint=_LINK_HINT
            ) from error
        if self._surfaces.is_gone(answer):
            raise InvalidMusicInputError(
                "the target of the short link was deleted", hint=_LINK_HINT
            )
        target = self.find_target(answer.location or answer.url)
        if target is None or target.kind == "short":
            raise self._dead_link(answer)
        return target

    async def download_sound(self, detail: VideoDetail, into: Path) -> SoundFile:
        """Download the sound of a video to the folder `into`."""
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

    async def _work_page(self, aweme_id: str) -> Reading[DetailOrUnavailable]:
        at = self._surfaces

        def parse(answer: HttpResponse) -> DetailOrUnavailable:
            if at.is_gone(answer):
                return UnavailableVideo(aweme_id=aweme_id, reason="unavailable")
            return parse_video_page(answer.body, aweme_id=aweme_id, seen=at.seen(answer))

        try:
            found = await at.read_twice(
                at.ask_page("video_page", aweme_id=aweme_id), aweme_id, parse
            )
        except PageWithoutDataError:
            self._shells += 1
            raise
        self._shells = 0
        return found

    async def _slides_info(self, aweme_id: str) -> Reading[DetailOrUnavailable]:
        """Read the plain form first; "deleted" counts only if the form for notes agrees."""
        at = self._surfaces

        def parse(answer: HttpResponse) -> DetailOrUnavailable:
            return parse_slides_info(answer.body, aweme_id=aweme_id, seen=at.seen(answer))

        asked = {"aweme_ids": f"[{aweme_id}]"}
        refused: Reading[DetailOrUnavailable] | None = None
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

    def _dead_link(self, answer: HttpResponse) -> InvalidMusicInputError:
        """Return the error for a dead short link, or the platform's named refusal."""
        try:
            self._surfaces.refuse(answer)
        except StructureChangedError as error:
            dead = InvalidMusicInputError("the short link is dead", hint="copy the link again")
            dead.__cause__ = error
            return dead
        return InvalidMusicInputError("the short link leads to no track or video", hint=_LINK_HINT)
