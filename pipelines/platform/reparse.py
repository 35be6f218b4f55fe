"""Parses an archived body again with the current parsers: one table from surface to parser. Pure.

Here: which parser reads which surface, with the same refusal checks as for a live response. Not
here: where bodies are stored and what is compared (`captures.replay`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus

from pipelines.platform.call_trace import HttpResponse
from pipelines.platform.chartsrc.bodies import (
    ChartParseContext,
    ChartRefusalTexts,
    refuse_chart_answer,
)
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
from pipelines.platform.parsers.accounts import (
    parse_account_page,
    parse_user_by_handle,
    parse_user_info,
)
from pipelines.platform.parsers.hashtags import parse_hashtag_info
from pipelines.platform.parsers.lists import (
    parse_detail_body,
    parse_hashtag_list,
    parse_music_list,
    parse_slides_info,
    parse_trends_list,
    parse_user_page,
    parse_user_posts,
)
from pipelines.platform.parsers.music import parse_music_info
from pipelines.platform.parsers.music_service import parse_service_list, parse_service_track
from pipelines.platform.parsers.pages import parse_video_page
from pipelines.platform.parsers.refusals import RefusalMarkers, explain, refuse_answer
from pipelines.platform.parsers.search import parse_search_single, parse_search_stream
from pipelines.platform.parsers.videos import ParseContext
from pipelines.platform.profiles import KNOWN_PROFILES, PlatformProfile
from pipelines.platform.refusal_table import refusal_error
from warehouse.records.charts import ChartIndex, ChartPage
from warehouse.records.errors import PageWithoutDataError, StructureChangedError
from warehouse.records.search import SearchPage, SearchPosition
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

type Value = (
    Track
    | Account
    | HashtagInfo
    | VideoDetail
    | UnavailableVideo
    | VideoPage
    | SearchPage
    | ChartIndex
    | ChartPage
    | ServiceSong
    | ServiceSongList
)


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


def _user_page(kept: ArchivedBody, seen: ParseContext) -> Value:
    """Parse a user page, which replaced the list of posts (with a cursor) or the account."""
    if kept.cursor is None:
        return parse_account_page(kept.body, sec_uid=kept.entity_id, seen=seen)
    return parse_user_page(kept.body, sec_uid=kept.entity_id, seen=seen)


def _work_page(kept: ArchivedBody, seen: ParseContext) -> Value:
    return parse_video_page(kept.body, aweme_id=kept.entity_id, seen=seen)


def _detail(kept: ArchivedBody, seen: ParseContext) -> Value:
    return parse_detail_body(kept.body, aweme_id=kept.entity_id, seen=seen)


def _place(kept: ArchivedBody) -> SearchPosition:
    return kept.place or SearchPosition(cursor=kept.cursor or 0)


_PLATFORM: Mapping[str, Callable[[ArchivedBody, ParseContext], Value]] = {
    "video_page": _work_page,
    "note_page": _work_page,
    "slides_page": _work_page,
    "web_video_page": _work_page,
    "detail": _detail,
    "web_detail": _detail,
    "slides_info": lambda k, s: parse_slides_info(k.body, aweme_id=k.entity_id, seen=s),
    "user_info": lambda k, s: parse_user_info(k.body, sec_uid=k.entity_id, seen=s),
    "user_by_handle": lambda k, s: parse_user_by_handle(k.body, handle=k.entity_id, seen=s),
    "user_posts": lambda k, s: parse_user_posts(
        k.body, sec_uid=k.entity_id, seen=s, is_first=not k.cursor
    ),
    "user_page": _user_page,
    "music_info": lambda k, s: parse_music_info(k.body, music_id=k.entity_id, seen=s),
    "music_list": lambda k, s: parse_music_list(k.body, music_id=k.entity_id, seen=s),
    # Asked for by a music id or by the id of the trend: the check for the former is not repeated.
    "trends_list": lambda k, s: parse_trends_list(k.body, seen=s),
    "service_track": lambda k, s: parse_service_track(k.body, track_id=k.entity_id, seen=s),
    "service_playlist": lambda k, s: parse_service_list(k.body, list_id=k.entity_id, seen=s),
    "service_album": lambda k, s: parse_service_list(k.body, list_id=k.entity_id, seen=s),
    "service_artist": lambda k, s: parse_service_list(k.body, list_id=k.entity_id, seen=s),
    "hashtag_info": lambda k, s: parse_hashtag_info(k.body, ch_id=k.entity_id, seen=s),
    "hashtag_list": lambda k, s: parse_hashtag_list(k.body, seen=s),
    "search_stream": lambda k, s: parse_search_stream(k.body, place=_place(k), seen=s),
    "search_single": lambda k, s: parse_search_single(k.body, place=_place(k), seen=s),
}
_CHART: Mapping[str, Callable[[ArchivedBody, int, ChartParseContext], Value]] = {
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
SURFACES = frozenset(_PLATFORM) | frozenset(_CHART) | _APP
"""Surfaces whose bodies can be parsed again."""


class BodyParser:
    """Parses archived bodies of one profile's platform."""

    def __init__(self, profile: PlatformProfile) -> None:
        markers = profile.markers
        self._profile = profile
        self._app = load_app(profile.name) if profile.name in KNOWN_PROFILES else None
        self._words = RefusalMarkers(
            verification_title=markers.verification_title,
            verification_body=markers.verification_body,
            verification_path=markers.verification_path,
            forbidden_title=markers.forbidden_title,
        )
        self._chart_words = ChartRefusalTexts(
            denied=markers.chart_denied, unknown=markers.chart_unknown
        )

    def read(self, kept: ArchivedBody) -> Value:
        """Parse a body with the current parser.

        Raises:
            SametrackError: The error that a live response with this body would raise.
            KeyError: No parser reads this surface.
        """
        if kept.surface in _CHART:
            return self._read_chart(kept)
        if kept.surface in _APP:
            return self._read_app(kept)
        answer, parse = kept.to_answer(), _PLATFORM[kept.surface]
        refuse_answer(answer, self._words)
        try:
            return parse(kept, self._seen(kept))
        except (PageWithoutDataError, StructureChangedError) as error:
            named = explain(error, answer, self._words)
            if named is error:
                raise
            raise named from error

    def _read_chart(self, kept: ArchivedBody) -> Value:
        refuse_chart_answer(kept.to_answer())
        seen = ChartParseContext(
            surface=kept.surface, observed_at=kept.observed_at, words=self._chart_words
        )
        return _CHART[kept.surface](kept, kept.cursor or 1, seen)

    def _read_app(self, kept: ArchivedBody) -> Value:
        """What the app showed: a track where no page was asked for, else some of its videos."""
        seen, app = self._seen(kept), self._app
        if app is None:
            raise refusal_error("structure", "the profile has no app", surface=kept.surface)
        if kept.surface == "app_work":
            return parse_app_video(kept.body, app=app, seen=seen)
        parse = parse_app_track if kept.cursor is None else parse_app_page
        return parse(kept.body, music_id=kept.entity_id, app=app, seen=seen)

    def _seen(self, kept: ArchivedBody) -> ParseContext:
        return ParseContext(
            surface=kept.surface,
            observed_at=kept.observed_at,
            link_of=lambda aweme_id: self._profile.public_address(
                "public_video", aweme_id=aweme_id
            ),
        )
