"""Request of each surface's probe, without the fallback sources of a provider.

A response that only sets the visitor's cookies is requested again, as a browser does. The ids come
from `canaries.py`.
"""

from collections.abc import Callable

from pipelines.doctor.probes.sound_head import read_sound_head
from pipelines.platform.chartsrc.bodies import (
    ChartParseContext,
    refuse_chart_answer,
)
from pipelines.platform.chartsrc.issues import parse_issues
from pipelines.platform.chartsrc.songs import PAGE_SIZE as SONGS
from pipelines.platform.chartsrc.songs import parse_latest, parse_song_page, parse_songs
from pipelines.platform.http.client import GuestClient, HttpRequest
from pipelines.platform.parsers.lists import parse_slides_info
from pipelines.platform.parsers.videos import ParseContext
from pipelines.platform.providers.music_service import MusicServicePublic
from pipelines.platform.providers.vidplat_public import VidplatPublic
from pipelines.platform.sources.planner import SickPolicy
from pipelines.platform.sources.table import (
    SourceRequest,
    read_music_list,
    read_trends_list,
    read_user_by_handle,
    read_user_info,
    read_user_page,
    read_user_posts,
    read_video_page,
)
from pipelines.platform.surfaces import SurfaceReader
from warehouse.records.errors import EmptyAnswerError
from warehouse.records.search import HARMLESS_NIL_TYPES, SearchPosition
from warehouse.records.videos import UnavailableVideo, VideoDetail

_SONGS_ON_A_PAGE = 22
_PLATFORM = {"ranktype": "2", "plat": "0"}

type DetailOrUnavailable = VideoDetail | UnavailableVideo


class ProbeReader:
    """Client of the probes: one guest, with the cookies that the platform set.

    `sound_pages` is the page or document that named each URL of a sound.
    """

    def __init__(self, client: GuestClient) -> None:
        self.client = client
        self.profile = client.profile
        self.surfaces = SurfaceReader(client)
        self.provider = VidplatPublic(client, name="doctor", sick_policy=SickPolicy.ALWAYS)
        self.songs = MusicServicePublic(client)
        self.sound_pages: dict[str, str] = {}

    async def aclose(self) -> None:
        """Close every connection."""
        await self.client.aclose()

    async def read[T](
        self, ask: HttpRequest, entity_id: str, parse: Callable[[bytes, ParseContext], T]
    ) -> T:
        """Send one request to the platform, and parse the response."""
        at = self.surfaces
        found = await at.read_twice(ask, entity_id, lambda a: parse(a.body, at.seen(a)))
        return found.value

    async def read_chart(
        self, ask: HttpRequest, parse: Callable[[bytes, ChartParseContext], object]
    ) -> object:
        """Send one request to the chart, and parse the response."""
        async with self.client.circuit(ask):
            answer = await self.client.fetch(ask)
            refuse_chart_answer(answer)
            seen = ChartParseContext(
                surface=answer.surface, observed_at=answer.fetched_at, words=self.profile.markers
            )
            return parse(answer.body, seen)

    def ask_chart(self, surface: str, **params: str) -> HttpRequest:
        """Build a request to the chart."""
        ids = {"page": "1", "rank_id": self.profile.chart.rank_id}
        return HttpRequest(
            surface=surface,
            url=self.profile.address(surface, **ids),
            allowed=self.profile.links.chart,
            params=params,
        )


async def ask_music_info(reader: ProbeReader, music_id: str) -> object:
    """A track."""
    return (await reader.provider.fetch_track(music_id)).value


async def ask_music_list(reader: ProbeReader, music_id: str) -> object:
    """The first videos under a track."""
    return (await read_music_list(reader.surfaces, SourceRequest(entity_id=music_id))).value


async def ask_trends_list(reader: ProbeReader, music_id: str) -> object:
    """The first videos of the trend around a track."""
    return (await read_trends_list(reader.surfaces, SourceRequest(entity_id=music_id))).value


async def ask_service_track(reader: ProbeReader, track_id: str) -> object:
    """A song in the music service."""
    return (await reader.songs.fetch_song(track_id)).value


