"""Transport that dials each host at the IP address that the link gate checked.

The request keeps the host name for the Host header, the certificate and the cookies. Every host has
its own pool, so a connection made for one name is never used for another at the same address.
"""

import ssl
from functools import cache

import httpx2

DIAL = "sametrack_dial_address"


class PinnedTransport(httpx2.AsyncBaseTransport):
    """Sends a request to the IP address named in its `DIAL` extension. No proxy, no DNS lookup.

    `tls` replaces the default certificate authorities.
    """

    def __init__(self, *, connections_per_host: int, tls: ssl.SSLContext | None = None) -> None:
        self._limits = httpx2.Limits(
            max_connections=connections_per_host, max_keepalive_connections=connections_per_host
        )
        self._pools: dict[str, httpx2.AsyncHTTPTransport] = {}
        self._tls = tls

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request; the response body is not read yet."""
        host = request.url.host
        pinned = httpx2.Request(
            request.method,
            request.url.copy_with(host=request.extensions[DIAL]),
            headers=request.headers,
            stream=request.stream,
            # The certificate is checked for the name, not for the address that is dialled.
            extensions={**request.extensions, "sni_hostname": host},
        )
        self.prepare(request.url.scheme, host)
        return await self._pools[host].handle_async_request(pinned)

    def prepare(self, scheme: str, host: str) -> None:
        """Create the host's pool early: loading certificates would delay a reserved request."""
        if host not in self._pools:
            self._pools[host] = self._new_pool(scheme)

    def _new_pool(self, scheme: str) -> httpx2.AsyncHTTPTransport:
        if scheme != "https":
            return httpx2.AsyncHTTPTransport(verify=False, trust_env=False, limits=self._limits)
        tls = self._tls or _usual_authorities()
        return httpx2.AsyncHTTPTransport(verify=tls, trust_env=False, limits=self._limits)

    async def aclose(self) -> None:
        """Close every connection."""
        for pool in self._pools.values():
            await pool.aclose()


@cache
def _usual_authorities() -> ssl.SSLContext:
    """Return the default authorities, loaded once per process: loading takes 20 ms."""
    return httpx2.create_ssl_context(trust_env=False)
