"""Parser of public pages: finds the data container in the HTML, and the requested item in it.

Items are found by value, since the route names in the container change. Data comes first: only a
page without data is searched for the reason (`refusals.py`).
"""

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from urllib.parse import unquote_to_bytes

import orjson

from pipelines.platform.page_scripts import find_scripts
from pipelines.platform.parsers import fields, videos
from pipelines.platform.parsers.desktop import find_desktop_results, read_stream_rows
from pipelines.platform.parsers.refusals import find_refusal, refuse_status, says_gone
from pipelines.platform.refusal_table import refusal_error
from warehouse.records.errors import StructureChangedError, SubstitutionError, UpstreamError
from warehouse.records.videos import UnavailableVideo, VideoDetail

_ROUTER = "_ROUTER_DATA"
_RENDERED = re.compile(rb"""\bid\s*=\s*["']?RENDER_DATA\b""")
# Objects of the pages of videos, slides and notes; the routes above them change their names.
_VIDEO_KEYS = ("videoInfoRes", "slidesInfoRes", "noteDetailRes")
_ITEM_KEYS = ("item_list", "aweme_details")
_ALONE = "aweme_detail"  # of note pages, desktop pages and the JSON of a detail
_MAX_DEPTH = 6
_ANY_PAGE = videos.ParseContext(
    surface="page", observed_at=datetime.min.replace(tzinfo=UTC), link_of=str
)
_MAX_ESCAPES = 400_000  # each is an object while they are replaced


def parse_container(body: bytes, *, surface: str) -> fields.JsonNode:
    """Return the data object of a public page.

    It is `_ROUTER_DATA` of a share page, `RENDER_DATA` of a desktop page, or the rows that a
    desktop page streams.

    Raises:
        StructureChangedError: The page has no container, or an unreadable one.
    """
    container = next(_containers(body, surface=surface), None)
    if container is None:
        raise _no_container(surface)
    return container


def _no_container(surface: str) -> UpstreamError:
    return refusal_error("no_container", "the page has no data container", surface=surface)


def _containers(body: bytes, *, surface: str) -> Iterator[fields.JsonNode]:
    fields.refuse_too_many_values(body, surface=surface)
    scripts = list(find_scripts(body))
    for script in scripts:
        text = script.text.strip()
        if _RENDERED.search(script.attributes):
            yield _decoded(_unescaped(text, surface), surface)
        # Data is decoded before its keys are compared: slashes in it may be written "\u002F".
        name, _, value = text.partition("=")
        if name.strip().removeprefix("window.") == _ROUTER:
            value = value.lstrip()
            try:
                container = _decoded(value.rstrip(";").encode(), surface)
            except StructureChangedError:
                # Pages of the music service go on with code in the same script.
                try:
                    end = json.JSONDecoder().raw_decode(value)[1]
                except (ValueError, RecursionError):
                    end = 0
                container = _decoded(value[:end].encode(), surface)
            yield container
    rows = read_stream_rows(scripts, surface=surface)
    if rows is not None:
        yield rows


def _unescaped(text: str, surface: str) -> bytes:
    """Return the JSON of a container, which is usually written with percent signs."""
    if text.count("%") > _MAX_ESCAPES:
        raise StructureChangedError(
            f"the data container has more than {_MAX_ESCAPES} escapes",
            surface=surface,
            reason="too_many_values",
        )
    data = text.encode()
    try:
        is_json = text.startswith("{")
        if is_json:  # then percent signs belong to its texts
            fields.decode_json(data)
    except orjson.JSONDecodeError:
        is_json = False
    if not is_json:
        data = unquote_to_bytes(text)
    fields.refuse_too_many_values(data, surface=surface)
    return data


def parse_video_page(
    body: bytes, aweme_id: str, context: videos.ParseContext
) -> VideoDetail | UnavailableVideo:
    """Parse the video on a video, note or slides page, or on its desktop page.

    A JSON body is what the page's own script received instead of data in the page.

    Raises:
        PageWithoutDataError: The container lacks the video: the platform withholds it.
        SubstitutionError: The page shows another video.
        RegionBlockedError: The platform serves this region elsewhere.
        LoginRequiredError: The result asks for an account.
        StructureChangedError: Keys, types or the result's status are unknown.
    """
    # The redirect of a deleted video leads to a page about an unrelated one, which is not followed.
    if context.is_gone:
        return UnavailableVideo(aweme_id=aweme_id, reason="unavailable")
    result = _result(body, aweme_id, context)
    videos.refuse_region(result)
    video = find_requested_video(_shown(result), result, aweme_id, context)
    if video is None:
        # A reason in the filter list comes before the status, which may be an error all the same.
        refuse_status(result)
        raise refusal_error(
            "page_without_data",
            "the page contains neither the video nor a reason",
            surface=context.surface,
            reason=result.keys_seen(),
        )
    return video


def _result(body: bytes, aweme_id: str, context: videos.ParseContext) -> fields.JsonNode:
    """Return the object of a page, or of its script, that shows the video or says why it does not.

    Raises:
        PageWithoutDataError: No container of the page has such an object.
        StructureChangedError: There is no container, or it cannot be read.
    """
    # What the script of a shell page loaded, if the page was read in a browser.
    if body.lstrip()[:1] == b"{":
        return fields.parse_json(body, surface=context.surface)
    containers = list(_containers(body, surface=context.surface))
    # A desktop page may have its data in the stream, beside a container without it.
    results = [
        result for container in containers for result in find_desktop_results(container, context)
    ]
    # A page shows other videos, too. The result of the requested video comes first, then what says
    # that it is not shown. Only if nothing is about it, the first result counts.
    signs: tuple[Callable[[fields.JsonNode], object], ...] = (
        lambda result: _names(result, aweme_id),
        says_why,
        find_refusal,
        lambda result: result.values[_ALONE],
    )
    for sign in signs:
        for result in results:
            if sign(result):
                return result
    if not containers:
        raise _no_container(context.surface)
    return _find_object(containers[0], _VIDEO_KEYS)[1]


