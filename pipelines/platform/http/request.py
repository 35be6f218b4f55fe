"""A request to a host, and the limits of the client. Plain values."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import httpx2

from pipelines.platform.http.revalidation import StoredResponse


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpLimits:
    """Timeouts, sizes and retries; times in seconds.

    `attempts` counts the first one. The waits between attempts grow with jitter and pause the host
    for every process.
    """

    connect_s: float = 5.0
    read_s: float = 10.0
    total_s: float = 20.0
    media_total_s: float = 60.0
    robots_s: float = 5.0  # robots.txt is only recorded by default, so it must not delay a read
    body_bytes: int = 4 * 1024 * 1024
    media_bytes: int = 64 * 1024 * 1024
    attempts: int = 3
    wait_initial_s: float = 0.3
    wait_max_s: float = 3.0
    wait_jitter_s: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """One request.

    `ends_at` is True for redirect targets that are the answer themselves; `known` is the stored
    response to revalidate, if the server sent a validator with it. `referer` is the address of the
    page that was really read and named this one; it is sent as it is, and nothing else ever is.
    """

    surface: str
    url: str
    allowed: tuple[str, ...]
    params: Mapping[str, str] = field(default_factory=dict)
    ends_at: Callable[[str], bool] = lambda _location: False
    total_s: float | None = None
    attempts: int | None = None
    known: StoredResponse | None = None
    referer: str | None = None

    @property
    def address(self) -> str:
        """The URL with its parameters."""
        return str(httpx2.URL(self.url, params=dict(self.params))) if self.params else self.url
