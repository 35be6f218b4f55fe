"""Containers of data: HTML pages with a script that loads more, and framed bodies.

What belongs here: how data is embedded in a page or a body. Which data it has is decided in
`surfaces/`. A framed body holds several documents: hex length and document each, ended
by 0.
"""

import json
from collections.abc import Iterable
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

Document = dict[str, object]

GUEST_COOKIE = "ttwid"
_HEAD = (
    '<!doctype html><html><head><meta charset="utf-8"><title>{title}</title></head><body>'
    "<script>window._SSR_DATA = {{}};</script>"
)
_FOOT = '<div id="root"></div><script src="/captcha-sdk.js"></script>{loading}</body></html>'
LOADER = """(function () {
  var calls = window._FIRST_SCREEN || [], more = null, busy = false;
  function draw(list) {
    (list || []).forEach(function (item) {
      var work = item.aweme_info || item, line = document.createElement('li');
      line.setAttribute('data-id', work.aweme_id || '');
      line.textContent = work.desc || '';
      document.getElementById('root').appendChild(line);
    });
  }
  function load(call, from) {
    busy = true;
    return fetch(call.url + from).then(function (answer) { return answer.text(); })
      .then(function (text) {
        var documents = text.split(/\\r?\\n/).filter(function (line) {
          return line.charAt(0) === '{';
        }).map(JSON.parse);
        var last = documents[documents.length - 1] || {};
        documents.forEach(function (one) { draw(one.aweme_list || one.data); });
        more = null;
        if (call.more && (last.has_more === 1 || last.has_more === true)) {
          var id = (last.extra || {}).logid;
          more = [call, call.more + last[call.cursor] + (id ? '&search_id=' + id : '') +
            (last.backtrace ? '&backtrace=' + encodeURIComponent(last.backtrace) : '')];
        }
      }).catch(function () { more = null; }).then(function () { busy = false; });
  }
  calls.reduce(function (before, call) {
    return before.then(function () { return load(call, ''); });
  }, Promise.resolve());
  window.addEventListener('scroll', function () {
    if (busy || !more) { return; }
    load({ url: '', more: more[0].more, cursor: more[0].cursor }, more[1]);
  });
})();
"""
"""Script of every page: it loads the first screen, and the next one when scrolled."""


def to_page(document: Document, *, calls: list[Document] | None = None, title: str = "分享") -> str:
    """Render a share page with a document in `_ROUTER_DATA`.

    Args:
        document: The embedded data.
        calls: Requests of its script; each has `url`, and `more` and `cursor` for the next page.
        title: Title of the page.
    """
    carried = f"<script>window._ROUTER_DATA = {to_script(document)}</script>"
    return _HEAD.format(title=title) + carried + _FOOT.format(loading=_loading(calls))


def to_service_page(document: Document) -> str:
    """Render a page of the music service, whose container is followed by code in one line."""
    carried = f"<script>_ROUTER_DATA = {to_script(document)};(function(){{}})();</script>"
    return _HEAD.format(title="音乐") + carried + _FOOT.format(loading="")


def to_web_page(
    document: Document, *, calls: list[Document] | None = None, title: str = "分享"
) -> str:
    """Render a desktop page with a document in the older `RENDER_DATA`, percent-encoded."""
    text = quote(json.dumps(document, ensure_ascii=False, separators=(",", ":")), safe="")
    carried = f'<script id="RENDER_DATA" type="application/json">{text}</script>'
    return _HEAD.format(title=title) + carried + _FOOT.format(loading=_loading(calls))


def to_script(document: object) -> str:
    """Encode JSON for a page, with escaped slashes, so that no text can close the script."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    return text.replace("/", "\\u002F").replace("<", "\\u003C")


def first_screen(url: str, *, cursor: str, more: str | None = None) -> Document:
    """Describe a request of a page's script.

    Args:
        url: URL of the first screen.
        cursor: Key in the response with the cursor of the next screen.
        more: URL of the next screen, up to the value of the cursor; None if there is none.
    """
    return {"url": url, "cursor": cursor, "more": more}


def with_guest_cookie(request: Request, page: str, *, entity: str) -> Response:
    """Return a page that sets the guest cookie on the first visit."""
    return set_guest_cookie(request, HTMLResponse(page), entity=entity)


def set_guest_cookie(request: Request, answer: Response, *, entity: str) -> Response:
    """Set the guest cookie on a response to a first visit."""
    if GUEST_COOKIE not in request.cookies:
        answer.set_cookie(GUEST_COOKIE, f"1%7C{quote(entity, safe='')}", path="/")
    return answer


def _loading(calls: list[Document] | None) -> str:
    if not calls:
        return ""
    return (
        f"<script>window._FIRST_SCREEN = {to_script(calls)}</script>"
        '<script src="/static/first-screen.js"></script>'
    )


_LINE = b"\r\n"


def to_frames(documents: Iterable[Document]) -> bytes:
    """Encode documents as one body; lengths count bytes."""
    body = b""
    for document in documents:
        text = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
        body += f"{len(text):x}".encode() + _LINE + text + _LINE
    return body + b"0" + _LINE + _LINE


def read_frames(body: bytes) -> list[Document]:
    """Decode a body of `to_frames`."""
    documents: list[Document] = []
    while True:
        length, _, body = body.partition(_LINE)
        size = int(length, 16)
        if size == 0:
            return documents
        documents.append(json.loads(body[:size]))
        body = body[size + len(_LINE) :]
