"""The table of sources: for each question, every public surface that answers it, in one order.

To add a source, write a reading function and one row. The rows of a question stand in the order in
which they are asked while nothing is known of them; answers then decide (`rules.py`).
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.platform.parsers import descriptions, lists
from pipelines.platform.parsers.music_service import parse_service_list, parse_service_track
from pipelines.platform.parsers.pages import parse_video_page
from pipelines.platform.parsers.search import parse_search_single, parse_search_stream
from pipelines.platform.parsers.videos import ParseContext
from warehouse.records import videos
from warehouse.records.charts import ChartIndex, ChartPage
from warehouse.records.errors import EmptyAnswerError, UpstreamError
from warehouse.records.search import SearchPage, SearchPosition

if TYPE_CHECKING:
    from pipelines.platform.sources.planner import SurfaceReader


# Results of a provider: a record or a file, with its provenance.

PARSER_VERSION = "vidplat-6"
"""Increase it whenever a parser reads the same payload differently."""

type CapturedValue = (
    videos.Track
    | videos.Account
    | videos.HashtagInfo
    | videos.Video
    | videos.Unavailability
    | videos.VideoPage
    | SearchPage
    | ChartIndex
    | ChartPage
    | videos.ServiceSong
    | videos.ServiceSongList
)
"""Every value that a surface can return."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading[T]:
    """One successful read of one surface.

    `payload` is the body that `value` was parsed from; `request_count` includes retries, redirects
    and failed alternatives. `instead_of` is set when the source refused and demo data replaces its
    response; such a value is shown as demo data and never stored.
    """

    surface: str
    entity_id: str
    value: T
    payload: bytes
    content_type: str | None
    http_status: int
    source_path: str
    fetched_at: datetime
    request_count: int
    parser_version: str = PARSER_VERSION
    instead_of: UpstreamError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SoundFile:
    """A downloaded sound. The file is named by its hash; the caller removes it."""

    path: Path
    sha256: str
    size_bytes: int
    content_type: str | None
    request_count: int


PAGE_SIZE = "20"
_GUEST_APP = {"aid": "1128"}
_WEB_APP = {"aid": "6383", "device_platform": "webapp"}
_NOTE_SOURCE = {"request_source": "200"}
_PAGE = {"count": PAGE_SIZE, "cursor": "{cursor}"}
_TREND = {
    "trends_id": "",
    "flash_mob_id": "",
    "ug_id": "",
    "trends_detail_enter_from": "5",
}  # parameters of the trends page; the music id alone chooses the trend
_SEARCH = {
    "device_platform": "webapp",
    "aid": "6383",
    "search_channel": "aweme_general",
    "search_source": "normal_search",
    "is_filter_search": "0",
    "list_type": "single",
    "count": "15",
    "keyword": "{id}",
    "offset": "{place.cursor}",
    "search_id": "{place.search_id}",
    "backtrace": "{place.backtrace}",
}  # parameters of the search page itself, except for its signature

_FIRST_SCREEN = SearchPosition()

type DetailOrUnavailable = videos.Video | videos.Unavailability


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRequest:
    """What is asked: an id or a term, and the position in a list or a search.

    `is_photo` is True if a list showed the video as a photo post.
    """

    entity_id: str
    cursor: int = 0
    place: SearchPosition = _FIRST_SCREEN
    is_photo: bool = False

    @property
    def is_first(self) -> bool:
        """True for a first screen, and for what has no pages."""
        return self.cursor == 0 and self.place == _FIRST_SCREEN


class SourcePages(StrEnum):
    """Which pages of a list or a search a source has."""

    ALL = "all"
    FIRST = "first"
    LATER = "later"


_FIRST, _LATER = SourcePages.FIRST, SourcePages.LATER