def _names(result: fields.JsonNode, aweme_id: str) -> bool:
    detail = result.node(_ALONE)
    return detail is not None and str(detail.values.get("aweme_id")) == aweme_id


def shows_video(body: bytes) -> bool:
    """Return True if a page, or JSON in its place, shows a video or says why it does not."""
    try:
        result = _result(body, "", _ANY_PAGE)
        return says_why(result) or next(_shown(result), None) is not None
    except UpstreamError:
        return False


def _shown(result: fields.JsonNode) -> Iterator[fields.JsonNode]:
    """Yield the videos of a result: a list, or (on note and desktop pages) a single one."""
    alone = result.node(_ALONE)
    if alone is not None:
        return iter((alone,))
    items = next((key for key in _ITEM_KEYS if key in result.values), None)
    if items is None and _ALONE not in result.values and not says_why(result):
        refuse_status(result)
        raise result.missing(_ITEM_KEYS[0])
    return iter(()) if items is None else result.nodes(items)


def says_why(result: fields.JsonNode) -> bool:
    """Return True if a result says why it does not show a video."""
    return says_gone(result) or next(_filtered(result), None) is not None


def _filtered(result: fields.JsonNode) -> Iterator[fields.JsonNode]:
    """Yield what a result says of videos that it does not show: each with an id or a reason."""
    detail = result.node("filter_detail")
    for entry in (*result.nodes("filter_list"), *([] if detail is None else [detail])):
        has_reason = any(
            (videos.read_filter_reason(entry), *map(entry.name, ("notice", "detail_msg")))
        )
        if has_reason or (entry is not detail and entry.id("aweme_id")):
            yield entry


def find_requested_video(
    items: Iterator[fields.JsonNode],
    result: fields.JsonNode,
    aweme_id: str,
    context: videos.ParseContext,
) -> VideoDetail | UnavailableVideo | None:
    """Return the requested video among those that a result shows or filters, else None.

    A reason without an id is about the video that was asked for.

    Raises:
        SubstitutionError: Only other videos are shown.
    """
    others: list[str] = []
    for item in items:
        item_id = item.must_id("aweme_id")
        if item_id == aweme_id:
            return videos.parse_detail(item, context)
        others.append(item_id)
    # "Deleted", "private" and "under review" are statements about the video, not errors.
    for entry in _filtered(result):
        filtered_id = entry.id("aweme_id") or aweme_id
        if filtered_id == aweme_id:
            return videos.parse_unavailable(entry, aweme_id=aweme_id)
        others.append(filtered_id)
    if others:
        raise SubstitutionError(
            f"requested {aweme_id}, got another video", surface=context.surface, reason=others[0]
        )
    if says_gone(result):
        message = result.values.get("status_msg")
        return UnavailableVideo(
            aweme_id=aweme_id,
            reason="unavailable",
            filter_reason=f"status_code {result.values['status_code']}",
            notice=message if isinstance(message, str) and message else None,
        )
    return None


def find_account_lists(body: bytes, *, surface: str) -> fields.JsonNode:
    """Return the object of a user page that holds the list of videos.

    Raises:
        PageWithoutDataError: The container lacks it.
        StructureChangedError: There is no container.
    """
    return _find_object(parse_container(body, surface=surface), ("postListData",))[1]


def find_account(body: bytes, *, surface: str) -> tuple[fields.JsonNode, fields.JsonNode]:
    """Return the object of a user page that holds the account, and the account's result in it.

    Raises:
        PageWithoutDataError: The container lacks it.
        StructureChangedError: There is no container.
    """
    return _find_object(parse_container(body, surface=surface), ("userInfoRes",))


def _decoded(text: bytes, surface: str) -> fields.JsonNode:
    try:
        value = fields.decode_json(text)
    except orjson.JSONDecodeError as exc:
        raise StructureChangedError(
            "the data container is not JSON", surface=surface, reason="not_json"
        ) from exc
    if value is None:
        value = {}  # a container without data, as some routes have it
    if not isinstance(value, dict):
        raise StructureChangedError(
            "the data container is not an object", surface=surface, reason=type(value).__name__
        )
    return fields.JsonNode(value, surface, "$")


def _find_object(
    container: fields.JsonNode, keys: tuple[str, ...]
) -> tuple[fields.JsonNode, fields.JsonNode]:
    """Return the parent of the first object under one of `keys` near the top, and that object.

    Raises:
        PageWithoutDataError: There is no such object.
        StructureChangedError: The value under such a key is not an object.
    """
    level = [container]
    # Level by level, since the names of the routes above the data change.
    for _ in range(_MAX_DEPTH):
        for node in level:
            for key in keys:
                if node.values.get(key) is not None:
                    return node, node.must_node(key)
        level = [
            fields.JsonNode(value, node.surface, f"{node.path}.{key[: fields.KEY_LENGTH_SHOWN]}")
            for node in level
            for key, value in node.values.items()
            if isinstance(value, dict)
        ]
    loader = container.values.get("loaderData")
    routes = (
        fields.JsonNode(loader, container.surface, "$") if isinstance(loader, dict) else container
    )
    raise refusal_error(
        "page_without_data",
        "the page contains no data",
        surface=container.surface,
        reason=routes.keys_seen(),
    )
