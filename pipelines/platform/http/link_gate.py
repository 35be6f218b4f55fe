"""Link gate: decides for every URL that is fetched or followed whether it may be contacted.

One function, `check_address`, serves our own requests, each redirect step and media. It parses a
URL by one strict grammar and passes on only the parsed parts, so that no other parser can see
another host in the same text. `Dialler` turns a permitted host into the one IP address to dial, and
`PinnedTransport` dials it.
"""

import asyncio
import ipaddress
import re
import socket
import ssl
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import KW_ONLY, dataclass, field
from functools import cache
from urllib.parse import urljoin

import httpx2

from pipelines.platform.parsers.links import host_matches
from pipelines.platform.profiles import PlatformProfile
from warehouse.records.errors import SubstitutionError, UnreachableError

MAX_REDIRECTS = 5
MAX_ADDRESS_LENGTH = 4096
PIN_LIFETIME_S = 300.0
DIAL = "sametrack_dial_address"
"""Extension of a request that names the IP address to dial."""

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[[str, int], Awaitable[list[str]]]

# The target has no character that a URL must escape (" # < > \ ^ ` { | }), since parsers differ in
# what they make of those.
_ADDRESS = re.compile(
    r"(?P<scheme>https?)://(?P<host>[A-Za-z0-9.-]{1,253})(?::(?P<port>[0-9]{1,5}))?"
    r"(?P<target>(?:[/?][!$-;=?-Z_a-z~\[\]]*)?)(?:\#[!-~]*)?",
    re.ASCII | re.IGNORECASE,
)
_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?", re.ASCII)  # as RFC 1123 has it
_NUMERIC_LABEL = re.compile(r"[0-9]+|0x[0-9a-f]*", re.ASCII)


_SPECIAL = tuple(
    ipaddress.ip_network(network)
    for network in (
        # global according to the library, but leading to this machine, this site or a tunnel
        *("192.0.0.0/24", "192.88.99.0/24", "fec0::/10", "64:ff9b:1::/48", "2002::/16", "::/96"),
        # translated addresses, documentation and segment routing, which older libraries do not know
        *("::ffff:0:0:0/96", "3fff::/20", "5f00::/16"),
    )
)
_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")  # RFC 6052: holds an IPv4 address


@dataclass(frozen=True, slots=True)
class CheckedAddress:
    """A parsed URL. `target` is path and query; the fragment is dropped."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def url(self) -> str:
        """The URL as it is requested."""
        standard = {"http": 80, "https": 443}[self.scheme]
        suffix = "" if self.port == standard else f":{self.port}"
        return f"{self.scheme}://{self.host}{suffix}{self.target}"

    @property
    def path(self) -> str:
        """The path without the query."""
        return self.target.partition("?")[0]


def read_address(text: str) -> CheckedAddress | None:
    """Parse an absolute http(s) URL; None if it is not of the strict form.

    Refused: control characters, blanks, backslashes, non-ASCII characters, user information, IP
    literals in any notation, invalid labels and a trailing dot.
    """
    match = _ADDRESS.fullmatch(text) if len(text) <= MAX_ADDRESS_LENGTH else None
    if match is None:
        return None
    scheme, host = match["scheme"].lower(), match["host"].lower()
    labels = host.split(".")
    # A last label that is a number makes the host an IP address in the eyes of some resolvers.
    if not all(map(_LABEL.fullmatch, labels)) or _NUMERIC_LABEL.fullmatch(labels[-1]):
        return None
    port = int(match["port"]) if match["port"] else {"http": 80, "https": 443}[scheme]
    target = match["target"]
    return CheckedAddress(scheme, host, port, target if target.startswith("/") else f"/{target}")


def check_address(
    text: str, *, allowed: Iterable[str], profile: PlatformProfile, surface: str
) -> CheckedAddress:
    """Return the parsed URL if it may be contacted.

    Plain http is upgraded where the profile uses https for the host. A missing port means the
    host's port in the profile.

    Raises:
        SubstitutionError: The URL is malformed, or leads off the allow-list.
    """
    address = read_address(text)
    if address is None:
        raise SubstitutionError("the URL is not of an accepted form", surface=surface)
    if not host_matches(address.host, allowed):
        raise SubstitutionError(
            f"the address leads to {address.host!r}, which is not on the allow-list",
            surface=surface,
            reason="foreign_host",
        )
    scheme, port = profile.scheme_and_port(address.host)
    is_standard = address.port == {"http": 80, "https": 443}[address.scheme]
    if not is_standard and address.port != port:
        raise SubstitutionError(
            f"the address names port {address.port}", surface=surface, reason="odd_port"
        )
    if address.scheme != scheme and scheme == "http":
        raise SubstitutionError(
            "the address asks for https where the profile speaks http",
            surface=surface,
            reason="odd_scheme",
        )
    return CheckedAddress(scheme, address.host, port, address.target)


def join_address(base: str, location: str, *, surface: str) -> str:
    """Return the absolute URL of a redirect at `base`; it still has to be checked.

    Raises:
        SubstitutionError: It cannot be parsed.
    """
    try:
        return urljoin(base, location)
    except ValueError as exc:
        raise SubstitutionError("the redirect cannot be parsed", surface=surface) from exc


def is_public(address: IPAddress) -> bool:
    """Return True for a public internet address.

    IPv6 addresses that embed an IPv4 address are unwrapped, or refused if the scheme is obsolete.
    """
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped
        if address in _TRANSLATED:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(inner)
        if address.teredo is not None:
            return False
    if any(address in network for network in _SPECIAL):
        return False
    return address.is_global and not address.is_multicast


async def look_up(host: str, port: int) -> list[str]:
    """Resolve a host with the system's resolver."""
    loop = asyncio.get_running_loop()
    entries = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in entries]