@dataclass(frozen=True, slots=True)
class Source[R, T]:
    """One row: a surface that answers a question.

    Attributes:
        surface: Name of the surface; its host is in the platform profile.
        gives: Fields of the question that an answer carries.
        read: Reading function.
        prior: Share of answers with data that is expected before any answer is known.
        batch: Items that one request can answer for.
        needs: What it needs beside the id; empty for a plain guest.
        pages: Pages that it has.
        is_web: It is read by the provider `vidplat-web` alone.
    """

    surface: str
    gives: frozenset[str]
    read: Callable[[R, SourceRequest], Awaitable[Reading[T]]]
    _: KW_ONLY
    prior: float = 0.9
    batch: int = 1
    needs: str = ""
    pages: SourcePages = SourcePages.ALL
    is_web: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Question[R, T]:
    """A question and its sources in declared order; `R` is what its sources read with.

    Attributes:
        name: Name of the question in coverage reports.
        fields: Fields of a complete answer.
        sources: The surfaces that answer it.
        is_walk: A cursor belongs to the source that gave it.
        is_essential: A job is nothing without an answer, so each job asks the best source once,
            however often it refused others.
        missing: Returns the fields that an answer leaves unknown and another source may give.
        follow_up: Returns what that other source is then asked.
    """

    name: str
    fields: frozenset[str]
    sources: tuple[Source[R, T], ...]
    is_walk: bool = False
    is_essential: bool = False
    missing: Callable[[T], frozenset[str]] = field(default=lambda _: frozenset())
    follow_up: Callable[[T, SourceRequest], SourceRequest] = field(
        default=lambda _, request: request
    )


type ParseSurface[T] = Callable[[bytes, str, ParseContext], T]
"""Returns the value of a body, for the requested id."""


@dataclass(frozen=True, slots=True)
class SurfaceRead[T]:
    """Reading function of one surface, declared: how it is asked, and what parses its body.

    `params` are the parameters of a request, or with `is_page` the ids in the path of a page. In
    them `{id}` stands for what is asked for, `{handle}` for that without the `@` of a handle,
    `{cursor}` and `{place}` for the position in a list or a search.
    """

    surface: str
    params: Mapping[str, str]
    parse: ParseSurface[T]
    is_page: bool = False

    async def __call__(self, reader: "SurfaceReader", request: SourceRequest) -> Reading[T]:
        """Read the surface."""
        params = {
            name: text.format(
                id=request.entity_id,
                handle=request.entity_id.removeprefix("@"),
                cursor=request.cursor,
                place=request.place,
            )
            for name, text in self.params.items()
        }
        http_request = reader.build_request(self.surface, params, is_page=self.is_page)
        return await reader.read(http_request, request, self.parse, twice=True)


async def read_slides_info(
    reader: "SurfaceReader", request: SourceRequest
) -> Reading[DetailOrUnavailable]:
    """Read a video from `slides_info`; "gone" counts only if both of its forms say so.

    The plain form shows videos, the other one photo posts. The likelier one is asked first.
    """
    params = {"aweme_ids": f"[{request.entity_id}]"}
    plain = reader.build_request("slides_info", params)
    photos = reader.build_request("slides_info", {**params, **_NOTE_SOURCE})
    answers: dict[str, Reading[DetailOrUnavailable] | EmptyAnswerError] = {}
    for form in (photos, plain) if request.is_photo else (plain, photos):
        try:
            # The second form follows a response that had whatever cookies there are.
            reading = await reader.read(form, request, lists.parse_slides_info, twice=not answers)
        except EmptyAnswerError as error:
            if error.reason != "empty_detail":
                raise
            answers[form.address] = error
            continue
        if isinstance(reading.value, videos.Video):
            return reading
        answers[form.address] = reading
    of_plain, of_photos = answers[plain.address], answers[photos.address]
    # The form for photo posts also filters videos, so the reason of the plain form is the true one,
    # unless it only says that it shows no photo posts.
    if isinstance(of_plain, EmptyAnswerError):
        raise of_plain
    is_about_form = (
        isinstance(of_plain.value, videos.Unavailability) and not of_plain.value.is_final
    )
    return of_photos if is_about_form and isinstance(of_photos, Reading) else of_plain


