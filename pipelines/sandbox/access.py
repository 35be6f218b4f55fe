"""The access log of the stand-in platform: how often and how fast each host was asked.

It is the witness for politeness: what a client says about its rate can be checked here.
"""

import time
from collections import Counter, deque
from dataclasses import dataclass, field

WINDOW_S = 1.0


@dataclass(slots=True)
class _Host:
    requests: int = 0
    most_in_window: int = 0
    in_flight: int = 0
    most_in_flight: int = 0
    recent: deque[float] = field(default_factory=deque)


class AccessLog:
    """Counts per surface and host. Times are monotonic seconds."""

    def __init__(self) -> None:
        self._surfaces: Counter[str] = Counter()
        self._statuses: Counter[str] = Counter()
        self._faults: Counter[str] = Counter()
        self._hosts: dict[str, _Host] = {}

    def begin(self, surface: str, host: str, *, at: float | None = None) -> None:
        """Note a request."""
        now = time.monotonic() if at is None else at
        self._surfaces[surface] += 1
        entry = self._hosts.setdefault(host, _Host())
        entry.requests += 1
        entry.in_flight += 1
        entry.most_in_flight = max(entry.most_in_flight, entry.in_flight)
        entry.recent.append(now)
        while entry.recent[0] <= now - WINDOW_S:
            entry.recent.popleft()
        entry.most_in_window = max(entry.most_in_window, len(entry.recent))

    def end(self, surface: str, host: str, *, status: int | None, fault: str | None) -> None:
        """Note its answer; no status means that the connection ended without one."""
        self._hosts[host].in_flight -= 1
        self._statuses[f"{surface} {status or 'none'}"] += 1
        if fault is not None:
            self._faults[f"{surface} {fault}"] += 1

    def clear(self) -> None:
        """Forget everything but what is in flight."""
        flying = {name: entry.in_flight for name, entry in self._hosts.items() if entry.in_flight}
        self._surfaces.clear()
        self._statuses.clear()
        self._faults.clear()
        self._hosts = {name: _Host(in_flight=count) for name, count in flying.items()}

    def summary(self) -> dict[str, object]:
        """Counts per surface, status, fault and host; rates over any window of one second."""
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
