"""Parsers of lists (videos of a music id or hashtag, posts of an account) and of second details.

A missing or mistyped `has_more` is a structure error, never "the end". A cursor is passed on
unchanged: if a surface repeats the current page's, the walk detects that it stalls.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from pipelines.platform.parsers.fields import JsonNode, parse_json
from pipelines.platform.parsers.pages import find_account_lists, find_requested_video, says_why
from pipelines.platform.parsers.refusals import open_answer, refuse_status
from pipelines.platform.parsers.videos import ParseContext, parse_video
from pipelines.platform.refusal_table import refusal_error
from warehouse.records import videos
from warehouse.records.errors import StructureChangedError, SubstitutionError, UpstreamError

# The data in a page is spelled otherwise than the JSON surface that its script asks.
_LIST_KEYS = ("aweme_list", "awemeList", "items")
_HAS_MORE_KEYS = ("has_more", "hasMore")
_MAX_CURSOR_KEYS = ("max_cursor", "maxCursor", "cursor")


def parse_music_list(body: bytes, music_id: str, context: ParseContext) -> videos.VideoPage:
    """Parse one page of `music_list`. A row may name its music, and it may be another one.

    A page with more foreign rows than others is a substitution, as in every list. But the few rows
    of such a page that are of the music id are evidence, and each row that names its own music id
    is a candidate under that one. So the page is returned (`VideoPage.is_substituted`), and the
    walk refuses it: a list to show ends there, a scan keeps both kinds of rows apart. Only a page
    whose rows all name the same other music id is the list of that one, and of no use here.

    Raises:
        SubstitutionError: All rows name the same other music id.
        UpstreamError: The surface refuses, or keys or types are unknown.
    """
    answer = open_answer(body, surface=context.surface)
    page = _page(
        answer, context, is_foreign=lambda video: videos.is_of_other_music(video, music_id)
    )
    # Rows with `music: {}` state nothing, so the platform vouches for them by listing them.
    named = [video.music.music_id for video in page.foreign if video.music is not None]
    if not page.videos and len(named) > 1 and len(set(named)) == 1:
        raise SubstitutionError(
            "the response is the list of another music id",
            surface=context.surface,
            reason=named[0],
        )
    return page


def parse_hashtag_list(body: bytes, ch_id: str, context: ParseContext) -> videos.VideoPage:
    """Parse one page of `hashtag_list`. Its items show no counts at all.

    Raises:
        SubstitutionError: More than half of its rows state other hashtags.
        UpstreamError: The surface refuses, or keys or types are unknown.
    """
    answer = open_answer(body, surface=context.surface)
    page = _page(answer, context, is_foreign=lambda video: videos.is_of_other_hashtag(video, ch_id))
    if page.is_substituted:
        raise foreign_rows_error(page)
    return page


def parse_trend(body: bytes, _trends_id: str, context: ParseContext) -> videos.VideoPage:
    """Parse one page of `trends_list` that was asked for by the id of the trend.

    Its rows name music ids and no trend, so there is nothing to compare.

    Raises:
        UpstreamError: The surface refuses, or keys or types are unknown.
    """
    return _page(open_answer(body, surface=context.surface), context)


def parse_user_posts(body: bytes, sec_uid: str, context: ParseContext) -> videos.VideoPage:
    """Parse one page of `user_posts`.

    Raises:
        EmptyAnswerError: It is a first page, and lacks the posts that it claims.
        SubstitutionError: More than half of the posts are of other accounts.
        UpstreamError: The surface refuses, or keys or types are unknown.
    """
    answer = open_answer(body, surface=context.surface)
    return _posts(answer, sec_uid, context, ("aweme_list",), ("max_cursor",))


def parse_user_page(body: bytes, sec_uid: str, context: ParseContext) -> videos.VideoPage:
    """Parse the first screen of posts in the HTML of an account's share page.

    Raises:
        EmptyAnswerError: It lacks the posts that it claims.
        SubstitutionError: More than half of the posts are of other accounts.
        UpstreamError: The page withholds it, or keys or types are unknown.
    """
    lists = find_account_lists(body, surface=context.surface)
    refuse_status(lists)
    return _posts(lists, sec_uid, replace(context, is_first=True), _LIST_KEYS, _MAX_CURSOR_KEYS)


def _posts(
    answer: JsonNode,
    sec_uid: str,
    context: ParseContext,
    list_keys: tuple[str, ...],
    cursor_keys: tuple[str, ...],
) -> videos.VideoPage:
    """Parse posts of an account. Unsigned guests often get an empty list that claims to go on."""
    page = _page(
        answer,
        context,
        list_keys,
        cursor_keys,
        is_foreign=lambda video: videos.is_of_other_account(video, sec_uid),
    )
    if context.is_first and page.has_more and not (page.videos or page.foreign):
        raise refusal_error(
            "withheld_posts", "the response claims posts and has none", surface=context.surface
        )
    if page.is_substituted:
        raise foreign_rows_error(page)
    return page


def _page(
    answer: JsonNode,
    context: ParseContext,
    list_keys: tuple[str, ...] = ("aweme_list",),
    cursor_keys: tuple[str, ...] = ("cursor",),
    *,
    is_foreign: Callable[[videos.Video], bool] = lambda _video: False,
) -> videos.VideoPage:
    """Parse a page of a list, with the rows that state another entity set apart."""
    # Each in the first of its spellings that the answer has.
    list_key, more_key, cursor_key = (
        next((key for key in keys if key in answer.values), keys[0])
        for keys in (list_keys, _HAS_MORE_KEYS, cursor_keys)
    )
    if list_key not in answer.values:
        raise answer.missing(list_key)
    # A `has_more` that is missing or of another type is a structure error, never "the end".
    has_more = answer.flag(more_key)
    if has_more is None:
        raise answer.missing(more_key)
    cursor = answer.whole(cursor_key)
    # Without a cursor the walk could not go on, and would end as if the list were complete.
    if cursor is None and has_more:
        raise answer.missing(cursor_key)
    rows = [parse_video(item, context) for item in answer.nodes(list_key)]
    return videos.VideoPage(
        videos=tuple([video for video in rows if not is_foreign(video)]),
        foreign=tuple([video for video in rows if is_foreign(video)]),
        cursor=cursor,
        has_more=has_more,
    )


def parse_slides_info(
    body: bytes, aweme_id: str, context: ParseContext
) -> videos.VideoDetail | videos.UnavailableVideo:
    """Parse `slides_info`, the JSON of videos by id.

    Raises:
        EmptyAnswerError: It names neither the video nor a reason.
        SubstitutionError: The response is another video.
        UpstreamError: The surface refuses, or keys or types are unknown.
    """
    # The list is null for a video that is not shown; `filter_list` then says why.
    answer = _open_detail(body, "aweme_details", context)
    return _requested_video(answer.nodes("aweme_details"), answer, aweme_id, context)


def parse_detail_body(
    body: bytes, aweme_id: str, context: ParseContext
) -> videos.VideoDetail | videos.UnavailableVideo:
    """Parse a detail body: `aweme_detail`, or null with the reason in `filter_detail`.

    Raises:
        EmptyAnswerError: It is null without a reason: blocked or deleted, unknown which.
        SubstitutionError: The response is another video.
        UpstreamError: The surface refuses, or keys or types are unknown.
    """
    answer = _open_detail(body, "aweme_detail", context)
    detail = answer.node("aweme_detail")
    items = [] if detail is None or not detail.values else [detail]
    return _requested_video(iter(items), answer, aweme_id, context)


def _open_detail(body: bytes, key: str, context: ParseContext) -> JsonNode:
    """Return the answer of a detail surface, unless it neither has the key nor says why not.

    Raises:
        UpstreamError: The surface refuses, or keys or types are unknown.
    """
    answer = parse_json(body, surface=context.surface)
    try:
        refuse_status(answer)
        filtered = answer.node("filter_detail")
        # A filter detail that names a video is enough, with a reason or without one.
        if key not in answer.values and (filtered is None or filtered.id("aweme_id") is None):
            raise answer.missing(key)
    except StructureChangedError:
        # A status and a form that nobody knows say less than a reason of the platform's own.
        if not says_why(answer):
            raise
    return answer


def _requested_video(
    items: Iterator[JsonNode], answer: JsonNode, aweme_id: str, context: ParseContext
) -> videos.VideoDetail | videos.UnavailableVideo:
    video = find_requested_video(items, answer, aweme_id, context)
    if video is None:
        raise refusal_error(
            "empty_detail",
            "the response contains neither the video nor a reason",
            surface=context.surface,
        )
    return video


def foreign_rows_error(page: videos.VideoPage, *, surface: str | None = None) -> UpstreamError:
    """Return the error of a page with more foreign rows than others.

    `surface`: the list, if the rows are of details.
    """
    count = len(page.videos) + len(page.foreign)
    return refusal_error(
        "foreign_rows",
        f"{len(page.foreign)} of {count} rows state another account, hashtag or music id than "
        "the one that was asked for",
        surface=surface or page.foreign[0].surface,
    )
