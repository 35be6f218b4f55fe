"""Access log of the sandbox: how many requests each host received, and how fast.

It is the independent evidence for rate limits: a client's rate, and its waits after a 429, can be
verified here.
"""

import time
from collections import Counter, deque
from dataclasses import asdict, dataclass, field

from sandbox.server.faults import CHALLENGES

WINDOW_S = 1.0
MAX_LOGGED = 100_000
"""Requests kept individually; older ones are only counted."""


@dataclass(slots=True)
class _Host:
    requests: int = 0
    most_in_window: int = 0
    in_flight: int = 0
    most_in_flight: int = 0
    recent: deque[float] = field(default_factory=deque)


@dataclass(slots=True, kw_only=True)
class LoggedRequest:
    """One request; times are monotonic seconds, `unix` is its arrival by the machine's clock.

    Attributes:
        surface: Name of the surface.
        host: The host in the request.
        target: Path and query.
        referer: The page that the request names as its origin; empty for none.
        at: Time of arrival.
        unix: The same in unix seconds.
        ended_at: Time of the response; None while in flight.
        status: Status of the response; None if there was none.
        fault: The fault applied to it.
        retry_after: `Retry-After` of the response, in seconds.
    """

    surface: str
    host: str
    target: str
    referer: str
    at: float
    unix: float
    ended_at: float | None = None
    status: int | None = None
    fault: str | None = None
    retry_after: float | None = None

    @property
    def answered_at(self) -> float:
        """Time of the response; that of the request while it is in flight."""
        return self.at if self.ended_at is None else self.ended_at


class AccessLog:
    """Counts per surface and host, and the individual requests."""

    def __init__(self) -> None:
        self._surfaces: Counter[str] = Counter()
        self._statuses: Counter[str] = Counter()
        self._faults: Counter[str] = Counter()
        self._hosts: dict[str, _Host] = {}
        self._entries: deque[LoggedRequest] = deque(maxlen=MAX_LOGGED)

    def begin(
        self, surface: str, host: str, *, target: str = "", referer: str = "",
        at: float | None = None,
    ) -> LoggedRequest:  # fmt: skip
        """Record a request."""
        now = time.monotonic() if at is None else at
        self._surfaces[surface] += 1
        counted = self._hosts.setdefault(host, _Host())
        counted.requests += 1
        counted.in_flight += 1
        counted.most_in_flight = max(counted.most_in_flight, counted.in_flight)
        counted.recent.append(now)
        while counted.recent[0] <= now - WINDOW_S:
            counted.recent.popleft()
        counted.most_in_window = max(counted.most_in_window, len(counted.recent))
        entry = LoggedRequest(
            surface=surface, host=host, target=target, referer=referer, at=now, unix=time.time()
        )
        self._entries.append(entry)
        return entry

    def end(
        self, entry: LoggedRequest, *, status: int | None, fault: str | None,
        retry_after: float | None = None, at: float | None = None,
    ) -> None:  # fmt: skip
        """Record its response; no status means that the connection ended without one."""
        entry.ended_at = time.monotonic() if at is None else at
        entry.status, entry.fault, entry.retry_after = status, fault, retry_after
        self._hosts[entry.host].in_flight -= 1
        self._statuses[f"{entry.surface} {status or 'none'}"] += 1
        if fault is not None:
            self._faults[f"{entry.surface} {fault}"] += 1

    def clear(self) -> None:
        """Delete everything except requests in flight."""
        flying = {name: entry.in_flight for name, entry in self._hosts.items() if entry.in_flight}
        self._surfaces.clear()
        self._statuses.clear()
        self._faults.clear()
        self._entries.clear()
        self._hosts = {name: _Host(in_flight=count) for name, count in flying.items()}

    def summary(self) -> dict[str, object]:
        """Return counts per surface, status, fault and host, and the peak rate per second."""
        return {
            "requests": sum(self._surfaces.values()),
            "surfaces": dict(sorted(self._surfaces.items())),
            "statuses": dict(sorted(self._statuses.items())),
            "faults": dict(sorted(self._faults.items())),
            "hosts": {
                name: {
                    "requests": entry.requests,
                    "max_per_second": entry.most_in_window,
                    "max_in_flight": entry.most_in_flight,
                }
                for name, entry in sorted(self._hosts.items())
            },
        }

    def requests(
        self, *, host: str | None = None, surface: str | None = None, limit: int = 1000
    ) -> list[dict[str, object]]:
        """Return the newest requests, oldest first, with their times."""
        found = [
            entry for entry in self._entries
            if host in (None, entry.host) and surface in (None, entry.surface)
        ]  # fmt: skip
        return [asdict(entry) for entry in found[max(0, len(found) - limit) :]]

    def challenges(self) -> list[dict[str, object]]:
        """Return the first challenge of each surface of a host, and what was requested after it.

        `surface_after` counts later requests to this surface, `host_after` those to its host per
        surface: a client that stops has none of them.
        """
        first: dict[tuple[str, str], LoggedRequest] = {}
        for entry in self._entries:
            if entry.fault in CHALLENGES:
                first.setdefault((entry.host, entry.surface), entry)
        return [self._since(entry) for entry in first.values()]

    def _since(self, challenge: LoggedRequest) -> dict[str, object]:
        later = Counter(
            entry.surface for entry in self._entries
            if entry.host == challenge.host and entry.at > challenge.answered_at
        )  # fmt: skip
        return {
            "host": challenge.host, "surface": challenge.surface, "kind": challenge.fault,
            "unix": challenge.unix, "surface_after": later[challenge.surface],
            "host_after": dict(sorted(later.items())),
        }  # fmt: skip
