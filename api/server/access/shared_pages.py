"""The pages of read-only links: open to whoever has the address, and closed to everything else.

They are served before the routes, whose spans contain the path of a request: the token in it would
be in a trace. The page of a link that shows nothing is the same whatever the reason, so that nobody
can find out which links exist.
"""

import re
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from hashlib import sha256
from pathlib import Path

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from api.responses.errors import OK, MethodNotAllowedError, error_spec
from api.server.middleware import Reject
from api.settings import SHARED_PAGES
from warehouse.records.errors import SametrackError

type ReadSharedPage = Callable[..., str | None]
"""Called with a token and `language=`; returns HTML text, None if there is nothing to show."""

_READS = ("GET", "HEAD")
_PAGE = Path(__file__).parents[2] / "console" / "shared_link_ended.html"
_OWN_POLICY = re.compile(r'http-equiv="Content-Security-Policy" content="([^"]*)"')


@dataclass(frozen=True, eq=False)
class SharedPages:
    """Serves the addresses of read-only links, and passes everything else on.

    Attributes:
        app: The application.
        read_page: Returns the page of a token. None: no profile is chosen, so there are no links.
        reject: Builds the response to a refused request.
        turn: One page at a time: a large report takes a second, and whoever has a link must not
            occupy the threads that serve the others.
    """

    app: ASGIApp
    read_page: ReadSharedPage | None
    reject: Reject
    turn: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(1))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(SHARED_PAGES):
            await self.app(scope, receive, send)
            return
        try:
            if scope["method"] not in _READS:
                raise MethodNotAllowedError("This path does not support this method")
            response = await self._serve(scope)
        except SametrackError as error:
            response = self.reject(scope, error)
            if isinstance(error, MethodNotAllowedError):
                response.headers["Allow"] = ", ".join(_READS)
        await response(scope, receive, send)

    async def _serve(self, scope: Scope) -> Response:
        page = None
        if self.read_page is not None:
            token = scope["path"].removeprefix(SHARED_PAGES)
            # The page holds both languages; the reader's browser says which one comes first.
            is_chinese = Headers(scope=scope).get("accept-language", "").lower().startswith("zh")
            read = partial(self.read_page, token, language="zh" if is_chinese else "en")
            page = await run_sync(read, limiter=self.turn)
        text = self._ended if page is None else page
        # The page says itself what it needs. A policy in the page cannot forbid frames.
        policy = _OWN_POLICY.search(text)
        return Response(
            text,
            status_code=error_spec("not_found").status if page is None else OK,
            media_type="text/html; charset=utf-8",
            headers={
                "Content-Security-Policy": (
                    f"{policy[1] if policy else "default-src 'none'"}; frame-ancestors 'none'"
                ),
                "X-Robots-Tag": "noindex, nofollow, noarchive",
            },
        )

    @cached_property
    def _ended(self) -> str:
        text = _PAGE.read_text(encoding="utf-8")
        style = text.partition("<style>")[2].partition("</style>")[0]
        digest = b64encode(sha256(style.encode()).digest()).decode()
        return text.replace("STYLE_HASH", digest)
