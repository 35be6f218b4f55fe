"""Guest search: the framed first screen, the later pages, and the place where the next one begins.

A first screen holds several documents, one after another. They are merged, and the last answer
counts: a healthy one after a demand for verification is healthy, and the other way round it is not.
"""

from collections.abc import Iterator

from pipelines.platform.parsers.fields import Node, parse_json
from pipelines.platform.parsers.negatives import refuse_status
from pipelines.platform.parsers.videos import Seen, parse_list_item
from pipelines.platform.refusal_table import refused
from warehouse.records.errors import StructureChangedError, UpstreamError
from warehouse.records.search import SearchPage, SearchPlace
from warehouse.records.videos import Video

_WORK = 1  # the type of an item that is a work
_LONGEST_LENGTH = 8  # hex digits of a frame's length
_LINE_ENDS = b"\r\n"


def parse_search_stream(body: bytes, *, place: SearchPlace, seen: Seen) -> SearchPage:
    """The first screen: frames of a hex length and a document each, ended by a length of 0.

    Raises:
        VerificationDemandedError: The last answer demands it.
        LoginRequiredError: The last answer wants an account.
        StructureChangedError: The frames do not add up, or keys or types are not as known.
    """
    if body.lstrip()[:1] == b"{":  # unframed, as the later pages are
        return parse_search_single(body, place=place, seen=seen)
    documents = [parse_json(frame, surface=seen.surface) for frame in read_frames(body, seen)]
    return _page(_merged(documents, seen), place, seen)


def parse_search_single(body: bytes, *, place: SearchPlace, seen: Seen) -> SearchPage:
    """A later page: one document.

    Raises:
        UpstreamError: As for `parse_search_stream`.
    """
    answer = parse_json(body, surface=seen.surface)
    refuse_status(answer)
    return _page(answer, place, seen)


def read_frames(body: bytes, seen: Seen) -> list[bytes]:
    """The documents of a framed body.

    Raises:
        StructureChangedError: A length is none, a frame is cut off, or the end is missing.
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


def _length(line: bytes, seen: Seen) -> int:
    try:
        if 0 < len(line) <= _LONGEST_LENGTH and line.isalnum():
            return int(line, 16)
    except ValueError:
        pass  # said below, as for what is too long
    raise _broken(seen, "the length of a frame is not a hex number")


def _cut(rest: bytes, length: int) -> tuple[bytes, bytes]:
    """A frame and what follows. A length that does not lead to the end of a line counted
    characters instead of bytes: a document has no line ends, so its line is the frame.
    """
    frame, after = rest[:length], rest[length:]
    if len(frame) == length and (not after or after[:1] in {b"\r", b"\n"}):
        return frame, after
    line, _, after = rest.partition(b"\n")
    return line, after


def _merged(documents: list[Node], seen: Seen) -> Node:
    """One answer out of many: items one after another, everything else as the last one says."""
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
    return Node(values, seen.surface, "$")


def _page(answer: Node, place: SearchPlace, seen: Seen) -> SearchPage:
    if not answer.has("data"):
        raise answer.missing("data")
    nil_type = _nil_type(answer)
    has_more, cursor = answer.flag("has_more"), answer.whole("cursor")
    if has_more is None and nil_type is None:
        raise answer.missing("has_more")
    if cursor is None and has_more:
        raise answer.missing("cursor")
    items = list(answer.nodes("data"))
    works = list(_works(items, seen))
    shown: dict[str, Video] = {}
    for work in works:
        shown.setdefault(work.aweme_id, work)
    return SearchPage(
        videos=tuple(shown.values()),
        next_place=_next_place(answer, place, cursor),
        has_more=has_more,
        nil_type=nil_type,
        skipped_cards=len(items) - len(works),
    )


def _works(items: list[Node], seen: Seen) -> Iterator[Video]:
    """The works among the cards; of a collection its first one. Other cards give nothing."""
    for item in items:
        work = item.node("aweme_info")
        collection = item.node("aweme_mix_info")
        if work is None and collection is not None:
            work = next(collection.nodes("mix_items"), None)
        elif work is None and item.values.get("type") == _WORK:
            raise item.missing("aweme_info")
        if work is not None:
            yield parse_list_item(work, seen)


def _nil_type(answer: Node) -> str | None:
    """The platform's word for "no result"; None when it says nothing, or shows one after all."""
    nil = answer.node("search_nil_info")
    if nil is None or answer.items("data"):
        return None
    return nil.name("search_nil_type") or nil.name("search_nil_item")


def _next_place(answer: Node, place: SearchPlace, cursor: int | None) -> SearchPlace:
    """The ids of log lines are the search's id; an answer without one goes on with the last."""
    extra, log = answer.node("extra"), answer.node("log_pb")
    search_id = (extra.name("logid") if extra else None) or (log.name("impr_id") if log else None)
    return SearchPlace(
        cursor=place.cursor if cursor is None else cursor,
        search_id=search_id or place.search_id,
        backtrace=answer.text("backtrace") or place.backtrace,
    )


def _broken(seen: Seen, detail: str) -> UpstreamError:
    return refused("broken_frame", detail, surface=seen.surface)
