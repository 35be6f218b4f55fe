"""Parser of the guest search: the framed first screen, later pages, and the next page's position.

A first screen holds several documents in sequence. They are merged, and the last one decides: data
after a demand for verification is a success, a demand after data is a refusal.
"""

from collections.abc import Iterator

from pipelines.platform.parsers.fields import JsonNode, parse_json
from pipelines.platform.parsers.refusals import refuse_status
from pipelines.platform.parsers.videos import ParseContext, parse_list_item
from pipelines.platform.refusal_table import refusal_error
from warehouse.records.errors import StructureChangedError, UpstreamError
from warehouse.records.search import SearchPage, SearchPosition
from warehouse.records.videos import Video

_VIDEO_CARD = 1  # the type of an item that is a video
_LONGEST_LENGTH = 8  # hex digits of a frame's length
_LINE_ENDS = b"\r\n"


def parse_search_stream(body: bytes, *, place: SearchPosition, seen: ParseContext) -> SearchPage:
    """Parse the first screen: frames of a hex length and a document each, ended by a length of 0.

    Raises:
        VerificationDemandedError: The last document demands it.
        LoginRequiredError: The last document requires an account.
        StructureChangedError: The framing is broken, or keys or types are unknown.
    """
    if body.lstrip()[:1] == b"{":  # unframed, like later pages
        return parse_search_single(body, place=place, seen=seen)
    documents = [parse_json(frame, surface=seen.surface) for frame in read_frames(body, seen)]
    return _page(_merged(documents, seen), place, seen)


def parse_search_single(body: bytes, *, place: SearchPosition, seen: ParseContext) -> SearchPage:
    """Parse a later page: one document.

    Raises:
        UpstreamError: As for `parse_search_stream`.
    """
    answer = parse_json(body, surface=seen.surface)
    refuse_status(answer)
    return _page(answer, place, seen)


def read_frames(body: bytes, seen: ParseContext) -> list[bytes]:
    """Split a framed body into its documents.

    Raises:
        StructureChangedError: A length is invalid, a frame is truncated, or the end is missing.
    """
    frames: list[bytes] = []
    rest = body.lstrip(_LINE_ENDS)
    while rest:
        line, mark, rest = rest.partition(b"\n")
        length = _length(line.strip(), seen)
        if length == 0:
            return frames
        if not mark:
            break
        frame, rest = _cut(rest, length)
        frames.append(frame)
        rest = rest.lstrip(_LINE_ENDS)
    raise _broken(seen, "the stream ends before its end mark")


def _length(line: bytes, seen: ParseContext) -> int:
    try:
        if 0 < len(line) <= _LONGEST_LENGTH and line.isalnum():
            return int(line, 16)
    except ValueError:
        pass  # raised below, as for a length with too many digits
    raise _broken(seen, "the length of a frame is not a hex number")


def _cut(rest: bytes, length: int) -> tuple[bytes, bytes]:
    """Return a frame and the rest.

    If the length does not end at a line end, it counted characters instead of bytes: documents
    contain no line ends, so the frame is then the line.
    """
    frame, after = rest[:length], rest[length:]
    if len(frame) == length and (not after or after[:1] in {b"\r", b"\n"}):
        return frame, after
    line, _, after = rest.partition(b"\n")
    return line, after


def _merged(documents: list[JsonNode], seen: ParseContext) -> JsonNode:
    """Merge documents: items concatenated, all other fields from the last document."""
    values: dict[str, object] = {}
    items: list[object] = []
    refusal: UpstreamError | None = None
    for document in documents:
        try:
            refuse_status(document)
        except UpstreamError as error:
            if isinstance(error, StructureChangedError):
                raise
            refusal = error
            continue
        if document.has("data"):
            refusal = None
            items += document.items("data")
        values |= document.values
    if refusal is not None:
        raise refusal
    if "data" in values:
        values["data"] = items
    return JsonNode(values, seen.surface, "$")


def _page(answer: JsonNode, place: SearchPosition, seen: ParseContext) -> SearchPage:
    if not answer.has("data"):
        raise answer.missing("data")
    nil_type = _nil_type(answer)
    has_more, cursor = answer.flag("has_more"), answer.whole("cursor")
    if has_more is None and nil_type is None:
        raise answer.missing("has_more")
    if cursor is None and has_more:
        raise answer.missing("cursor")
    items = list(answer.nodes("data"))
    works = list(_videos(items, seen))
    shown: dict[str, Video] = {}
    for work in works:
        shown.setdefault(work.aweme_id, work)
    return SearchPage(
        videos=tuple(shown.values()),
        next_position=_next_place(answer, place, cursor),
        has_more=has_more,
        nil_type=nil_type,
        skipped_cards=len(items) - len(works),
    )


def _videos(items: list[JsonNode], seen: ParseContext) -> Iterator[Video]:
    """Yield the videos among the cards, and the first one of a collection; skip other cards."""
    for item in items:
        work = item.node("aweme_info")
        collection = item.node("aweme_mix_info")
        if work is None and collection is not None:
            work = next(collection.nodes("mix_items"), None)
        elif work is None and item.values.get("type") == _VIDEO_CARD:
            raise item.missing("aweme_info")
        if work is not None:
            yield parse_list_item(work, seen)


def _nil_type(answer: JsonNode) -> str | None:
    """Return the platform's code for "no result"; None if there is none, or there are results."""
    nil = answer.node("search_nil_info")
    if nil is None or answer.items("data"):
        return None
    return nil.name("search_nil_type") or nil.name("search_nil_item")


def _next_place(answer: JsonNode, place: SearchPosition, cursor: int | None) -> SearchPosition:
    """Return where the next page begins. `logid` is the search id; without one the last is kept."""
    extra, log = answer.node("extra"), answer.node("log_pb")
    search_id = (extra.name("logid") if extra else None) or (log.name("impr_id") if log else None)
    return SearchPosition(
        cursor=place.cursor if cursor is None else cursor,
        search_id=search_id or place.search_id,
        backtrace=answer.text("backtrace") or place.backtrace,
    )


def _broken(seen: ParseContext, detail: str) -> UpstreamError:
    return refusal_error("broken_frame", detail, surface=seen.surface)
