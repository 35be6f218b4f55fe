"""Split a search stream into its documents: what arrived whole is kept, and a cut is reported.

Known forms: frames of a hex length and a document each, ended by a length of 0; the same without
that end; and documents without frames, glued together or one per line.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

import orjson

from pipelines.platform.parsers.fields import (
    JsonNode,
    decode_json,
    parse_json,
    refuse_too_many_values,
)
from pipelines.platform.refusal_table import refusal_error
from warehouse.records.errors import UpstreamError

_LONGEST_LENGTH = 8  # hex digits of a frame's length
_LINE_ENDS = b"\r\n"
_BLANKS = re.compile(r"[ \t\r\n]*")
MAX_DOCUMENTS = 500
"""A page of a search has some 20."""
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class StreamDocuments:
    """The documents of a stream. `is_cut`: it ends without its end mark, or within a document."""

    documents: tuple[JsonNode, ...]
    is_cut: bool


def read_stream(body: bytes, *, surface: str) -> StreamDocuments:
    """Return the documents of a stream that arrived whole, in order; none if the first was cut.

    Raises:
        StructureChangedError: The first length is invalid, a document is no JSON object, or a
            stream with its end mark holds none.
    """
    refuse_too_many_values(body, surface=surface)
    # A length is a hex number, so a body that begins with a document has no frames.
    is_framed = body.lstrip()[:1] != b"{"
    frames, is_open = _frames(body, surface) if is_framed else ([body], True)
    is_cut = is_framed and is_open
    whole: list[JsonNode] = []
    for frame in frames:
        for piece in _documents(frame):
            if piece is None:
                is_cut = True
                break
            if len(whole) == MAX_DOCUMENTS:
                raise _broken(surface, f"the stream has more than {MAX_DOCUMENTS} documents")
            whole.append(parse_json(piece, surface=surface))
    begins_one = is_open and b"".join(frames[:1]).lstrip()[:1] == b"{"
    if not whole and not begins_one:
        raise _broken(surface, "no document of the stream arrived whole")
    return StreamDocuments(tuple(whole), is_cut)


def _frames(body: bytes, surface: str) -> tuple[list[bytes], bool]:
    """Return the frames, and whether the stream breaks off without its end mark."""
    frames: list[bytes] = []
    rest = body.lstrip(_LINE_ENDS)
    while rest:
        line, _, rest = rest.partition(b"\n")
        length = _length(line.strip())
        if length is None and not frames:
            raise _broken(surface, "the length of a frame is not a hex number")
        if not length:
            return frames, length is None
        frame, rest = _cut(rest, length)
        if len(frames) == MAX_DOCUMENTS:
            raise _broken(surface, f"the stream has more than {MAX_DOCUMENTS} frames")
        frames.append(frame)
        rest = rest.lstrip(_LINE_ENDS)
    return frames, True


def _length(line: bytes) -> int | None:
    """Return the length that a line names; None if it is no hex number."""
    try:
        is_short = 0 < len(line) <= _LONGEST_LENGTH and line.isalnum()
        return int(line, 16) if is_short else None
    except ValueError:
        return None


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
    found = _BLANKS.match(text, start)
    return start if found is None else found.end()


def _is_json(piece: bytes) -> bool:
    try:
        decode_json(piece)
    except orjson.JSONDecodeError:
        return False
    return True


def _broken(surface: str, detail: str) -> UpstreamError:
    return refusal_error("broken_frame", detail, surface=surface)
