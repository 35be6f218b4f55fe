"""Settings of a connection, shared by both clients. The token travels in a header only."""

from collections.abc import Mapping
from dataclasses import dataclass

DEFAULT_URL = "http://127.0.0.1:8780"
DISCOVERY_TIMEOUT_S = 150.0  # the service itself awaits a discovery for up to 120 s
EVENTS_SILENCE_S = 45.0  # the service says something every 10 s


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """How to reach the service.

    Attributes:
        base_url: Its address, without a path.
        token: `OWN_API_TOKEN` of the service, where it has one.
        timeout_s: Longest silence while an answer is awaited.
        retries: How often a request that may go again does.
        longest_pause_s: A pause that the service asks for is kept up to this long; a longer one
            is the caller's decision, who gets the error.
    """

    base_url: str = DEFAULT_URL
    token: str | None = None
    timeout_s: float = 40.0
    retries: int = 2
    longest_pause_s: float = 30.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "base_url", self.base_url.rstrip("/"))

    def headers(self) -> Mapping[str, str]:
        """Headers of every request."""
        asked = {"Accept": "application/json", "User-Agent": "sametrack-client/2.0.0"}
        return {**asked, "Authorization": f"Bearer {self.token}"} if self.token else asked

    def __repr__(self) -> str:
        """Without the token."""
        return f"Connection(base_url={self.base_url!r}, token={'***' if self.token else None})"
