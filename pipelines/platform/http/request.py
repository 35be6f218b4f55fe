"""A question to a host, and the limits within which it is asked. Plain values."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import httpx2

from pipelines.platform.http.revalidation import Known


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpLimits:
    """Times in seconds. `attempts` counts the first try; the waits between them grow with jitter,
    and while one process waits nobody asks that host.
    """

    connect_s: float = 5.0
    read_s: float = 10.0
    total_s: float = 20.0
    media_total_s: float = 60.0
    robots_s: float = 5.0  # nobody waits longer for a file that is only kept
    body_bytes: int = 4 * 1024 * 1024
    media_bytes: int = 64 * 1024 * 1024
    attempts: int = 3
    wait_initial_s: float = 0.3
    wait_max_s: float = 3.0
    wait_jitter_s: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One question. `ends_at` says of a redirect's target that the redirect is the answer; `known`
    is what was answered before, where the server offered to be asked about it.
    """

    surface: str
    url: str
    allowed: tuple[str, ...]
    params: Mapping[str, str] = field(default_factory=dict)
    ends_at: Callable[[str], bool] = lambda _location: False
    total_s: float | None = None
    attempts: int | None = None
    known: Known | None = None

    @property
    def address(self) -> str:
        """The address with its parameters."""
        return str(httpx2.URL(self.url, params=dict(self.params))) if self.params else self.url
