"""Connection settings of both clients. The token is sent in a header only."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

DEFAULT_URL = "http://127.0.0.1:8780"
JOB_TIMEOUT_S = 150.0  # the service waits for the job of such a request up to 120 s
ANSWER_S = 5.0  # for the service to report that the time is over, and for its response to arrive
EVENTS_PAUSE_S = 10.0  # after which the service sends a comment that keeps the stream open
EVENTS_SILENCE_S = 45.0

type AsyncPause = Callable[[float], Awaitable[None]]
"""Waits for so many seconds, as `asyncio.sleep` does."""
type Pause = Callable[[float], None]
"""The same for the blocking client, as `time.sleep` does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """Address, token and limits of a connection.

    Attributes:
        base_url: Address of the service, without a path.
        token: `OWN_API_TOKEN` of the service, if it has one.
        timeout_s: Time limit of a request with its retries. Each request states what is left.
        retries: Maximum number of retries of a retryable request.
        longest_pause_s: Longest `Retry-After` to wait for; for a longer one the error is raised.

    Raises:
        ValueError: `base_url` is not an address.
    """

    base_url: str = DEFAULT_URL
    token: str | None = None
    timeout_s: float = 30.0
    retries: int = 2
    longest_pause_s: float = 30.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "base_url", self.base_url.rstrip("/"))
        try:
            parts = urlsplit(self.base_url)
            is_address = (
                parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
            )
        except ValueError:  # a port that is not a number, or a malformed IPv6 address
            is_address = False
        if not is_address:
            raise ValueError(
                f"{self.base_url!r} is not the address of a service, such as {DEFAULT_URL}"
            )

    def headers(self) -> Mapping[str, str]:
        """Return the headers of every request."""
        headers = {"Accept": "application/json", "User-Agent": "sametrack-client/2.0.0"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        return headers

    @property
    def is_encrypted(self) -> bool:
        """Whether certificates are needed: loading the authorities takes 20 ms of CPU time."""
        return urlsplit(self.base_url).scheme != "http"

    def __repr__(self) -> str:
        """Hide the token."""
        return f"Connection(base_url={self.base_url!r}, token={'***' if self.token else None})"
