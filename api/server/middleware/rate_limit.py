"""Local rate limit: a token bucket in memory for each client address.

It keeps a runaway program, or someone guessing tokens, from blocking other clients. Not here: how
often the service requests the platform (`pipelines/platform/http/rate_limiter.py`).
"""

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

from starlette.types import ASGIApp, Receive, Scope, Send

from api.responses.errors import LocalRateLimitError
from api.server.middleware.guard import Reject

EXEMPT = frozenset({"/healthz"})
MAX_ADDRESSES = 10_000
_NETWORK_BITS = 64  # the owner of one IPv6 address usually owns its whole /64


@dataclass(slots=True)
class _Bucket:
    tokens: float
    filled_at: float


@dataclass(frozen=True, eq=False)
class RateLimit:
    """Allows each address `per_s` requests a second with bursts of `burst`.

    Attributes:
        app: The application to protect.
        per_s: Tokens added per second, above 0.
        burst: Size of a full bucket, at least 1.
        reject: Builds the response to a refused request.
        clock: Monotonic seconds.
    """

    app: ASGIApp
    per_s: float
    burst: int
    reject: Reject
    clock: Callable[[], float] = time.monotonic
    _buckets: OrderedDict[str, _Bucket] = field(default_factory=OrderedDict, init=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] not in EXEMPT:
            wait_s = self._take(_client_network(scope.get("client")))
            if wait_s > 0:
                error = LocalRateLimitError(
                    f"This address sent more than {self.per_s:g} requests per second",
                    retry_after=wait_s,
                )
                await self.reject(scope, error)(scope, receive, send)
                return
        await self.app(scope, receive, send)

    def _take(self, site: str) -> float:
        """Take a token. Return 0 on success, otherwise the seconds until the next token."""
        now = self.clock()
        bucket = self._buckets.get(site)
        if bucket is None:
            bucket = self._buckets[site] = _Bucket(self.burst, now)
            if len(self._buckets) > MAX_ADDRESSES:
                self._buckets.popitem(last=False)  # the longest idle bucket is full anyway
        else:
            self._buckets.move_to_end(site)
        filled = bucket.tokens + (now - bucket.filled_at) * self.per_s
        bucket.tokens, bucket.filled_at = min(self.burst, filled), now
        if bucket.tokens < 1:
            return (1 - bucket.tokens) / self.per_s
        bucket.tokens -= 1
        return 0.0


def _client_network(client: tuple[str, int] | None) -> str:
    return "" if client is None else _network_of(client[0])


@lru_cache(maxsize=1024)
def _network_of(host: str) -> str:
    if ":" not in host:
        return host
    try:
        address = ipaddress.IPv6Address(host.partition("%")[0])
    except ValueError:
        return host
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.IPv6Network((address, _NETWORK_BITS), strict=False))
