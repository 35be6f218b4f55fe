"""Routes limited to some hosts: desktop pages, the search and the chart.

A route without hosts answers on every host.
"""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Scope

Endpoint = Callable[[Request], Awaitable[Response]]


class HostRoute(Route):
    """A route of some hosts."""

    def __init__(self, path: str, endpoint: Endpoint, *, name: str, hosts: tuple[str, ...]) -> None:
        super().__init__(path, endpoint, name=name)
        self.hosts = hosts

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match as any route, on its own hosts."""
        if host_of(scope) not in self.hosts:
            return Match.NONE, {}
        return super().matches(scope)


def host_of(scope: Scope) -> str:
    """The host that a request names, without its port."""
    for name, value in scope["headers"]:
        if name == b"host":
            return str(value.decode("latin-1")).rsplit(":", 1)[0].lower()
    return ""
