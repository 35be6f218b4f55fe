"""Static files of every host: scripts of the pages, and robots.txt.

Route names: `static`, `robots`. Short-link and media hosts have no robots.txt; the others send
`Last-Modified` and answer conditional requests with 304.
"""

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from pipelines.sandbox.server import addresses
from pipelines.sandbox.server.documents.pages import LOADER
from pipelines.sandbox.server.platform import SandboxPlatform
from pipelines.sandbox.server.routing import ResponseVersion, conditional, host_of

_SCRIPT = "application/javascript"
ROBOTS = {
    addresses.WEB: "User-agent: *\nDisallow: /passport/\nAllow: /\n",
    addresses.SHARE: "User-agent: *\nDisallow: /private/\n",
    addresses.CHART: "User-agent: *\nAllow: /\n",
    addresses.CHART_MOBILE: "User-agent: *\nAllow: /\n",
    addresses.CHART_WEB: "User-agent: *\nDisallow: /admin/\n",
}
"""Hosts that have a robots.txt; every other host has none."""
_WRITTEN_BEFORE_S = 90 * 86_400


def routes(platform: SandboxPlatform) -> list[BaseRoute]:
    """Return the routes: scripts on every host, robots.txt on some."""
    written = platform.world.now - _WRITTEN_BEFORE_S

    async def robots(request: Request) -> Response:
        text = ROBOTS.get(host_of(request.scope))
        if text is None:
            return PlainTextResponse("not found", status_code=404)
        return conditional(
            request, ResponseVersion(modified=written), lambda: PlainTextResponse(text)
        )

    async def loader(_: Request) -> Response:
        return Response(LOADER, media_type=_SCRIPT)

    async def kit(_: Request) -> Response:
        return Response("/* on every page, proves nothing */", media_type=_SCRIPT)

    async def styles(_: Request) -> Response:
        return Response("li { margin: 0 }", media_type="text/css")

    return [
        Route("/robots.txt", robots, name="robots"),
        Route("/static/first-screen.js", loader, name="static"),
        Route("/captcha-sdk.js", kit, name="static"),
        Route("/static/page.css", styles, name="static"),
    ]
