"""Shapes as documents that can be changed, and back to the bytes that a parser reads.

A shape that holds no document (a text, an empty body) has None: only its bytes can be changed.
"""

import json
from collections.abc import Callable
from typing import Any

import orjson
from selectolax.lexbor import LexborHTMLParser

from tests.platform.shape_answers import Shape

ROUTER = "window._ROUTER_DATA"
SERVICE = "_ROUTER_DATA"
FEATURES = "global.features = "
DUPLICATE = "\u0000again"
"""At the end of a key: it is written as the same key once more, which no dict can hold."""
_LINE = b"\r\n"


def to_document(shape: Shape) -> Any:
    """The decoded document of a shape; of a framed body the list of its documents."""
    try:
        return _form(shape)[0](shape.body)
    except ValueError:
        return None


def to_body(shape: Shape, document: Any) -> bytes:
    """The bytes of a changed document as its surface sends it, in the page that it came in."""
    return _form(shape)[1](shape.body, document)


def to_text(document: Any) -> bytes:
    """A document as JSON, with its doubled keys."""
    text = orjson.dumps(document)
    return text.replace(json.dumps(DUPLICATE)[1:-1].encode(), b"")


def _plain(body: bytes) -> Any:
    start = body.find(b"{")
    if start < 0:
        raise ValueError("no document")
    value, _ = json.JSONDecoder().raw_decode(body.decode("utf-8", "replace"), _text_at(body, start))
    return value


def _text_at(body: bytes, start: int) -> int:
    return len(body[:start].decode("utf-8", "replace"))


def _of_page(body: bytes) -> Any:
    for script in LexborHTMLParser(body).css("script"):
        if script.text().startswith(ROUTER):
            return orjson.loads(script.text().partition("=")[2])
    raise ValueError("no container")


def _of_song_page(body: bytes) -> Any:
    _, found, rest = body.decode("utf-8", "replace").partition(FEATURES)
    if not found:
        raise ValueError("no list")
    return {"features": json.JSONDecoder(parse_constant=int).raw_decode(rest)[0]}


def _of_frames(body: bytes) -> Any:
    """Documents stand each on a line of its own, between their lengths."""
    found = [orjson.loads(line) for line in body.splitlines() if line[:1] in {b"{", b"["}]
    if not found:
        raise ValueError("no frames")
    return found


def _of_service_page(body: bytes) -> Any:
    """The container of the music service has other code behind it, and no `window.` on some."""
    _, found, rest = body.decode("utf-8", "replace").partition(f"{SERVICE} = ")
    if not found:
        raise ValueError("no container")
    return json.JSONDecoder().raw_decode(rest)[0]


def _to_plain(_body: bytes, document: Any) -> bytes:
    return to_text(document)


def _to_page(body: bytes, document: Any) -> bytes:
    mark = f">{ROUTER} = ".encode()
    head, _, rest = body.partition(mark + b'{"')  # users write the name too, but not so
    text = to_text(document).replace(b"/", b"\\u002F")
    return head + mark + text + b"</script>" + rest.partition(b"</script>")[2]


def _to_service_page(body: bytes, document: Any) -> bytes:
    head, mark, _ = body.partition(f"{SERVICE} = ".encode())
    text = to_text(document).replace(b"/", b"\\u002F")
    return head + mark + text + b";(function(){})();</script></body></html>"


def _to_song_page(body: bytes, document: Any) -> bytes:
    listed = document.get("features") if isinstance(document, dict) else document
    head, mark, _ = body.partition(FEATURES.encode())
    return head + mark + to_text(listed) + b";\n</script></body></html>"


def _to_frames(_body: bytes, document: Any) -> bytes:
    documents = document if isinstance(document, list) else [document]
    frames = [to_text(one) for one in documents]
    body = b"".join(f"{len(text):x}".encode() + _LINE + text + _LINE for text in frames)
    return body + b"0" + _LINE + _LINE


type _Form = tuple[Callable[[bytes], Any], Callable[[bytes, Any], bytes]]
_PLAIN: _Form = (_plain, _to_plain)
_PAGE: _Form = (_of_page, _to_page)
_SONG_PAGE: _Form = (_of_song_page, _to_song_page)
_SERVICE_PAGE: _Form = (_of_service_page, _to_service_page)
_FORMS: dict[str, _Form] = {
    "work_page": _PAGE,
    "user_page": _PAGE,
    "user_account": _PAGE,
    "chart_html": _SONG_PAGE,
    "chart_html_old": _SONG_PAGE,
    "service_track": _SERVICE_PAGE,
    "service_playlist": _SERVICE_PAGE,
    "service_album": _SERVICE_PAGE,
    "service_artist": _SERVICE_PAGE,
    "search_stream": (_of_frames, _to_frames),
}


def _form(shape: Shape) -> _Form:
    if shape.parser == "search_stream" and shape.body[:1] == b"{":  # without frames
        return _PLAIN
    return _FORMS.get(shape.parser, _PLAIN)
