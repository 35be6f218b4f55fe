"""Parser of the guest search: the streamed first screen, later pages, the next page's position.

A first screen holds several documents in sequence. They are merged, and the last one decides: data
after a demand for verification is a success, a demand after data is a refusal. What arrived whole
is kept, and a cut is reported.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

import orjson

from pipelines.platform.parsers import fields
from pipelines.platform.parsers.refusals import open_answer, refuse_status
from pipelines.platform.parsers.videos import ParseContext, parse_video
from pipelines.platform.refusal_table import refusal_error
from warehouse.records.errors import StructureChangedError, UpstreamError
from warehouse.records.search import HARMLESS_NIL_TYPES, SearchPage, SearchPosition
from warehouse.records.videos import Video

_VIDEO_CARD = 1  # the type of an item that is a video
_LONGEST_LENGTH = 8  # hex digits of a frame's length
_LINE_ENDS = b"\r\n"
_BLANKS = re.compile(r"[ \t\r\n]*")
MAX_DOCUMENTS = 500
"""A page of a search has some 20."""
_DECODER = json.JSONDecoder()


def parse_search_stream(body: bytes, _term: str, context: ParseContext) -> SearchPage:
    """Parse the first screen, a sequence of documents. Documents that arrived whole count.

    Raises:
        VerificationDemandedError: The last document demands it.
        LoginRequiredError: The last document requires an account.
        StructureChangedError: It is no such stream, or keys or types are unknown.
    """
    stream = read_stream(body, surface=context.surface)
    if not stream.documents:
        return SearchPage(videos=(), next_position=context.place, has_more=None, is_cut=True)
    values: dict[str, object] = {}
    items: list[object] = []
    refusal: UpstreamError | None = None
    # Items are concatenated; all other fields are those of the last document.
    for document in stream.documents:
        try:
            refuse_status(document)
        except StructureChangedError:
            raise
        except UpstreamError as error:
            refusal = error
            continue
        if "data" in document.values:
            refusal = None
            items += document.items("data")
        values |= document.values
    # A prefetch may be refused and the search itself answered within one first screen.
    if refusal is not None:
        raise refusal
    if "data" in values:
        values["data"] = items
    return _page(fields.JsonNode(values, context.surface, "$"), context, is_cut=stream.is_cut)


def parse_search_single(body: bytes, _term: str, context: ParseContext) -> SearchPage:
    """Parse a later page: one document.

    Raises:
        UpstreamError: As for `parse_search_stream`.
    """
    return _page(open_answer(body, surface=context.surface), context)


def _page(answer: fields.JsonNode, context: ParseContext, *, is_cut: bool = False) -> SearchPage:
    """Build the page. If it was cut, the document with its end may be the one that is missing."""
    if "data" not in answer.values:
        raise answer.missing("data")
    nil_type = _nil_type(answer)
    has_more, cursor = answer.flag("has_more"), answer.whole("cursor")
    # An empty page with a reason may leave out whether it goes on.
    if has_more is None and nil_type is None and not is_cut:
        raise answer.missing("has_more")
    if cursor is None and has_more and is_cut:
        has_more = None  # there is more, but not where
    elif cursor is None and has_more:
        raise answer.missing("cursor")
    items = list(answer.nodes("data"))
    listed = [_card_video(item, context) for item in items]
    videos: dict[str, Video] = {}
    for video in listed:
        if video is not None:
            videos.setdefault(video.aweme_id, video)
    # Both fields hold the same id where both are there; without either, the last one is kept.
    extra, log = answer.node("extra"), answer.node("log_pb")
    search_id = (extra.name("logid") if extra else None) or (log.name("impr_id") if log else None)
    place = context.place
    return SearchPage(
        videos=tuple(videos.values()),
        next_position=SearchPosition(
            cursor=place.cursor if cursor is None else cursor,
            search_id=search_id or place.search_id,
            backtrace=answer.text("backtrace") or place.backtrace,
        ),
        has_more=has_more,
        nil_type=nil_type,
        skipped_cards=listed.count(None),
        is_cut=is_cut,
    )


def _card_video(item: fields.JsonNode, context: ParseContext) -> Video | None:
    """Return the video of a card, or the first one of a collection; None for any other card."""
    # Cards of users, related words and broadcasts stand between those of videos.
    video, collection = item.node("aweme_info"), item.node("aweme_mix_info")
    if video is None and collection is not None:
        video = next(collection.nodes("mix_items"), None)
    elif video is None and item.values.get("type") == _VIDEO_CARD:
        raise item.missing("aweme_info")
    return None if video is None else parse_video(video, context)


def _nil_type(answer: fields.JsonNode) -> str | None:
    """Return the platform's code for "no result"; None without a code, or if there are results.

    The platform names a kind and an item. If only one of them is harmless, the other one counts.
    """
    nil = answer.node("search_nil_info")
    if nil is None or answer.items("data"):
        return None
    named = [nil.name("search_nil_type"), nil.name("search_nil_item")]
    codes = [code for code in named if code is not None]
    return next((code for code in codes if code not in HARMLESS_NIL_TYPES), next(iter(codes), None))


@dataclass(frozen=True, slots=True)
class StreamDocuments:
    """The documents of a stream. `is_cut`: it ends without its end mark, or within a document."""

    documents: tuple[fields.JsonNode, ...]
    is_cut: bool


def read_stream(body: bytes, *, surface: str) -> StreamDocuments:
    """Return the documents of a stream that arrived whole, in order; none if the first was cut.

    Known forms: frames of a hex length and a document each, ended by a length of 0; the same
    without that end; and documents without frames, glued together or one per line.

    Raises:
        StructureChangedError: The first length is invalid, a document is no JSON object, or a
            stream with its end mark holds no document.
    """
    fields.refuse_too_many_values(body, surface=surface)
    # A length is a hex number, so a body that begins with a document has no frames.
    is_framed = body.lstrip()[:1] != b"{"
    # Lengths show where a frame was cut; without them only its JSON does.
    frames, is_open = _frames(body, surface) if is_framed else ([body], True)
    is_cut = is_framed and is_open
    documents: list[fields.JsonNode] = []
    for frame in frames:
        for piece in _documents(frame):
            if piece is None:
                is_cut = True
                break
            if len(documents) == MAX_DOCUMENTS:
                raise _broken(surface, f"the stream has more than {MAX_DOCUMENTS} documents")
            documents.append(fields.parse_json(piece, surface=surface))
    begins_document = is_open and b"".join(frames[:1]).lstrip()[:1] == b"{"
    if not documents and not begins_document:
        raise _broken(surface, "no document of the stream arrived whole")
    return StreamDocuments(tuple(documents), is_cut)


def _frames(body: bytes, surface: str) -> tuple[list[bytes], bool]:
    """Return the frames, and whether the stream breaks off without its end mark."""
    frames: list[bytes] = []
    rest = body.lstrip(_LINE_ENDS)
    while rest:
        line, _, rest = rest.partition(b"\n")
        line = line.strip()
        try:  # `int` alone accepts signs and underscores
            is_short = 0 < len(line) <= _LONGEST_LENGTH and line.isalnum()
            length = int(line, 16) if is_short else None
        except ValueError:
            length = None
        if length is None and not frames:
            raise _broken(surface, "the length of a frame is not a hex number")
        if not length:
            return frames, length is None
        frame, after = rest[:length], rest[length:]
        # A length that does not end at a line end counts characters instead of bytes. Documents
        # contain no line ends, so the frame is then the line.
        if len(frame) != length or (after and after[:1] not in {b"\r", b"\n"}):
            frame, _, after = rest.partition(b"\n")
        if len(frames) == MAX_DOCUMENTS:
            raise _broken(surface, f"the stream has more than {MAX_DOCUMENTS} frames")
        frames.append(frame)
        rest = after.lstrip(_LINE_ENDS)
    return frames, True


def _documents(frame: bytes) -> Iterator[bytes | None]:
    """Yield the documents of a frame, usually one; None where the next one is not whole."""
    if _is_json(frame):
        yield frame
        return
    # Bytes that are no UTF-8 pass through unchanged, for the JSON parser to refuse.
    text = frame.decode("utf-8", "surrogateescape")
    start = _after_blanks(text, 0)
    while start < len(text):
        try:
            _, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            yield None
            return
        piece = text[start:end].encode("utf-8", "surrogateescape")
        yield piece if _is_json(piece) else None
        start = _after_blanks(text, end)


def _after_blanks(text: str, start: int) -> int:
    blanks = _BLANKS.match(text, start)
    return start if blanks is None else blanks.end()


def _is_json(piece: bytes) -> bool:
    try:
        fields.decode_json(piece)
    except orjson.JSONDecodeError:
        return False
    return True


def _broken(surface: str, detail: str) -> UpstreamError:
    return refusal_error("broken_frame", detail, surface=surface)
