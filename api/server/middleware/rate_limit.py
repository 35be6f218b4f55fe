"""The local rate limit: how often one address may ask, by a token bucket in memory.

It keeps a runaway program, or one who guesses tokens, from holding up everybody else. Not here:
how often *we* ask the platform (`pipelines/platform/http/politeness.py`).
"""

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from starlette.types import ASGIApp, Receive, Scope, Send

from api.responses.errors import LocalRateLimitError
from api.server.middleware.guard import Reject

EXEMPT = frozenset({"/healthz"})
ADDRESSES_MOST = 10_000
_SITE_BITS = 64  # whoever has one IPv6 address has as many as he likes


@dataclass(slots=True)
class _Bucket:
    tokens: float
    filled_at: float


class RateLimit:
    """Lets each address ask `per_s` times a second, `burst` times at once.

    Args:
        app: What is behind it.
        per_s: Tokens that come back each second, above 0.
        burst: Tokens that an address has when it was quiet.
        reject: Makes the answer to a refused request.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        per_s: float,
        burst: int,
        reject: Reject,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app = app
        self._per_s = per_s
        self._burst = float(max(1, burst))
        self._reject = reject
        self._clock = clock
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] not in EXEMPT:
            wait_s = self._take(_site(scope.get("client")))
            if wait_s > 0:
                error = LocalRateLimitError(
                    f"More than {self._per_s:g} requests a second came from this address",
                    retry_after=wait_s,
                )
                await self._reject(scope, error)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _take(self, site: str) -> float:
        """Take a token; returns the seconds until there is one, 0 when there was."""
        now = self._clock()
        bucket = self._buckets.get(site)
        if bucket is None:
            bucket = self._buckets[site] = _Bucket(self._burst, now)
            if len(self._buckets) > ADDRESSES_MOST:
                self._buckets.popitem(last=False)  # who was quiet longest has a full one anyway
        else:
            self._buckets.move_to_end(site)
        filled = bucket.tokens + (now - bucket.filled_at) * self._per_s
        bucket.tokens, bucket.filled_at = min(self._burst, filled), now
        if bucket.tokens < 1:
            return (1 - bucket.tokens) / self._per_s
        bucket.tokens -= 1
        return 0.0


def _site(client: tuple[str, int] | None) -> str:
    return "" if client is None else _site_of(client[0])


@lru_cache(maxsize=1024)
def _site_of(host: str) -> str:
    if ":" not in host:
        return host
    try:
        address = ipaddress.IPv6Address(host.partition("%")[0])
    except ValueError:
        return host
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.IPv6Network((address, _SITE_BITS), strict=False))