read_video_page = SurfaceRead("video_page", {"aweme_id": "{id}"}, parse_video_page, is_page=True)
# Desktop pages, and the JSON that they load, without a signature.
read_web_video_page = SurfaceRead(
    "web_video_page", {"aweme_id": "{id}"}, parse_video_page, is_page=True
)
read_web_detail = SurfaceRead(
    "web_detail", {"aweme_id": "{id}", **_WEB_APP}, lists.parse_detail_body
)
read_music_info = SurfaceRead("music_info", {"music_id": "{id}"}, descriptions.parse_music_info)
read_music_list = SurfaceRead("music_list", {"music_id": "{id}", **_PAGE}, lists.parse_music_list)
# The trend around a music id; its items are complete videos.
read_trends_list = SurfaceRead(
    "trends_list", {"music_id": "{id}", **_PAGE, **_TREND}, lists.parse_music_list
)
# A page of a trend by its own id; its items name the music ids.
read_trend = SurfaceRead(
    "trends_list", {**_PAGE, **_TREND, "trends_id": "{id}", "music_id": ""}, lists.parse_trend
)
read_user_info = SurfaceRead("user_info", {"sec_uid": "{id}"}, descriptions.parse_user_info)
# A handle is asked for as `@name`.
read_user_by_handle = SurfaceRead(
    "user_by_handle", {"unique_id": "{handle}"}, descriptions.parse_user_by_handle
)
read_account_page = SurfaceRead(
    "user_page", {"sec_uid": "{id}"}, descriptions.parse_account_page, is_page=True
)
read_user_posts = SurfaceRead(
    "user_posts",
    {"sec_uid": "{id}", "count": PAGE_SIZE, "max_cursor": "{cursor}", **_GUEST_APP},
    lists.parse_user_posts,
)
# The first screen of posts in the share page of an account.
read_user_page = SurfaceRead("user_page", {"sec_uid": "{id}"}, lists.parse_user_page, is_page=True)
read_hashtag_info = SurfaceRead("hashtag_info", {"ch_id": "{id}"}, descriptions.parse_hashtag_info)
read_hashtag_list = SurfaceRead(
    "hashtag_list", {"ch_id": "{id}", **_PAGE}, lists.parse_hashtag_list
)
# The framed first screen of the guest search; later pages are single documents.
read_search_stream = SurfaceRead("search_stream", _SEARCH, parse_search_stream)
read_search_single = SurfaceRead("search_single", _SEARCH, parse_search_single)
read_service_track = SurfaceRead("service_track", {"track_id": "{id}"}, parse_service_track)
SERVICE_LISTS = {
    f"service_{kind}": SurfaceRead(f"service_{kind}", {f"{kind}_id": "{id}"}, parse_service_list)
    for kind in ("playlist", "album", "artist")
}
"""Lists of songs of the music service, by the name of the surface."""


_COUNTS = frozenset(videos.COUNTS)
_PAGE_DETAIL = _COUNTS | {"author", "create_time", "music_id", "play_url"}
_DETAIL = _PAGE_DETAIL | {"author_uid", "is_top"}
_SEARCHED = _DETAIL - {"play_url"}
_TRACK = frozenset({"title", "author", "duration"})
_PROFILE = frozenset({"nickname", "signature", "avatar", "aweme_count"})
_ACCOUNT = _PROFILE | {"follower_count", "total_favorited", "ip_location"}
_HASHTAG = frozenset({"name", "user_count", "view_count"})
_LISTED = frozenset({"aweme_id", "desc"})
_MUSIC_LIST = _LISTED | _COUNTS | {"author", "create_time"}
_POSTS = _LISTED | {"digg_count", "is_top"}
_OF_HASHTAG = _LISTED | {"author"}
_SHELL_PRIOR = 0.05
"""Share of video pages with data: since 2026-08 most are shells without it (issues 98 of
parse-video, 581 of nonebot-plugin-parser, 245 of nonebot-plugin-parser-lite)."""
_PAGE_PRIOR = 0.5
"""Share of pages of accounts with data: no public record shows either."""
_WEB_COOKIES = "the cookies of a visitor of the web host"


def _unknown_fields(detail: DetailOrUnavailable) -> frozenset[str]:
    """Return the counts that are unknown; everything for a photo post that a source leaves out."""
    if isinstance(detail, videos.Unavailability):
        # "This surface shows no photo posts" is no statement about the video.
        return frozenset() if detail.is_final else _DETAIL
    return frozenset(name for name in _COUNTS if getattr(detail.statistics, name) is None)


def _as_photo(detail: DetailOrUnavailable, request: SourceRequest) -> SourceRequest:
    """Return the request for the next source, which is about a photo post if this one said so."""
    is_left_out = isinstance(detail, videos.Unavailability) and not detail.is_final
    return replace(request, is_photo=True) if is_left_out else request


