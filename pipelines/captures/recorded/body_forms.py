"""Bodies as payload and form: what is decoded can be changed, and encoded in the same form again.

The forms are plain JSON, documents one after another (framed or one a line), and a page with a data
container. A page is encoded as the smallest page with that container.
"""

import html
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import orjson

from pipelines.platform.page_scripts import find_title
from pipelines.platform.parsers.pages import parse_container
from warehouse.records.errors import UpstreamError

_FRAME = re.compile(rb"\s*[0-9A-Fa-f]{1,8}\r?\n\{")
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
    for load, encode in (
        (orjson.loads, encode_json),
        (_load_frames, _encode_frames),
        (_load_lines, _encode_lines),
    ):
        try:
            return DecodedBody(load(body), encode)
        except (ValueError, IndexError):
            continue
    return None


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

    def encode(changed: object) -> bytes:
        data = encode_json(changed)
        script = (
            f'<script id="RENDER_DATA" type="application/json">{quote(data)}</script>'
            if is_rendered
            else f"<script>window._ROUTER_DATA = {_in_script(data)}</script>"
        )
        page = (
            f"<!DOCTYPE html><html><head><title>{text}</title></head><body>{script}</body></html>"
        )
        return page.encode()

    return DecodedBody(payload, encode)


def _has_key(value: object, keys: frozenset[str]) -> bool:
    if isinstance(value, dict):
        return not keys.isdisjoint(value) or any(_has_key(one, keys) for one in value.values())
    return isinstance(value, list) and any(_has_key(one, keys) for one in value)


def _in_script(data: bytes) -> str:
    """Return JSON that cannot end the script it stands in."""
    return data.decode().replace("<", "\\u003c")


def _load_frames(body: bytes) -> list[object]:
    if not _FRAME.match(body):
        raise ValueError("no frames")
    return [orjson.loads(line) for line in body.splitlines() if line[:1] == b"{"]


def _encode_frames(payload: object) -> bytes:
    documents = [encode_json(one) for one in _as_list(payload)]
    return b"".join(b"%x\r\n%b\r\n" % (len(one), one) for one in documents) + b"0\r\n\r\n"


def _load_lines(body: bytes) -> list[object]:
    lines = [line for line in body.splitlines() if line.strip()]
    if len(lines) < 2:  # noqa: PLR2004  # one document is plain JSON
        raise ValueError("no documents")
    return [orjson.loads(line) for line in lines]


def _encode_lines(payload: object) -> bytes:
    return b"\n".join(encode_json(one) for one in _as_list(payload)) + b"\n"


def _as_list(payload: object) -> list[object]:
    return payload if isinstance(payload, list) else [payload]
