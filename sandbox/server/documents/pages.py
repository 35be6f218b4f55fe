"""Containers of data: HTML pages with a script that loads more, and framed bodies.

What belongs here: how data is embedded in a page or a body. Which data it has is decided in
`surfaces/`. A framed body holds several documents: hex length and document each, ended
by 0.
"""

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from sandbox.server.documents.form_sources import (
    CLIENT_PAGE,
    DESKTOP_DETAIL,
    MUSIC_SERVICE,
    OWN,
    SEARCH,
    SHARE_PAGE,
    form,
)

Document = dict[str, object]

GUEST_COOKIE = "ttwid"
_ROUTER_SCRIPT = re.compile(rb"<script>window\._ROUTER_DATA = .*?</script>", re.DOTALL)
MAX_PAGE_SIZE = 20
"""Items of a page of a list."""
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
ITEM_INFO = "/web/api/v2/aweme/iteminfo/"
TOKEN_LOADER = """(function () {
  var item = /\\/share\\/(?:video|note|slides|item|story)\\/([0-9]+)/.exec(location.pathname);
  var token = document.querySelector('[xsstoken]'), id = document.querySelector('[webId]');
  if (!item || !token || !id) { return; }
  var webId = id.getAttribute('webId');
  var reflowId = btoa(webId + ':' + token.getAttribute('xsstoken'));
  fetch('ITEM_INFO?reflow_source=reflow_page&aid=1128&web_id=' + webId + '&device_id=' + webId +
    '&item_ids=' + item[1] + '&reflow_id=' + encodeURIComponent(reflowId))
    .then(function (answer) { return answer.json(); })
    .then(function (found) {
      var work = (found.item_list || [])[0] || {};
      document.getElementById('root').textContent = work.desc || '';
    }).catch(function () { return 0; });
})();
""".replace("ITEM_INFO", ITEM_INFO)
"""Script of a client-side share page: it loads the video with a token that it computes.
The platform's script encrypts the token; this one encodes it, so that no client needs a cipher."""


@form(SHARE_PAGE)
def share_page(
    request: Request, loader: Document, *, calls: Sequence[Document] = (), entity: str
) -> Response:
    """Return a share page, with the guest cookie on the first visit.

    Args:
        request: The request.
        loader: The embedded data, by the name of the page in `_ROUTER_DATA`.
        calls: Requests of its script, see `to_call`.
        entity: What the page is about.
    """
    document = to_script({"loaderData": loader, "errors": None})
    carried = f"<script>window._ROUTER_DATA = {document}</script>"
    return set_guest_cookie(request, _page(carried, calls=calls), entity=entity)


@form(MUSIC_SERVICE)
def service_page(name: str, data: Document) -> Response:
    """Return a page of the music service, whose container is followed by code in one line."""
    document = to_script({"loaderData": {name: data}, "errors": None})
    return _page(f"<script>_ROUTER_DATA = {document};(function(){{}})();</script>", title="音乐")


@form(DESKTOP_DETAIL)
def web_page(
    request: Request, app: Document, *, calls: Sequence[Document] = (), entity: str,
    title: str = "分享",
) -> Response:  # fmt: skip
    """Return a desktop page, as `share_page`: its data is in the older, encoded `RENDER_DATA`."""
    text = quote(to_json({"app": app}), safe="")
    carried = f'<script id="RENDER_DATA" type="application/json">{text}</script>'
    return carrying_page(request, carried, calls=calls, entity=entity, title=title)


def carrying_page(
    request: Request, carried: str, *, calls: Sequence[Document] = (), entity: str,
    title: str = "分享",
) -> Response:  # fmt: skip
    """Return a page with the scripts that carry its data."""
    return set_guest_cookie(request, _page(carried, calls=calls, title=title), entity=entity)


def desktop_page(request: Request, calls: list[Document], *, entity: str) -> Response:
    """Return a desktop page without data of its own; its script loads everything."""
    return web_page(request, {"id": quote(entity)}, calls=calls, entity=entity)


