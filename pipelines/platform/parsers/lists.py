"""List surfaces: works of a music id or a hashtag, posts of an account, other sources of details.

`has_more` that is missing or of another type is a structure error, never "the end". A cursor is
handed on as it came: where a surface tells the current page's, the walk sees that it stalls.
"""

from dataclasses import replace

from pipelines.platform.parsers.fields import Node, parse_json
from pipelines.platform.parsers.negatives import refuse_status
from pipelines.platform.parsers.pages import chosen_work, find_account_lists
from pipelines.platform.parsers.videos import Seen, parse_detail, parse_list_item, parse_unavailable
from pipelines.platform.refusal_table import refused
from warehouse.records.errors import SubstitutionError, UpstreamError
from warehouse.records.videos import UnavailableVideo, VideoDetail, VideoPage

_LIST_KEYS = ("aweme_list", "awemeList", "items")
_HAS_MORE_KEYS = ("has_more", "hasMore")
_MAX_CURSOR_KEYS = ("max_cursor", "maxCursor", "cursor")


def parse_music_list(body: bytes, *, music_id: str, seen: Seen) -> VideoPage:
    """One page of `music_list`; its items mostly do not say which music they use.

    Raises:
        SubstitutionError: Those that say it all use another music.
        UpstreamError: The surface refuses, or its keys or types are not as known.
    """
    page = _list(body, seen)
    named = {video.music.music_id for video in page.videos if video.music is not None}
    if named and music_id not in named:
        raise SubstitutionError(
            "asked for the works of one music, those of another came", surface=seen.surface
        )
    return page


def parse_hashtag_list(body: bytes, *, seen: Seen) -> VideoPage:
    """One page of `hashtag_list`; its items show no counts at all.

    Raises:
        UpstreamError: The surface refuses, or its keys or types are not as known.
    """
    return _list(body, seen)


def parse_user_posts(body: bytes, *, sec_uid: str, seen: Seen) -> VideoPage:
    """One page of `user_posts`.

    Raises:
        SubstitutionError: Posts of another account came.
        UpstreamError: The surface refuses, or its keys or types are not as known.
    """
    answer = parse_json(body, surface=seen.surface)
    refuse_status(answer)
    return _of_account(_page(answer, ("aweme_list",), ("max_cursor",), seen), sec_uid, seen)


def parse_user_page(body: bytes, *, sec_uid: str, seen: Seen) -> VideoPage:
    """The first screen of posts that a share page of an account carries in its HTML.

    Raises:
        UpstreamError: The page withholds it, or its keys or types are not as known.
    """
    lists = find_account_lists(body, surface=seen.surface)
    refuse_status(lists)
    return _of_account(_page(lists, _LIST_KEYS, _MAX_CURSOR_KEYS, seen), sec_uid, seen)


def parse_slides_info(body: bytes, *, aweme_id: str, seen: Seen) -> VideoDetail | UnavailableVideo:
    """The second source of a work's detail.

    Raises:
        EmptyAnswerError: It names neither the work nor a reason.
        SubstitutionError: Another work came.
        UpstreamError: The surface refuses, or its keys or types are not as known.
    """
    answer = parse_json(body, surface=seen.surface)
    refuse_status(answer)
    if not answer.has("aweme_details"):
        raise answer.missing("aweme_details")
    found = chosen_work(
        answer.nodes("aweme_details"), answer.nodes("filter_list"), aweme_id=aweme_id, seen=seen
    )
    if found is None:
        raise _empty_detail(seen)
    return found


def parse_detail_body(body: bytes, *, aweme_id: str, seen: Seen) -> VideoDetail | UnavailableVideo:
    """A detail body: `aweme_detail`, or null with `filter_detail` saying why.

    Raises:
        EmptyAnswerError: It is null without a reason: blocked or gone, nobody says which.
        SubstitutionError: Another work came.
        UpstreamError: The surface refuses, or its keys or types are not as known.
    """
    answer = parse_json(body, surface=seen.surface)
    refuse_status(answer)
    if not answer.has("aweme_detail"):
        raise answer.missing("aweme_detail")
    detail, why = answer.node("aweme_detail"), answer.node("filter_detail")
    if detail is None and why is not None and why.name("filter_reason"):
        return parse_unavailable(why, aweme_id=aweme_id)
    if detail is None:
        raise _empty_detail(seen)
    if detail.must_id("aweme_id") != aweme_id:
        raise SubstitutionError(f"asked for {aweme_id}, another work came", surface=seen.surface)
    return parse_detail(detail, seen)


def _list(body: bytes, seen: Seen) -> VideoPage:
    answer = parse_json(body, surface=seen.surface)
    refuse_status(answer)
    return _page(answer, ("aweme_list",), ("cursor",), seen)


def _page(
    node: Node, list_keys: tuple[str, ...], cursor_keys: tuple[str, ...], seen: Seen
) -> VideoPage:
    list_key, more_key = _present(node, list_keys), _present(node, _HAS_MORE_KEYS)
    has_more = node.flag(more_key)
    if has_more is None:
        raise node.missing(more_key)
    cursor_key = next((key for key in cursor_keys if node.has(key)), cursor_keys[0])
    cursor = node.whole(cursor_key)
    if cursor is None and has_more:
        raise node.missing(cursor_key)
    videos = tuple(parse_list_item(item, seen) for item in node.nodes(list_key))
    return VideoPage(videos=videos, cursor=cursor, has_more=has_more)


def _present(node: Node, keys: tuple[str, ...]) -> str:
    found = next((key for key in keys if node.has(key)), None)
    if found is None:
        raise node.missing(keys[0])
    return found


def _of_account(page: VideoPage, sec_uid: str, seen: Seen) -> VideoPage:
    """Without items of other accounts; a page of nothing else is a substitution."""
    own = tuple(
        video for video in page.videos if video.author is None or video.author.sec_uid == sec_uid
    )
    if page.videos and not own:
        raise SubstitutionError(
            "asked for the posts of one account, those of another came", surface=seen.surface
        )
    return replace(page, videos=own)


def _empty_detail(seen: Seen) -> UpstreamError:
    return refused(
        "empty_detail",
        "the answer names neither the work nor why it is missing",
        surface=seen.surface,
    )