async def ask_hashtag_info(reader: ProbeReader, ch_id: str) -> object:
    """A hashtag."""
    return (await reader.provider.fetch_hashtag(ch_id)).value


async def ask_hashtag_list(reader: ProbeReader, ch_id: str) -> object:
    """The first videos under a hashtag."""
    return (await reader.provider.fetch_hashtag_page(ch_id, 0)).value


async def ask_search(reader: ProbeReader, term: str) -> object:
    """The first screen of the guest search; no results without a reason is an error."""
    page = (await reader.provider.fetch_search_page(term, SearchPosition())).value
    if not page.videos and page.nil_type not in HARMLESS_NIL_TYPES:
        raise EmptyAnswerError(
            "no result, and nothing says why", surface="search_stream", reason="empty_ambiguous"
        )
    return page


async def ask_short_link(reader: ProbeReader, url: str) -> object:
    """Where a short link leads."""
    return await reader.provider.resolve_link(url)


async def ask_user_info(reader: ProbeReader, sec_uid: str) -> object:
    """An account."""
    return (await read_user_info(reader.surfaces, SourceRequest(entity_id=sec_uid))).value


async def ask_user_by_handle(reader: ProbeReader, handle: str) -> object:
    """An account by its public handle."""
    return (await read_user_by_handle(reader.surfaces, SourceRequest(entity_id=handle))).value


async def ask_user_posts(reader: ProbeReader, sec_uid: str) -> object:
    """The first posts of an account."""
    return (await read_user_posts(reader.surfaces, SourceRequest(entity_id=sec_uid))).value


async def ask_user_page(reader: ProbeReader, sec_uid: str) -> object:
    """The share page of an account."""
    return (await read_user_page(reader.surfaces, SourceRequest(entity_id=sec_uid))).value


async def ask_video_page(reader: ProbeReader, aweme_id: str) -> object:
    """The share page of a video."""
    return (await read_video_page(reader.surfaces, SourceRequest(entity_id=aweme_id))).value


async def ask_slides_info(reader: ProbeReader, aweme_id: str) -> object:
    """A video as `slides_info` shows it, in its plain form."""
    ask = reader.surfaces.ask("slides_info", aweme_ids=f"[{aweme_id}]")
    return await reader.read(
        ask, aweme_id, lambda body, seen: parse_slides_info(body, aweme_id=aweme_id, seen=seen)
    )


async def ask_media(reader: ProbeReader, url: str) -> object:
    """The beginning of a sound."""
    return await read_sound_head(reader.client, url, referer=reader.sound_pages.get(url))


async def ask_chart_issues(reader: ProbeReader, rank_id: str) -> object:
    """All issues of the chart."""
    ask = reader.ask_chart("chart_issues", rankid=rank_id, **_PLATFORM)
    return await reader.read_chart(ask, lambda body, seen: parse_issues(body, seen=seen))


async def ask_chart_songs(reader: ProbeReader, rank_id: str) -> object:
    """The first songs of the latest issue."""
    asked = {
        "version": reader.profile.chart.song_version,
        "pagesize": str(SONGS),
        "area_code": "1",
        "page": "1",
    }
    ask = reader.ask_chart("chart_songs", rankid=rank_id, **_PLATFORM, **asked)
    return await reader.read_chart(ask, lambda body, seen: parse_songs(body, page=1, seen=seen))


async def ask_chart_latest(reader: ProbeReader, rank_id: str) -> object:
    """The latest issue as its mobile page reads it."""
    ask = reader.ask_chart("chart_latest", rankid=rank_id, page="1", json="true")
    return await reader.read_chart(ask, lambda body, seen: parse_latest(body, page=1, seen=seen))


async def ask_chart_html(reader: ProbeReader, _rank_id: str) -> object:
    """The latest issue as an HTML page."""
    ask = reader.ask_chart("chart_html")
    return await reader.read_chart(
        ask,
        lambda body, seen: parse_song_page(body, page=1, page_size=_SONGS_ON_A_PAGE, seen=seen),
    )
