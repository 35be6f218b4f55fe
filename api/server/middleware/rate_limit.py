"""Local rate limit: a moving window in memory for each client address.

It keeps a runaway program, or a program that guesses tokens, from blocking other clients. Not here:
how often the service requests the platform (`pipelines/platform/http/host_policy.py`).
"""

import ipaddress
import math
import time
from functools import lru_cache

from limits import RateLimitItemPerSecond
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from starlette.types import ASGIApp, Receive, Scope, Send

from api.responses.errors import LocalRateLimitError
from api.server.middleware.guard import Reject

EXEMPT = frozenset({"/healthz"})
MAX_ADDRESSES = 10_000
_NETWORK_BITS = 64  # the owner of one IPv6 address usually owns its whole /64


class RateLimit:
    """Allows each address `per_s` requests a second on average, at most `burst` of them at once.

    Args:
        app: The application to protect.
        per_s: Requests per second, above 0.
        burst: Requests in any `burst / per_s` seconds, at least 1. The library counts whole
            seconds: the window is rounded up, and holds what `per_s` allows in it.
        reject: Builds the response to a refused request.
    """

    def __init__(self, app: ASGIApp, *, per_s: float, burst: int, reject: Reject) -> None:
        window_s = max(1, math.ceil(burst / per_s))
        self._app = app
        self._reject = reject
        self._per_s = per_s
        self._limit = RateLimitItemPerSecond(max(burst, math.floor(per_s * window_s)), window_s)
        self._storage = MemoryStorage()
        self._limiter = MovingWindowRateLimiter(self._storage)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] not in EXEMPT:
            # The storage never forgets an address by itself.
            if len(self._storage.events) >= MAX_ADDRESSES:
                self._storage.reset()
            client: tuple[str, int] | None = scope.get("client")
            address = "" if client is None else _network_of(client[0])
            if not self._limiter.hit(self._limit, address):
                free_at = self._limiter.get_window_stats(self._limit, address).reset_time
                error = LocalRateLimitError(
                    f"This address sent more than {self._per_s:g} requests per second",
                    retry_after=max(0.0, free_at - time.time()),
                )
                await self._reject(scope, error)(scope, receive, send)
                return
        await self._app(scope, receive, send)


@lru_cache(maxsize=1024)
def _network_of(host: str) -> str:
    """Return what is limited together: an IPv4 address, or the /64 of an IPv6 address."""
    if ":" not in host:
        return host
    try:
        address = ipaddress.IPv6Address(host.partition("%")[0])
    except ValueError:
        return host
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.IPv6Network((address, _NETWORK_BITS), strict=False))
