"""The probe of each surface: its request, without the fallback sources, and the id that it needs.

A response that only sets the visitor's cookies is requested again, as a browser does. Of a sound
only the first bytes are read. The ids come from `canaries.py`.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus

from pipelines.doctor.probes.canaries import CanaryKind
from pipelines.platform.chartsrc import bodies, songs
from pipelines.platform.chartsrc.bodies import parse_issues
from pipelines.platform.http.client import (
    SURFACE,
    GuestClient,
    HttpRequest,
    refuse_altered,
    sound_request,
    sound_suffix,
)
from pipelines.platform.parsers.lists import parse_slides_info
from pipelines.platform.providers.music_service import MusicServicePublic
from pipelines.platform.providers.vidplat_public import VidplatPublic
from pipelines.platform.sources import table
from pipelines.platform.sources.planner import SurfaceReader
from pipelines.platform.sources.table import Reading
from warehouse.records.errors import AudioUnavailableError, EmptyAnswerError
from warehouse.records.search import HARMLESS_NIL_TYPES, SearchPage, SearchPosition

HEAD_BYTES = 16_384


class _HeadCompleteError(Exception):
    """Enough bytes have arrived."""


class _HeadSink:
    """Sink that keeps the first bytes of a body, then ends the download."""

    def __init__(self, body: bytearray) -> None:
        self.body = body

    def begin(self) -> None:
        """Discard the bytes of an earlier attempt."""
        self.body.clear()

    def take(self, chunk: bytes) -> None:
        """Receive the next bytes."""
        self.body += chunk
        if len(self.body) >= HEAD_BYTES:
            raise _HeadCompleteError


async def read_sound_head(client: GuestClient, url: str, *, referer: str | None = None) -> str:
    """Read the first bytes at a URL; return the sound's file suffix.

    `referer` is the page or document that named the URL.

    Raises:
        AudioUnavailableError: The response is no sound, or one that the host altered.
        UpstreamError: The host refused or could not be reached.
    """
    # The sink ends the download as soon as it has enough.
    head, status = _HeadSink(bytearray()), None
    request = sound_request(client, url, referer=referer)
    try:
        async with client.circuit(request):
            status = (await client.save(request, head)).status
    except _HeadCompleteError:
        status = None  # the download was ended early, so no status was recorded
    # The first bytes show whether it is a sound, whatever its content type says.
    refuse_altered(bytes(head.body))
    suffix, is_fine = sound_suffix(bytes(head.body)), status in {None, HTTPStatus.OK}
    if suffix is None or not is_fine:
        raise AudioUnavailableError(
            "the response is no known sound format",
            surface=SURFACE,
            status=status,
            reason="not_a_sound" if is_fine else f"status {status}",
        )
    return suffix


_SONGS_ON_A_PAGE = 22  # of the chart's HTML page
# Parameters that the chart's own pages send with each request.
_PLATFORM = {"ranktype": "2", "plat": "0"}


class ProbeReader:
    """Client of the probes: one guest, with the cookies that the platform set.

    `sound_pages` is the page or document that named each URL of a sound.
    """

    def __init__(self, client: GuestClient) -> None:
        self.client = client
        self.profile = client.profile
        self.surfaces = SurfaceReader(client)
        self.provider = VidplatPublic(client, name="doctor")
        self.songs = MusicServicePublic(client)
        self.sound_pages: dict[str, str] = {}

    async def aclose(self) -> None:
        """Close every connection."""
        await self.client.aclose()

    async def read_slides_info(self, aweme_id: str) -> Reading[object]:
        """Read a video as `slides_info` shows it, in its plain form."""
        http_request = self.surfaces.build_request("slides_info", {"aweme_ids": f"[{aweme_id}]"})
        request = table.SourceRequest(entity_id=aweme_id)
        return await self.surfaces.read(http_request, request, parse_slides_info, twice=True)

    async def read_search(self, term: str) -> SearchPage:
        """Read the first screen of the guest search; no results without a reason is an error."""
        page = (await self.provider.fetch_search_page(term, SearchPosition())).value
        if not page.videos and page.nil_type not in HARMLESS_NIL_TYPES:
            raise EmptyAnswerError(
                "no result, and nothing says why", surface="search_stream", reason="empty_ambiguous"
            )
        return page

    async def read_sound(self, url: str) -> str:
        """Read the beginning of a sound."""
        return await read_sound_head(self.client, url, referer=self.sound_pages.get(url))

    async def read_chart(self, surface: str, parse: Callable[..., object], **params: str) -> object:
        """Send one request to the chart, and parse the response."""
        ids = {"page": "1", "rank_id": self.profile.chart.rank_id}
        request = HttpRequest(
            surface=surface,
            url=self.profile.address(surface, **ids),
            allowed=self.profile.links.chart,
            params=params,
        )
        async with self.client.circuit(request):
            answer = await self.client.fetch(request)
            bodies.refuse_chart_answer(answer)
            context = bodies.ChartParseContext(
                surface=answer.surface, observed_at=answer.fetched_at, markers=self.profile.markers
            )
            return parse(answer.body, context=context)

    async def read_chart_songs(self, rank_id: str) -> object:
        """Read the first songs of the latest issue."""
        return await self.read_chart(
            "chart_songs",
            partial(songs.parse_songs, page=1),
            rankid=rank_id,
            version=self.profile.chart.song_version,
            pagesize=str(songs.PAGE_SIZE),
            area_code="1",
            page="1",
            **_PLATFORM,
        )


type ReadSurface = Callable[[ProbeReader, str], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Probe:
    """One probe; `needs` is the kind of id that it requests."""

    surface: str
    needs: CanaryKind
    read: ReadSurface


def _value(read: Callable[[ProbeReader, str], Awaitable[Reading[object]]]) -> ReadSurface:
    async def read_value(reader: ProbeReader, entity_id: str) -> object:
        return (await read(reader, entity_id)).value

    return read_value


def _source(
    read: Callable[[SurfaceReader, table.SourceRequest], Awaitable[Reading[object]]],
) -> ReadSurface:
    return _value(
        lambda reader, entity_id: read(reader.surfaces, table.SourceRequest(entity_id=entity_id))
    )


PROBES = (
    Probe(
        "music_info",
        "music_id",
        _value(lambda reader, music_id: reader.provider.fetch_track(music_id)),
    ),
    Probe("music_list", "music_id", _source(table.read_music_list)),
    Probe("trends_list", "music_id", _source(table.read_trends_list)),
    Probe("video_page", "aweme_id", _source(table.read_video_page)),
    Probe("slides_info", "aweme_id", _value(ProbeReader.read_slides_info)),
    Probe("media", "sound", ProbeReader.read_sound),
    Probe("user_info", "sec_uid", _source(table.read_user_info)),
    Probe("user_by_handle", "handle", _source(table.read_user_by_handle)),
    Probe("user_posts", "sec_uid", _source(table.read_user_posts)),
    Probe("user_page", "sec_uid", _source(table.read_user_page)),
    Probe("short_link", "link", lambda reader, url: reader.provider.resolve_link(url)),
    Probe(
        "hashtag_info", "ch_id", _value(lambda reader, ch_id: reader.provider.fetch_hashtag(ch_id))
    ),
    Probe(
        "hashtag_list",
        "ch_id",
        _value(lambda reader, ch_id: reader.provider.fetch_hashtag_page(ch_id, 0)),
    ),
    Probe("search_stream", "term", ProbeReader.read_search),
    Probe(
        "service_track", "song", _value(lambda reader, song_id: reader.songs.fetch_song(song_id))
    ),
    Probe(
        "chart_issues",
        "rank_id",
        lambda reader, rank_id: reader.read_chart(
            "chart_issues", parse_issues, rankid=rank_id, **_PLATFORM
        ),
    ),
    Probe("chart_songs", "rank_id", ProbeReader.read_chart_songs),
    Probe(
        "chart_latest",
        "rank_id",
        lambda reader, rank_id: reader.read_chart(
            "chart_latest",
            partial(songs.parse_latest, page=1),
            rankid=rank_id,
            page="1",
            json="true",
        ),
    ),
    Probe(
        "chart_html",
        "rank_id",
        lambda reader, _: reader.read_chart(
            "chart_html", partial(songs.parse_song_page, page=1, page_size=_SONGS_ON_A_PAGE)
        ),
    ),
)
PROBE_BY_SURFACE = {probe.surface: probe for probe in PROBES}