DETAIL: Question["SurfaceReader", DetailOrUnavailable] = Question(
    name="detail",
    fields=_DETAIL,
    missing=_unknown_fields,
    follow_up=_as_photo,
    sources=(
        # Answered unsigned in the records of 2026-08 (pull request 95 of parse-video-py).
        Source("slides_info", _DETAIL, read_slides_info),
        # One record of 2026-08 had data; most of 2026 demand a signature (issue 23 of
        # astrbot_plugin_link_resolver: 403 even to a signed guest).
        Source(
            "web_detail",
            _DETAIL,
            read_web_detail,
            prior=0.1,
            is_web=True,
            needs=_WEB_COOKIES,
        ),
        # No record of 2026 shows data in a desktop page that a guest was sent.
        Source(
            "web_video_page",
            _PAGE_DETAIL,
            read_web_video_page,
            prior=_SHELL_PRIOR,
            is_web=True,
            needs=_WEB_COOKIES,
        ),
        Source("video_page", _PAGE_DETAIL, read_video_page, prior=_SHELL_PRIOR),
    ),
)
TRACK: Question["SurfaceReader", videos.Track] = Question(
    name="track",
    is_essential=True,
    fields=_TRACK,
    # Neither the address of the sound nor the number of its users is among the fields for guests.
    sources=(Source("music_info", _TRACK, read_music_info),),
)
MUSIC_LIST: Question["SurfaceReader", videos.VideoPage] = Question(
    name="music_list",
    is_walk=True,
    is_essential=True,
    fields=_MUSIC_LIST,
    sources=(
        # Collects, author and date of a listed video are unknown: its detail has them.
        Source("music_list", _LISTED | (_COUNTS - {"collect_count"}), read_music_list, batch=20),
        # Only one public project reads it, so it is not expected to answer everywhere.
        Source("trends_list", _MUSIC_LIST, read_trends_list, prior=0.5, batch=20),
    ),
)
PROFILE: Question["SurfaceReader", videos.Account] = Question(
    name="profile",
    fields=_ACCOUNT,
    sources=(
        # Unsigned and alive in September 2026; an old mobile User-Agent gets an empty body.
        Source("user_info", _ACCOUNT, read_user_info),
        Source("user_page", _PROFILE, read_account_page, prior=_PAGE_PRIOR),
    ),
)
HANDLE: Question["SurfaceReader", videos.Account] = Question(
    name="handle",
    fields=_ACCOUNT,
    # No other public source finds an account by its handle.
    sources=(Source("user_by_handle", _ACCOUNT, read_user_by_handle),),
)
POSTS: Question["SurfaceReader", videos.VideoPage] = Question(
    name="posts",
    is_walk=True,
    fields=_POSTS,
    sources=(
        # No public record of 2026 shows posts for an unsigned guest.
        Source("user_posts", _POSTS, read_user_posts, batch=20),
        Source("user_page", _POSTS, read_user_page, prior=_PAGE_PRIOR, batch=20, pages=_FIRST),
    ),
)
HASHTAG: Question["SurfaceReader", videos.HashtagInfo] = Question(
    name="hashtag",
    fields=_HASHTAG,
    sources=(Source("hashtag_info", _HASHTAG, read_hashtag_info),),
)
HASHTAG_LIST: Question["SurfaceReader", videos.VideoPage] = Question(
    name="hashtag_list",
    is_walk=True,
    fields=_OF_HASHTAG,
    # Answers on the mobile host. One project reports that its cursor is that of the page itself.
    sources=(Source("hashtag_list", _OF_HASHTAG, read_hashtag_list, batch=20),),
)
SEARCH: Question["SurfaceReader", SearchPage] = Question(
    name="search",
    fields=_SEARCHED,
    sources=(
        # Guests were asked to log in from 2026-09-23 on, and before that now and then.
        Source("search_stream", _SEARCHED, read_search_stream, prior=0.5, batch=15, pages=_FIRST),
        Source("search_single", _SEARCHED, read_search_single, prior=0.5, batch=15, pages=_LATER),
    ),
)
QUESTIONS: tuple[Question["SurfaceReader", object], ...] = (
    DETAIL,
    TRACK,
    MUSIC_LIST,
    PROFILE,
    HANDLE,
    POSTS,
    HASHTAG,
    HASHTAG_LIST,
    SEARCH,
)  # type: ignore[assignment]  # a question of videos is one of objects
"""Every question of the platform, for the documentation and for tests."""
WALKS = tuple(question for question in QUESTIONS if question.is_walk)
