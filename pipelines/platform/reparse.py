"""Parses an archived body again with the current parsers: one table from surface to parser. Pure.

Here: which parser reads which surface, with the same refusal checks as for a live response. Not
here: where bodies are stored and what is compared (`captures.replay`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from http import HTTPStatus

from pipelines.platform.call_trace import HttpResponse
from pipelines.platform.chartsrc import songs
from pipelines.platform.chartsrc.bodies import ChartParseContext, parse_issues, refuse_chart_answer
from pipelines.platform.mobileapp import screens
from pipelines.platform.parsers.lists import parse_detail_body, parse_slides_info
from pipelines.platform.parsers.pages import parse_video_page
from pipelines.platform.parsers.refusals import explain, refuse_answer
from pipelines.platform.parsers.videos import ParseContext
from pipelines.platform.profiles import KNOWN_PROFILES, PlatformProfile
from pipelines.platform.refusal_table import refusal_error
from pipelines.platform.sources import table
from pipelines.platform.sources.table import CapturedValue, SourceRequest
from warehouse.records.errors import PageWithoutDataError, StructureChangedError
from warehouse.records.search import SearchPosition


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedBody:
    """An archived body with its request.

    `cursor` is None outside of lists; for the chart it is the page number.
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

    def to_response(self) -> HttpResponse:
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


type _Parse = Callable[[bytes, str, ParseContext], CapturedValue]

_READS: tuple[table.SurfaceRead[CapturedValue], ...] = (
    table.read_video_page,
    table.read_web_video_page,
    table.read_web_detail,
    table.read_user_info,
    table.read_user_by_handle,
    table.read_user_posts,
    table.read_user_page,
    table.read_music_info,
    table.read_music_list,
    table.read_service_track,
    table.read_hashtag_info,
    table.read_hashtag_list,
    table.read_search_stream,
    table.read_search_single,
    *table.SERVICE_LISTS.values(),
    # Asked for by a music id or by the id of the trend: the check for the former is not repeated.
    table.read_trend,
)
_PLATFORM: Mapping[str, _Parse] = {
    # Surfaces that are not asked any more, or only by the script of a page in the browser.
    "note_page": parse_video_page,
    "slides_page": parse_video_page,
    "item_info": parse_video_page,
    "detail": parse_detail_body,
    "slides_info": parse_slides_info,
    **{read.surface: read.parse for read in _READS},
}
_CHART_PAGES: Mapping[str, Callable[..., CapturedValue]] = {
    "chart_songs": songs.parse_songs,
    "chart_latest": songs.parse_latest,
    "chart_html": partial(songs.parse_song_page, page_size=songs.HTML_PAGE_SIZE),
    "chart_html_old": partial(songs.parse_song_page, page_size=songs.OLD_HTML_PAGE_SIZE),
}
_CHART_ISSUES = "chart_issues"
_APP = frozenset({"music_app", "app_work"})
SURFACES = frozenset({*_PLATFORM, *_CHART_PAGES, _CHART_ISSUES, *_APP})
"""Surfaces whose bodies can be parsed again."""


class BodyParser:
    """Parses archived bodies of one profile's platform."""

    def __init__(self, profile: PlatformProfile) -> None:
        self._profile = profile
        self._app = screens.load_app(profile.name) if profile.name in KNOWN_PROFILES else None

    def read(self, archived: ArchivedBody) -> CapturedValue:
        """Parse a body with the current parser.

        Raises:
            SametrackError: The error that a live response with this body would raise.
            KeyError: No parser reads this surface.
        """
        surface, response = archived.surface, archived.to_response()
        if surface == _CHART_ISSUES or surface in _CHART_PAGES:
            return self._read_chart(archived, response)
        cursor = archived.cursor or 0
        place = archived.place or SearchPosition(cursor=cursor)
        context = ParseContext(
            surface=surface,
            observed_at=archived.observed_at,
            link_of=self._profile.video_link,
            place=place,
            is_first=SourceRequest(
                entity_id=archived.entity_id, cursor=cursor, place=place
            ).is_first,
        )
        if surface in _APP:
            return self._read_app(archived, context)
        markers = self._profile.markers
        refuse_answer(response, markers)
        # A user page replaced the list of posts (with a cursor) or the account.
        is_account = surface == "user_page" and archived.cursor is None
        parse: _Parse = table.read_account_page.parse if is_account else _PLATFORM[surface]
        try:
            return parse(archived.body, archived.entity_id, context)
        except (PageWithoutDataError, StructureChangedError) as error:
            named = explain(error, response, markers)
            if named is error:
                raise
            raise named from error

    def _read_chart(self, archived: ArchivedBody, response: HttpResponse) -> CapturedValue:
        refuse_chart_answer(response)
        context = ChartParseContext(
            surface=archived.surface,
            observed_at=archived.observed_at,
            markers=self._profile.markers,
        )
        if archived.surface == _CHART_ISSUES:
            return parse_issues(archived.body, context=context)
        parse = _CHART_PAGES[archived.surface]
        return parse(archived.body, page=archived.cursor or 1, context=context)

    def _read_app(self, archived: ArchivedBody, context: ParseContext) -> CapturedValue:
        """Parse what the app showed: a track where no page was asked for, else its videos."""
        if self._app is None:
            raise refusal_error("structure", "the profile has no app", surface=archived.surface)
        if archived.surface == "app_work":
            return screens.parse_app_video(archived.body, app=self._app, context=context)
        if archived.cursor is None:
            return screens.parse_app_track(
                archived.body, music_id=archived.entity_id, app=self._app, context=context
            )
        return screens.parse_app_page(archived.body, app=self._app, context=context)
