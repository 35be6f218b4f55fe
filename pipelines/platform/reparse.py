"""Parses an archived body again with the current parsers: one table from surface to parser. Pure.

Here: which parser reads which surface, with the same refusal checks as for a live response. Not
here: where bodies are stored and what is compared (`captures.replay`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus

from pipelines.platform.call_trace import HttpResponse
from pipelines.platform.chartsrc.bodies import ChartParseContext, refuse_chart_answer
from pipelines.platform.chartsrc.issues import parse_issues
from pipelines.platform.chartsrc.songs import (
    HTML_PAGE_SIZE,
    OLD_HTML_PAGE_SIZE,
    parse_latest,
    parse_song_page,
    parse_songs,
)
from pipelines.platform.mobileapp.bundles import parse_app_page, parse_app_track, parse_app_video
from pipelines.platform.mobileapp.layouts import load_app
from pipelines.platform.parsers.lists import parse_detail_body, parse_slides_info
from pipelines.platform.parsers.pages import parse_video_page
from pipelines.platform.parsers.refusals import explain, refuse_answer
from pipelines.platform.parsers.videos import ParseContext
from pipelines.platform.profiles import KNOWN_PROFILES, PlatformProfile
from pipelines.platform.reading import CapturedValue
from pipelines.platform.refusal_table import refusal_error
from pipelines.platform.sources import table
from pipelines.platform.sources.table import SourceRequest
from warehouse.records.errors import PageWithoutDataError, StructureChangedError
from warehouse.records.search import SearchPosition


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedBody:
    """An archived body with its request. `cursor` is None outside of lists; for the chart it is
    the page number.
    """

    surface: str
    entity_id: str
    observed_at: datetime
    body: bytes
    status: int
    content_type: str | None
    path: str
    cursor: int | None = None
    place: SearchPosition | None = None

    def to_answer(self) -> HttpResponse:
        """Rebuild the response as the client received it."""
        status = HTTPStatus.OK if self.status == HTTPStatus.NOT_MODIFIED else self.status
        return HttpResponse(
            surface=self.surface,
            url=f"https://kept.invalid{self.path}",
            status=status,
            content_type=self.content_type,
            body=self.body,
            fetched_at=self.observed_at,
        )

    @property
    def request(self) -> SourceRequest:
        """What was asked for."""
        cursor = self.cursor or 0
        place = self.place or SearchPosition(cursor=cursor)
        return SourceRequest(entity_id=self.entity_id, cursor=cursor, place=place)


type _Parse = Callable[[bytes, SourceRequest, ParseContext], CapturedValue]

_BY_ID = {
    "video_page": parse_video_page,
    "note_page": parse_video_page,
    "slides_page": parse_video_page,
    "item_info": parse_video_page,
    "web_video_page": parse_video_page,
    "detail": parse_detail_body,
    "slides_info": parse_slides_info,
}
_READS = (
    table.read_web_detail, table.read_user_info, table.read_user_by_handle, table.read_user_posts,
    table.read_user_page, table.read_music_info, table.read_music_list, table.read_service_track,
    table.read_hashtag_info, table.read_hashtag_list, table.read_search_stream,
    table.read_search_single, *table.SERVICE_LISTS.values(),
    # Asked for by a music id or by the id of the trend: the check for the former is not repeated.
    table.read_trend,
)  # fmt: skip
_PLATFORM: Mapping[str, _Parse] = {read.surface: read.parse for read in _READS}
_CHART: Mapping[str, Callable[[ArchivedBody, int, ChartParseContext], CapturedValue]] = {
    "chart_issues": lambda k, _, s: parse_issues(k.body, seen=s),
    "chart_songs": lambda k, page, s: parse_songs(k.body, page=page, seen=s),
    "chart_latest": lambda k, page, s: parse_latest(k.body, page=page, seen=s),
    "chart_html": lambda k, page, s: parse_song_page(
        k.body, page=page, page_size=HTML_PAGE_SIZE, seen=s
    ),
    "chart_html_old": lambda k, page, s: parse_song_page(
        k.body, page=page, page_size=OLD_HTML_PAGE_SIZE, seen=s
    ),
}
_APP = frozenset({"music_app", "app_work"})
SURFACES = frozenset({*_BY_ID, *_PLATFORM, *_CHART, *_APP})
"""Surfaces whose bodies can be parsed again."""


class BodyParser:
    """Parses archived bodies of one profile's platform."""

    def __init__(self, profile: PlatformProfile) -> None:
        self._profile = profile
        self._app = load_app(profile.name) if profile.name in KNOWN_PROFILES else None

    def read(self, kept: ArchivedBody) -> CapturedValue:
        """Parse a body with the current parser.

        Raises:
            SametrackError: The error that a live response with this body would raise.
            KeyError: No parser reads this surface.
        """
        if kept.surface in _CHART:
            return self._read_chart(kept)
        if kept.surface in _APP:
            return self._read_app(kept)
        answer, markers = kept.to_answer(), self._profile.markers
        refuse_answer(answer, markers)
        try:
            return _parse(kept, self._seen(kept))
        except (PageWithoutDataError, StructureChangedError) as error:
            named = explain(error, answer, markers)
            if named is error:
                raise
            raise named from error

    def _read_chart(self, kept: ArchivedBody) -> CapturedValue:
        refuse_chart_answer(kept.to_answer())
        seen = ChartParseContext(
            surface=kept.surface, observed_at=kept.observed_at, words=self._profile.markers
        )
        return _CHART[kept.surface](kept, kept.cursor or 1, seen)

    def _read_app(self, kept: ArchivedBody) -> CapturedValue:
        """What the app showed: a track where no page was asked for, else some of its videos."""
        seen, app = self._seen(kept), self._app
        if app is None:
            raise refusal_error("structure", "the profile has no app", surface=kept.surface)
        if kept.surface == "app_work":
            return parse_app_video(kept.body, app=app, seen=seen)
        if kept.cursor is None:
            return parse_app_track(kept.body, music_id=kept.entity_id, app=app, seen=seen)
        return parse_app_page(kept.body, app=app, seen=seen)

    def _seen(self, kept: ArchivedBody) -> ParseContext:
        return ParseContext(
            surface=kept.surface,
            observed_at=kept.observed_at,
            link_of=self._profile.video_link,
        )


def _parse(kept: ArchivedBody, seen: ParseContext) -> CapturedValue:
    if kept.surface in _BY_ID:
        return _BY_ID[kept.surface](kept.body, kept.entity_id, seen)
    # A user page replaced the list of posts (with a cursor) or the account.
    is_account = kept.surface == "user_page" and kept.cursor is None
    parse = table.read_account_page.parse if is_account else _PLATFORM[kept.surface]
    return parse(kept.body, kept.request, seen)
