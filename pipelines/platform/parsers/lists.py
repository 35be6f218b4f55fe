"""Parsers of lists (videos of a music id or hashtag, posts of an account) and of second details.

A missing or mistyped `has_more` is a structure error, never "the end". A cursor is passed on
unchanged: if a surface repeats the current page's, the walk detects that it stalls.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from pipelines.platform.parsers.fields import JsonNode, parse_json
from pipelines.platform.parsers.pages import find_account_lists, find_requested_video, says_why
from pipelines.platform.parsers.refusals import open_answer, refuse_status
from pipelines.platform.parsers.videos import ParseContext, parse_list_item
from pipelines.platform.refusal_table import refusal_error
from warehouse.records.errors import StructureChangedError, SubstitutionError, UpstreamError
from warehouse.records.videos import (
    UnavailableVideo,
    Video,
    VideoDetail,
    VideoPage,
    is_of_other_account,
    is_of_other_hashtag,
    is_of_other_music,
)

_LIST_KEYS = ("aweme_list", "awemeList", "items")
_HAS_MORE_KEYS = ("has_more", "hasMore")
_MAX_CURSOR_KEYS = ("max_cursor", "maxCursor", "cursor")


def parse_music_list(body: bytes, music_id: str, seen: ParseContext) -> VideoPage:
    """Parse one page of `music_list`. A row may name its music, and it may be another one.

    A page with more foreign rows than others is a substitution, as in every list. But the few rows
    of such a page that are of the music id are evidence, and each row that names its own music id
    is a candidate under that one. So the page is returned (`VideoPage.is_substituted`), and the
    walk refuses it: a list to show ends there, a scan keeps both kinds of rows apart. Only a page
    whose rows all name the same other music id is the list of that one, and of no use here.

    Raises:
        SubstitutionError: It is.
        UpstreamError: The surface refuses, or keys or types are unknown.
    """
    answer = open_answer(body, surface=seen.surface)
    page = _page(answer, ("aweme_list",), ("cursor",), seen)
    page = _split(page, lambda video: is_of_other_music(video, music_id))
    named = [video.music.music_id for video in page.foreign if video.music is not None]
    if not page.videos and len(named) > 1 and len(set(named)) == 1:
        raise SubstitutionError(
            "the response is the list of another music id", surface=seen.surface, reason=named[0]
        )
    return page


def parse_hashtag_list(body: bytes, ch_id: str, seen: ParseContext) -> VideoPage:
    """Parse one page of `hashtag_list`.

    Raises:
        SubstitutionError: More than half of its rows state other hashtags.
        UpstreamError: The surface refuses, or keys or types are unknown.
    """
    answer = open_answer(body, surface=seen.surface)
    page = _page(answer, ("aweme_list",), ("cursor",), seen)
    return _not_substituted(_split(page, lambda video: is_of_other_hashtag(video, ch_id)))


def parse_trend(body: bytes, *, seen: ParseContext) -> VideoPage:
    """Parse one page of `trends_list` that was asked for by the id of the trend.

    Its rows name music ids and no trend, so there is nothing to compare.

    Raises:
        UpstreamError: The surface refuses, or keys or types are unknown.
    """
    answer = open_answer(body, surface=seen.surface)
    return _page(answer, ("aweme_list",), ("cursor",), seen)


def parse_user_posts(
    body: bytes, sec_uid: str, seen: ParseContext, *, is_first: bool = False
) -> VideoPage:
    """Parse one page of `user_posts`. A first page that lacks the posts it claims withholds them.

    Raises:
        EmptyAnswerError: It does.
        SubstitutionError: More than half of the posts are of other accounts.
        UpstreamError: The surface refuses, or keys or types are unknown.
    """
    answer = open_answer(body, surface=seen.surface)
    page = _page(answer, ("aweme_list",), ("max_cursor",), seen)
    return _of_account(_not_withheld(page, seen) if is_first else page, sec_uid)


def parse_user_page(body: bytes, sec_uid: str, seen: ParseContext) -> VideoPage:
    """Parse the first screen of posts in the HTML of an account's share page.

    Raises:
        EmptyAnswerError: It lacks the posts that it claims.
        SubstitutionError: More than half of the posts are of other accounts.
        UpstreamError: The page withholds it, or keys or types are unknown.
    """
    lists = find_account_lists(body, surface=seen.surface)
    refuse_status(lists)
    page = _page(lists, _LIST_KEYS, _MAX_CURSOR_KEYS, seen)
    return _of_account(_not_withheld(page, seen), sec_uid)


def parse_slides_info(
    body: bytes, aweme_id: str, seen: ParseContext
) -> VideoDetail | UnavailableVideo:
    """Parse `slides_info`, the JSON of videos by id.

    Raises:
        EmptyAnswerError: It names neither the video nor a reason.
        SubstitutionError: The response is another video.
        UpstreamError: The surface refuses, or keys or types are unknown.
    """
    answer = _open_detail(body, "aweme_details", seen)
    return _requested_video(answer.nodes("aweme_details"), answer, aweme_id, seen)


def parse_detail_body(
    body: bytes, aweme_id: str, seen: ParseContext
) -> VideoDetail | UnavailableVideo:
    """Parse a detail body: `aweme_detail`, or none with the reason in `filter_detail`.

    Raises:
        EmptyAnswerError: It is null without a reason: blocked or deleted, unknown which.
        SubstitutionError: The response is another video.
        UpstreamError: The surface refuses, or keys or types are unknown.
    """
    answer = _open_detail(body, "aweme_detail", seen)
    detail = answer.node("aweme_detail")
    shown = [] if detail is None or not detail.values else [detail]
    return _requested_video(iter(shown), answer, aweme_id, seen)


def _open_detail(body: bytes, key: str, seen: ParseContext) -> JsonNode:
    """Return the answer of a detail surface, unless it neither has the key nor says why not.

    Raises:
        UpstreamError: The surface refuses, or keys or types are unknown.
    """
    answer = parse_json(body, surface=seen.surface)
    try:
        refuse_status(answer)
        if not answer.has(key) and not _is_filtered(answer):
            raise answer.missing(key)
    except StructureChangedError:
        # A status and a form that nobody knows say less than a reason of the platform's own.
        if not says_why(answer):
            raise
    return answer


def _is_filtered(answer: JsonNode) -> bool:
    """Return True if a filter detail names a video, with a reason or without one."""
    detail = answer.node("filter_detail")
    return detail is not None and detail.id("aweme_id") is not None


def _requested_video(
    shown: Iterator[JsonNode], answer: JsonNode, aweme_id: str, seen: ParseContext
) -> VideoDetail | UnavailableVideo:
    found = find_requested_video(shown, answer, aweme_id=aweme_id, seen=seen)
    if found is None:
        raise refusal_error(
            "empty_detail",
            "the response contains neither the video nor a reason",
            surface=seen.surface,
        )
    return found


def _page(
    node: JsonNode, list_keys: tuple[str, ...], cursor_keys: tuple[str, ...], seen: ParseContext
) -> VideoPage:
    list_key, more_key = _present(node, list_keys), _present(node, _HAS_MORE_KEYS)
    has_more = node.flag(more_key)
    if has_more is None:
        raise node.missing(more_key)
    cursor_key = next((key for key in cursor_keys if node.has(key)), cursor_keys[0])
    cursor = node.whole(cursor_key)
    # Without a cursor the walk could not go on, and would end as if the list were complete.
    if cursor is None and has_more:
        raise node.missing(cursor_key)
    videos = tuple(parse_list_item(item, seen) for item in node.nodes(list_key))
    return VideoPage(videos=videos, cursor=cursor, has_more=has_more)


def _present(node: JsonNode, keys: tuple[str, ...]) -> str:
    found = next((key for key in keys if node.has(key)), None)
    if found is None:
        raise node.missing(keys[0])
    return found


def _not_withheld(page: VideoPage, seen: ParseContext) -> VideoPage:
    """Return a first page of posts, unless it claims to have more and has none."""
    if page.has_more and not page.videos:
        raise refusal_error(
            "withheld_posts", "the response claims posts and has none", surface=seen.surface
        )
    return page


def _of_account(page: VideoPage, sec_uid: str) -> VideoPage:
    return _not_substituted(_split(page, lambda video: is_of_other_account(video, sec_uid)))


def _split(page: VideoPage, is_foreign: Callable[[Video], bool]) -> VideoPage:
    """Set the rows that state another entity apart from those of the list."""
    return replace(
        page,
        videos=tuple(video for video in page.videos if not is_foreign(video)),
        foreign=tuple(video for video in page.videos if is_foreign(video)),
    )


def _not_substituted(page: VideoPage) -> VideoPage:
    """Return a page, unless more than half of its rows are of other entities.

    Raises:
        SubstitutionError: They are.
    """
    if page.is_substituted:
        raise foreign_rows_error(page)
    return page


def foreign_rows_error(page: VideoPage, *, surface: str | None = None) -> UpstreamError:
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
