"""Bodies as payload and form: what is decoded can be changed, and encoded in the same form again.

The forms are plain JSON, documents one after another (framed, glued or one a line, also if the last
one was cut off), and a page with a data container. A page is encoded as the smallest page with that
container.
"""

import html
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import orjson

from pipelines.platform.page_scripts import find_title
from pipelines.platform.parsers.desktop import ROWS
from pipelines.platform.parsers.pages import parse_container
from pipelines.platform.parsers.search import read_stream
from warehouse.records.errors import UpstreamError

_CAPTIONED = frozenset({"desc", "nickname"})
_RENDERED = b'id="RENDER_DATA"'


@dataclass(frozen=True, slots=True)
class DecodedBody:
    """A payload, and the function that encodes it in the form that it came in."""

    payload: Any
    encode: Callable[[object], bytes]


def decode_body(body: bytes) -> DecodedBody | None:
    """Decode a body; None if it holds no JSON in a known form."""
    if body.lstrip()[:1] == b"<":
        return _decode_page(body)
    try:
        return DecodedBody(orjson.loads(body), encode_json)
    except orjson.JSONDecodeError:
        return _decode_stream(body)


def encode_json(payload: object) -> bytes:
    """Encode a payload as the platform does: compact, not escaped."""
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()


def _decode_page(body: bytes) -> DecodedBody | None:
    try:
        payload = parse_container(body, surface="page").values
    except UpstreamError:
        return None
    title = find_title(body)
    # only a page without data is judged by its title; that of a video repeats its caption
    is_judged = title is not None and not _has_key(payload, _CAPTIONED)
    text = html.escape(title) if title is not None and is_judged else ""
    is_rendered = b"_ROUTER_DATA" not in body and _RENDERED in body
    is_stream = ROWS in payload

    def encode(changed: object) -> bytes:
        if is_stream:
            script = f"<script>self.__pace_f.push([1,{_in_script(_to_rows(changed))}])</script>"
        elif is_rendered:
            data = quote(encode_json(changed))
            script = f'<script id="RENDER_DATA" type="application/json">{data}</script>'
        else:
            script = f"<script>window._ROUTER_DATA = {_in_script(encode_json(changed))}</script>"
        page = (
            f"<!DOCTYPE html><html><head><title>{text}</title></head><body>{script}</body></html>"
        )
        return page.encode()

    return DecodedBody(payload, encode)


def _to_rows(changed: object) -> bytes:
    """Encode the rows of a streamed page as the text of one chunk."""
    rows = changed.get(ROWS) if isinstance(changed, dict) else None
    lines = rows.items() if isinstance(rows, dict) else ()
    return encode_json("".join(f"{name}:{encode_json(row).decode()}\n" for name, row in lines))


def _has_key(value: object, keys: frozenset[str]) -> bool:
    if isinstance(value, dict):
        return not keys.isdisjoint(value) or any(_has_key(item, keys) for item in value.values())
    return isinstance(value, list) and any(_has_key(item, keys) for item in value)


def _in_script(data: bytes) -> str:
    """Return JSON that cannot end the script it stands in."""
    return data.decode().replace("<", "\\u003c")


def _decode_stream(body: bytes) -> DecodedBody | None:
    """Decode the documents that arrived whole; of one that was cut off, its beginning."""
    try:
        stream = read_stream(body, surface="stream")
    except UpstreamError:
        return None
    is_framed = body.lstrip()[:1] != b"{"

    def encode(changed: object) -> bytes:
        documents = [encode_json(document) for document in _as_list(changed)]
        if not is_framed:
            return b"\n".join([*documents, b"{" if stream.is_cut else b""])
        frames = b"".join(b"%x\r\n%b\r\n" % (len(document), document) for document in documents)
        return frames + (b"2\r\n{" if stream.is_cut else b"0\r\n\r\n")

    return DecodedBody([document.values for document in stream.documents], encode)


def _as_list(payload: object) -> list[object]:
    return payload if isinstance(payload, list) else [payload]
