"""Parser of the guest search: the streamed first screen, later pages, the next page's position.

A first screen holds several documents in sequence (`streams.py`). They are merged, and the last
one decides: data after a demand for verification is a success, a demand after data is a refusal.
"""

from collections.abc import Iterator, Sequence

from pipelines.platform.parsers.fields import JsonNode
from pipelines.platform.parsers.refusals import open_answer, refuse_status
from pipelines.platform.parsers.streams import read_stream
from pipelines.platform.parsers.videos import ParseContext, parse_list_item
from warehouse.records.errors import StructureChangedError, UpstreamError
from warehouse.records.search import HARMLESS_NIL_TYPES, SearchPage, SearchPosition
from warehouse.records.videos import Video

_VIDEO_CARD = 1  # the type of an item that is a video


def parse_search_stream(body: bytes, *, place: SearchPosition, seen: ParseContext) -> SearchPage:
    """Parse the first screen, a sequence of documents. Documents that arrived whole count.

    Raises:
        VerificationDemandedError: The last document demands it.
        LoginRequiredError: The last document requires an account.
        StructureChangedError: It is no such stream, or keys or types are unknown.
    """
    stream = read_stream(body, surface=seen.surface)
    if not stream.documents:
        return SearchPage(videos=(), next_position=place, has_more=None, is_cut=True)
    return _page(_merged(stream.documents, seen), place, seen, is_cut=stream.is_cut)


def parse_search_single(body: bytes, *, place: SearchPosition, seen: ParseContext) -> SearchPage:
    """Parse a later page: one document.

    Raises:
        UpstreamError: As for `parse_search_stream`.
    """
    answer = open_answer(body, surface=seen.surface)
    return _page(answer, place, seen)


def _merged(documents: Sequence[JsonNode], seen: ParseContext) -> JsonNode:
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


def _page(
    answer: JsonNode, place: SearchPosition, seen: ParseContext, *, is_cut: bool = False
) -> SearchPage:
    """Build the page. If it was cut, the document with its end may be the one that is missing."""
    if not answer.has("data"):
        raise answer.missing("data")
    nil_type = _nil_type(answer)
    has_more, cursor = answer.flag("has_more"), answer.whole("cursor")
    if has_more is None and nil_type is None and not is_cut:
        raise answer.missing("has_more")
    if cursor is None and has_more and is_cut:
        has_more = None  # there is more, but not where
    elif cursor is None and has_more:
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
        is_cut=is_cut,
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
    """Return the platform's code for "no result"; None if there is none, or there are results.

    The platform names a kind and an item. If only one of them is harmless, the other one counts.
    """
    nil = answer.node("search_nil_info")
    if nil is None or answer.items("data"):
        return None
    named = [nil.name("search_nil_type"), nil.name("search_nil_item")]
    codes = [code for code in named if code is not None]
    return next((code for code in codes if code not in HARMLESS_NIL_TYPES), next(iter(codes), None))


def _next_place(answer: JsonNode, place: SearchPosition, cursor: int | None) -> SearchPosition:
    """Return where the next page begins. `logid` is the search id; without one the last is kept."""
    extra, log = answer.node("extra"), answer.node("log_pb")
    search_id = (extra.name("logid") if extra else None) or (log.name("impr_id") if log else None)
    return SearchPosition(
        cursor=place.cursor if cursor is None else cursor,
        search_id=search_id or place.search_id,
        backtrace=answer.text("backtrace") or place.backtrace,
    )
