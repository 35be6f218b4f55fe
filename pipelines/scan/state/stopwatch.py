"""Measure the time of a scan: waiting for upstream, audio verification, own work.

Waits overlap; time counts as own work only while nothing is in flight.
"""

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Literal

WaitKind = Literal["upstream", "listening"]


class Stopwatch:
    """Wall-clock seconds of a scan by kind. Needs no lock: a scan has one event loop."""

    def __init__(self) -> None:
        self._begun_at = time.monotonic()
        self._before: Mapping[str, float] = {}
        self._in_flight: Counter[WaitKind] = Counter()
        self._since: dict[WaitKind | None, float] = {}
        self._spent: dict[WaitKind | None, float] = {"upstream": 0.0, "listening": 0.0, None: 0.0}

    @contextmanager
    def waiting(self, kind: WaitKind) -> Iterator[None]:
        """Count the time of this block as `kind`."""
        self._move(kind, +1)
        try:
            yield
        finally:
            self._move(kind, -1)

    def seconds(self) -> dict[str, float]:
        """Return the seconds with upstream in flight, with audio in flight, own and in total."""
        total = time.monotonic() - self._begun_at
        now = {
            "upstream_s": self._spent["upstream"],
            "listening_s": self._spent["listening"],
            "own_s": max(0.0, total - self._spent[None]),
            "total_s": total,
        }
        return {name: round(value + self._before.get(name, 0.0), 3) for name, value in now.items()}

    def go_on_from(self, before: Mapping[str, float]) -> None:
        """Add the seconds that earlier runs of the scan took until its checkpoint."""
        self._before = before

    def _move(self, kind: WaitKind, step: int) -> None:
        before_any, before = sum(self._in_flight.values()), self._in_flight[kind]
        self._in_flight[kind] += step
        self._edge(kind, before, self._in_flight[kind])
        self._edge(None, before_any, before_any + step)

    def _edge(self, key: WaitKind | None, before: int, after: int) -> None:
        now = time.monotonic()
        if before == 0 and after > 0:
            self._since[key] = now
        elif before > 0 and after == 0:
            self._spent[key] += now - self._since.pop(key)
