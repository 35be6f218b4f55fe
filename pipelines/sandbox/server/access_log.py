"""The access log of the stand-in platform: how often and how fast each host was asked.

It is the witness for politeness: what a client says about its rate, and about waiting after a 429,
can be checked here.
"""

import time
from bisect import bisect_left, bisect_right
from collections import Counter, deque
from dataclasses import asdict, dataclass, field

WINDOW_S = 1.0
_TOO_MANY = 429
KEPT = 100_000
"""Requests that are remembered one by one; of older ones only the counts are."""


@dataclass(slots=True)
class _Host:
    requests: int = 0
    most_in_window: int = 0
    in_flight: int = 0
    most_in_flight: int = 0
    recent: deque[float] = field(default_factory=deque)


@dataclass(slots=True, kw_only=True)
class Entry:
    """One request; times are monotonic seconds, `unix` is when it came by the machine's clock.

    Attributes:
        surface: Name of the surface.
        host: The host that it named.
        target: Path and query.
        at: When it came.
        unix: The same in unix seconds.
        ended_at: When its answer was given; None while it is in flight.
        status: Status of the answer; None for none.
        fault: The fault that it met.
        retry_after: Seconds that its answer asked to wait.
    """

    surface: str
    host: str
    target: str
    at: float
    unix: float
    ended_at: float | None = None
    status: int | None = None
    fault: str | None = None
    retry_after: float | None = None


class AccessLog:
    """Counts per surface and host, and the requests one by one."""

    def __init__(self) -> None:
        self._surfaces: Counter[str] = Counter()
        self._statuses: Counter[str] = Counter()
        self._faults: Counter[str] = Counter()
        self._hosts: dict[str, _Host] = {}
        self._entries: deque[Entry] = deque(maxlen=KEPT)

    def begin(self, surface: str, host: str, *, target: str = "", at: float | None = None) -> Entry:
        """Note a request."""
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
        entry = Entry(surface=surface, host=host, target=target, at=now, unix=time.time())
        self._entries.append(entry)
        return entry

    def end(
        self, entry: Entry, *, status: int | None, fault: str | None,
        retry_after: float | None = None, at: float | None = None,
    ) -> None:  # fmt: skip
        """Note its answer; no status means that the connection ended without one."""
        entry.ended_at = time.monotonic() if at is None else at
        entry.status, entry.fault, entry.retry_after = status, fault, retry_after
        self._hosts[entry.host].in_flight -= 1
        self._statuses[f"{entry.surface} {status or 'none'}"] += 1
        if fault is not None:
            self._faults[f"{entry.surface} {fault}"] += 1

    def clear(self) -> None:
        """Forget everything but what is in flight."""
        flying = {name: entry.in_flight for name, entry in self._hosts.items() if entry.in_flight}
        self._surfaces.clear()
        self._statuses.clear()
        self._faults.clear()
        self._entries.clear()
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

    def requests(
        self, *, host: str | None = None, surface: str | None = None, limit: int = 1000
    ) -> list[dict[str, object]]:
        """The newest requests one by one, oldest first, with their times."""
        found = [
            entry for entry in self._entries
            if host in (None, entry.host) and surface in (None, entry.surface)
        ]  # fmt: skip
        return [asdict(entry) for entry in found[max(0, len(found) - limit) :]]

    def rates(self, *, window_s: float = WINDOW_S) -> dict[str, object]:
        """Per host: the most requests in any window, and what came after each 429.

        A 429 is told with the seconds that it asked for (`retry_after`), how many requests to its
        host began within them (`too_early`), and when the next one came (`next_after_s`).
        """
        hosts: dict[str, list[Entry]] = {}
        for entry in self._entries:
            hosts.setdefault(entry.host, []).append(entry)
        return {
            name: {
                "requests": len(entries),
                "max_in_window": _most_in_window([entry.at for entry in entries], window_s),
                "refusals": _refusals(entries),
            }
            for name, entries in sorted(hosts.items())
        }


def _most_in_window(times: list[float], window_s: float) -> int:
    """The most of these rising times in any window of this length."""
    most, first = 0, 0
    for place, at in enumerate(times):
        while times[first] <= at - window_s:
            first += 1
        most = max(most, place - first + 1)
    return most


def _refusals(entries: list[Entry]) -> list[dict[str, object]]:
    """What came to a host after each 429; entries are in the order in which they came."""
    times = [entry.at for entry in entries]
    return [_after(entry, times) for entry in entries if entry.status == _TOO_MANY]


def _after(refusal: Entry, times: list[float]) -> dict[str, object]:
    given = refusal.at if refusal.ended_at is None else refusal.ended_at
    first = bisect_right(times, given)
    waited = bisect_left(times, given + (refusal.retry_after or 0.0))
    return {
        "surface": refusal.surface, "unix": refusal.unix, "retry_after": refusal.retry_after,
        "too_early": max(0, waited - first),
        "next_after_s": round(times[first] - given, 4) if first < len(times) else None,
    }  # fmt: skip
