"""Policy of a client towards hosts beyond the rate limit: circuits, revalidation, robots.txt.

Each part is optional; without it the check or the memory does not take place. Revalidation makes
requests conditional: only responses with `ETag` or `Last-Modified` and without `no-store` are
revalidated. The body is the archived one; if it has been deleted, the request is an ordinary one.
"""

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass

from pipelines.clock import MACHINE_CLOCK, Clock
from pipelines.platform.http.circuit_breaker import CircuitBreaker
from pipelines.platform.http.learned_health import LearnedHealth
from pipelines.platform.http.robots import RobotsPolicy
from pipelines.platform.profiles import PlatformProfile
from warehouse.control import ControlStore, hosts
from warehouse.control.hosts import CacheValidators

NOT_MODIFIED = 304
_MAX_VALIDATOR_LENGTH = 1000  # validators are short; a longer one is not worth storing

type ReadBody = Callable[[str], bytes | None]
"""Returns an archived body by its hash; None if it is not stored (yet, or any more)."""


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """A stored body, and the headers that ask the server whether it is still current."""

    body: bytes
    headers: Mapping[str, str]


class ResponseMemory:
    """Stored responses by URL, for conditional requests."""

    def __init__(self, store: ControlStore, read_body: ReadBody) -> None:
        self._store = store
        self._read_body = read_body

    async def recall(self, address: str) -> StoredResponse | None:
        """Return the stored response for a URL if it can be revalidated."""
        stored = await asyncio.to_thread(hosts.read_validators, self._store, _key(address))
        if stored is None:
            return None
        body = await asyncio.to_thread(self._read_body, stored.payload_sha256)
        if body is None:  # deleted after its retention period
            return None
        named = {"If-None-Match": stored.etag, "If-Modified-Since": stored.last_modified}
        # A header of a request holds ASCII alone, one of a response may hold more.
        headers = {name: value for name, value in named.items() if value and value.isascii()}
        return StoredResponse(body, headers) if headers else None

    async def keep(self, address: str, headers: Mapping[str, str], body: bytes) -> None:
        """Store the validators of a response, if it has any."""
        # Without a validator, or with `no-store`, there is nothing to ask again with.
        etag, modified = headers.get("ETag"), headers.get("Last-Modified")
        is_private = "no-store" in headers.get("Cache-Control", "").lower()
        if is_private or not body or not (etag or modified):
            return
        if len(etag or "") > _MAX_VALIDATOR_LENGTH or len(modified or "") > _MAX_VALIDATOR_LENGTH:
            return
        stored = CacheValidators(etag, modified, hashlib.sha256(body).hexdigest())
        await asyncio.to_thread(hosts.save_validators, self._store, _key(address), stored)


def _key(address: str) -> str:
    # Addresses hold ids of accounts and search terms, which the table need not contain.
    return hashlib.sha256(address.encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPolicy:
    """Host policy of one client."""

    circuits: CircuitBreaker | None = None
    memory: ResponseMemory | None = None
    robots: RobotsPolicy | None = None
    health: LearnedHealth | None = None

    def watch(self, host: str, surface: str) -> AbstractAsyncContextManager[None]:
        """Guard a request to a surface; see `CircuitBreaker.watch`."""
        return nullcontext() if self.circuits is None else self.circuits.watch(host, surface)


def build_host_policy(
    profile: PlatformProfile,
    store: ControlStore,
    *,
    obeys_robots: bool,
    read_body: ReadBody | None = None,
    clock: Clock = MACHINE_CLOCK,
) -> HostPolicy:
    """Build the policy of a profile's client. Without `read_body` no request is conditional."""
    return HostPolicy(
        circuits=CircuitBreaker(store, profile.circuit),
        memory=None if read_body is None else ResponseMemory(store, read_body),
        robots=RobotsPolicy(store, is_obeyed=obeys_robots, clock=clock),
        health=LearnedHealth(store, clock=clock),
    )