@dataclass(frozen=True, eq=False)
class Dialler:
    """Chooses the checked IP address to dial for a permitted host."""

    profile: PlatformProfile
    _: KW_ONLY
    resolve: Resolve = look_up
    clock: Callable[[], float] = time.monotonic
    _pinned: dict[str, tuple[str, float]] = field(default_factory=dict, init=False)

    async def dial_address(self, host: str, *, surface: str) -> str:
        """Return the IP address to dial, resolved and checked once per `PIN_LIFETIME_S`.

        Raises:
            SubstitutionError: The name resolves to an address that is not public.
            UnreachableError: The name does not resolve.
        """
        # Checked when the profile was read, where the sandbox alone may name loopback.
        pinned = [ip for rule, ip in self.profile.pins.items() if host_matches(host, (rule,))]
        if pinned:
            return str(pinned[0])
        address, valid_until = self._pinned.get(host, ("", 0.0))
        if address and self.clock() < valid_until:
            return address
        _, port = self.profile.scheme_and_port(host)
        try:
            addresses = await self.resolve(host, port)
        except OSError as exc:
            raise UnreachableError(
                f"the name {host!r} could not be looked up", surface=surface
            ) from exc
        if not addresses:
            raise UnreachableError(f"the name {host!r} has no address", surface=surface)
        # All must be public: a mixed answer suggests DNS rebinding. A zone follows after "%".
        if not all(is_public(ipaddress.ip_address(ip.partition("%")[0])) for ip in addresses):
            raise SubstitutionError(
                f"the name {host!r} resolves to an address that is not public",
                surface=surface,
                reason="special_address",
            )
        self._pinned[host] = (addresses[0], self.clock() + PIN_LIFETIME_S)
        return addresses[0]


@dataclass(eq=False, kw_only=True)
class PinnedTransport(httpx2.AsyncBaseTransport):
    """Sends a request to the IP address named in its `DIAL` extension. No proxy, no DNS lookup.

    The request keeps the host name for the Host header, the certificate and the cookies. Every host
    has its own pool, so a connection made for one name is never used for another at the same
    address. `tls` replaces the default certificate authorities.
    """

    connections_per_host: int
    tls: ssl.SSLContext | None = None
    _pools: dict[str, httpx2.AsyncHTTPTransport] = field(default_factory=dict, init=False)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request; the response body is not read yet."""
        host = request.url.host
        if host not in self._pools:
            is_secure = request.url.scheme == "https"
            count = self.connections_per_host
            self._pools[host] = httpx2.AsyncHTTPTransport(
                verify=(self.tls or _default_authorities()) if is_secure else False,
                trust_env=False,
                limits=httpx2.Limits(max_connections=count, max_keepalive_connections=count),
            )
        pinned = httpx2.Request(
            request.method,
            request.url.copy_with(host=request.extensions[DIAL]),
            headers=request.headers,
            stream=request.stream,
            # The certificate is checked for the name, not for the address that is dialled.
            extensions={**request.extensions, "sni_hostname": host},
        )
        return await self._pools[host].handle_async_request(pinned)

    async def aclose(self) -> None:
        """Close every connection."""
        for pool in self._pools.values():
            await pool.aclose()


@cache
def _default_authorities() -> ssl.SSLContext:
    """Return the default authorities, loaded once per process: loading takes 20 ms."""
    return httpx2.create_ssl_context(trust_env=False)