def to_json(document: object) -> str:
    """Encode JSON as the platform does, without spaces and with all letters as they are."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def to_script(document: object) -> str:
    """Encode JSON for a page, with escaped slashes, so that no text can close the script."""
    return to_json(document).replace("/", "\\u002F").replace("<", "\\u003C")


@form(OWN)
def to_call(url: str, *, cursor: str, more: str | None = None) -> Document:
    """Describe a request of a page's script.

    Args:
        url: URL of the first screen.
        cursor: Key in the response with the cursor of the next screen.
        more: URL of the next screen, up to the value of the cursor; None if there is none.
    """
    return {"url": url, "cursor": cursor, "more": more}


@dataclass(frozen=True, slots=True, kw_only=True)
class PagedEntity:
    """A kind of thing that has an info and a list, which the script of its pages loads.

    Attributes:
        info: Path of the info.
        listed: Path of the list.
        key: Name of the id in queries and in the path of the desktop page.
        cursor: Name of the cursor in the query and in the responses.
        extra: Further parameters of the list.
    """

    info: str
    listed: str
    key: str
    cursor: str = "cursor"
    extra: str = ""

    def calls(self, value: str) -> list[Document]:
        """Describe the requests of the page about an id."""
        given = f"?{self.key}={quote(value, safe='')}"
        more = f"{self.listed}{given}&count={MAX_PAGE_SIZE}{self.extra}&{self.cursor}="
        return [
            to_call(f"{self.info}{given}", cursor=self.cursor),
            to_call(f"{more}0", cursor=self.cursor, more=more),
        ]

    async def desktop_page(self, _: object, request: Request) -> Response:
        """Return a desktop page, which has no data of its own."""
        value = request.path_params[self.key]
        return desktop_page(request, self.calls(value), entity=value)


def page_token(web_id: str) -> str:
    """Return the token that a client-side page carries for a visitor."""
    return hashlib.blake2b(web_id.encode(), digest_size=16, person=b"page token").hexdigest()


def is_page_token(web_id: str, reflow_id: str) -> bool:
    """Return True if the script of a client-side page computed this from the page's token."""
    return reflow_id == base64.b64encode(f"{web_id}:{page_token(web_id)}".encode()).decode()


@form(CLIENT_PAGE)
def to_client_page(body: bytes) -> bytes:
    """Return a share page in its client-side form: no data, but a token for its own script."""
    web_id = str(7_600_000_000_000_000_000 + zlib.crc32(body))
    token = (
        f'<div id="reflow_token" xsstoken="{page_token(web_id)}"></div>'
        f'<div id="reflow_webId" webId="{web_id}" usercip="192.0.2.1"></div>'
        '<script src="/static/reflow.js"></script></body>'
    )
    return _ROUTER_SCRIPT.sub(b"", body).replace(b"</body>", token.encode(), 1)


def set_guest_cookie(request: Request, answer: Response, *, entity: str) -> Response:
    """Set the guest cookie on a response to a first visit."""
    if GUEST_COOKIE not in request.cookies:
        answer.set_cookie(GUEST_COOKIE, f"1%7C{quote(entity, safe='')}", path="/")
    return answer


def _page(carried: str, *, calls: Sequence[Document] = (), title: str = "分享") -> HTMLResponse:
    loading = (
        f"<script>window._FIRST_SCREEN = {to_script(calls)}</script>"
        '<script src="/static/first-screen.js"></script>'
    )
    foot = _FOOT.format(loading=loading if calls else "")
    return HTMLResponse(_HEAD.format(title=title) + carried + foot)


_LINE = b"\r\n"


@form(SEARCH)
def to_frames(documents: Iterable[Document]) -> bytes:
    """Encode documents as one body; lengths count bytes."""
    body = b""
    for document in documents:
        text = to_json(document).encode()
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
