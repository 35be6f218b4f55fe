"""What the surfaces answered lately: learned by every process, shared through the control store.

Here: which outcome counts as which kind of answer, and how long it is remembered. The rule that
draws conclusions is in `sources/rules.py`. Without a store a client learns for itself alone.
"""

import asyncio
from collections.abc import Mapping, Sequence

from pipelines.clock import MACHINE_CLOCK, Clock
from pipelines.platform.http.circuit_breaker import UNASKED_REASONS
from pipelines.platform.refusal_table import OF_ONE_ITEM, refusal_of
from pipelines.platform.sources.rules import ANSWERED
from warehouse.control import ControlStore, hosts
from warehouse.control.hosts import is_probe_due
from warehouse.records import errors

ANSWERS_KEPT = 50
HEALTH_TTL_S = 6 * 3600.0  # a surface that nobody asked for so long is unknown again
PROBE_EVERY_S = 600.0
REFRESH_S = 1.0  # how long another process's answers may go unnoticed
STEADY_WRITE_S = 60.0  # a surface that always has data is written only so often
_OF_HOST = (errors.RateLimitedError, errors.BudgetSpentError)  # they say nothing about the surface

type SurfaceKey = tuple[str, str]
"""Host and surface."""


class LearnedHealth:
    """Answers of the surfaces, as one client sees them."""

    def __init__(self, store: ControlStore | None = None, *, clock: Clock = MACHINE_CLOCK) -> None:
        self._store = store
        self._clock = clock
        self._answers: dict[SurfaceKey, Sequence[str]] = {}
        self._touched: dict[SurfaceKey, float] = {}
        self._written: dict[SurfaceKey, float] = {}
        self._refreshed_at: float | None = None
        self._refreshing = asyncio.Lock()

    async def answers(self) -> Mapping[SurfaceKey, Sequence[str]]:
        """Return the latest answers of every surface, oldest first."""
        if self._store is None:
            return self._answers
        # A caller that comes meanwhile waits: until then nothing would be known of any surface.
        async with self._refreshing:
            now = self._clock.monotonic()
            if self._refreshed_at is None or now - self._refreshed_at >= REFRESH_S:
                recent = await asyncio.to_thread(
                    hosts.recent_answers, self._store, max_age_s=HEALTH_TTL_S
                )
                self._answers, self._refreshed_at = dict(recent), now
        return self._answers

    async def note(self, host: str, surface: str, error: errors.SametrackError | None) -> None:
        """Record the outcome of a read; None if it had data."""
        kind = answer_kind(error)
        if kind is None:
            return
        key = (host, surface)
        if self._store is None:
            self._answers[key] = (*self._answers.get(key, ()), kind)[-ANSWERS_KEPT:]
            self._touched[key] = self._clock.monotonic()
            return
        now, answers = self._clock.monotonic(), self._answers.get(key, ())
        # Another answer like the last 50 changes nothing that is stored but its time.
        is_steady = len(answers) == ANSWERS_KEPT and {kind, *answers} == {ANSWERED}
        if is_steady and now - self._written.get(key, -STEADY_WRITE_S) < STEADY_WRITE_S:
            return
        self._written[key] = now
        self._answers[key] = await asyncio.to_thread(
            hosts.note_answer,
            self._store,
            host,
            surface,
            kind=kind,
            keep=ANSWERS_KEPT,
            max_age_s=HEALTH_TTL_S,
        )

    async def claim_probe(self, host: str, surface: str) -> bool:
        """Return True if a surface may be probed now; the interval then begins again."""
        if self._store is not None:
            return await asyncio.to_thread(
                hosts.claim_probe,
                self._store,
                host,
                surface,
                every_s=PROBE_EVERY_S,
                recovered=ANSWERED,
            )
        key, now = (host, surface), self._clock.monotonic()
        is_due = is_probe_due(
            self._answers.get(key, ()),
            since=self._touched.get(key, -PROBE_EVERY_S),
            now=now,
            every_s=PROBE_EVERY_S,
            recovered=ANSWERED,
        )
        if is_due:
            self._touched[key] = now
        return is_due


def answer_kind(error: errors.SametrackError | None) -> str | None:
    """Return the kind of an outcome; None if it says nothing about the surface.

    That is so if no request was made, if only the host answered, and if the refusal is of one item.
    """
    if error is None or isinstance(error, errors.InputError):
        return ANSWERED  # "no such id" is an answer
    if not isinstance(error, errors.UpstreamError) or isinstance(error, _OF_HOST):
        return None
    if error.reason in UNASKED_REASONS:
        return None
    row = refusal_of(error)
    if row is None:
        return error.type
    return None if row.name in OF_ONE_ITEM else row.name
