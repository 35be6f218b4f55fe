"""What hosts may see at most: a model of rates, budgets, pauses and circuits of its own."""

from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field

from benchmarks.simulation.clock import SimulatedClock
from warehouse.control.hosts import CircuitDecision, TokenGrant

ROUNDING = 1e-3
AT_ONCE_S = 1.0
"""What is under way when something begins may still be sent within this time."""
WHOLE_HOST = "*"
RATE_PER_S, BURST, BUDGET = 0.05, 3, 12
OPEN_S, LONGEST_S, PROBE_S = 900.0, 7200.0, 60.0
DEMANDS = frozenset({"upstream_verification", "upstream_login_required"})
THRESHOLDS = {
    "upstream_verification": 1, "upstream_login_required": 1, "upstream_forbidden": 1,
    "upstream_unreachable": 5, "upstream_empty": 8, "upstream_page_without_data": 8,
    "upstream_structure_changed": 8,
}  # fmt: skip
"""Failures in a row that open a circuit, by the type of the error."""

type Key = tuple[str, str]


@dataclass(slots=True)
class CircuitModel:
    """What is promised of one circuit."""

    failures: int = 0
    openings: int = 0
    cause: str | None = None
    open_until: float | None = None
    probe_until: float = 0.0
    failed_at: float = 0.0
    opened_by: str = ""
    opened_at: float = 0.0  # monotonic
    probed_by: str = ""


@dataclass(slots=True)
class HostModel:
    """What is promised of the rate of one host."""

    latest: float = 0.0
    sent_at: deque[float] = field(default_factory=lambda: deque(maxlen=60))
    sent_on: Counter[int] = field(default_factory=Counter)
    paused_until: float = 0.0
    paused_at: float = 0.0  # monotonic


class PolitenessPromises:
    """Judges each grant, each decision and each request that is sent."""

    def __init__(self, clock: SimulatedClock) -> None:
        self._clock = clock
        self._hosts: defaultdict[str, HostModel] = defaultdict(HostModel)
        self._circuits: defaultdict[Key, CircuitModel] = defaultdict(CircuitModel)

    def granted(self, host: str, grant: TokenGrant) -> None:
        """No day has more requests than its budget, no window more than rate and burst allow."""
        if grant.waits_for != "turn":
            return
        model = self._hosts[host]
        model.latest = max(model.latest, self._clock.unix())  # the clock may have jumped back
        model.sent_on[int(model.latest // 86_400)] += 1
        assert max(model.sent_on.values()) <= BUDGET, "more requests than the daily budget"
        model.sent_at.append(model.latest + grant.wait_s)
        last = model.sent_at[-1]
        for count, sent_at in enumerate(reversed(model.sent_at), start=1):
            allowed = BURST + (last - sent_at) * RATE_PER_S
            assert count <= allowed + ROUNDING, "more requests than the rate allows"

    def refused(self, host: str) -> None:
        """Only a day whose budget is spent is refused."""
        model = self._hosts[host]
        day = int(max(model.latest, self._clock.unix()) // 86_400)
        assert model.sent_on[day] >= BUDGET, "a budget that is left is refused"

    def paused(self, host: str, until: float) -> None:
        model = self._hosts[host]
        if until > model.paused_until:
            model.paused_until, model.paused_at = until, self._clock.passed_s

    def is_paused(self, host: str) -> bool:
        return self._clock.unix() < self._hosts[host].paused_until

    def decided(self, key: Key, decision: CircuitDecision, process: str) -> None:
        """While a circuit is open, no request but one probe."""
        now, model = self._clock.unix(), self._circuits[key]
        if model.open_until is None:
            assert decision.is_allowed, "a closed circuit refuses"
            return
        is_busy = now < max(model.open_until, model.probe_until)
        assert decision.is_allowed != is_busy, "an open circuit lets a request pass, or none"
        if decision.is_allowed:
            assert decision.is_probe, "a request that is no probe"
            model.probe_until, model.probed_by = now + PROBE_S, process

    def answered(self, key: Key, *, is_probe: bool) -> None:
        if self._circuits[key].open_until is None or is_probe:
            self._circuits[key] = CircuitModel()

    def released(self, key: Key) -> None:
        self._circuits[key].probe_until = 0.0

    def failed(self, key: Key, cause: str, began: float, process: str, *, is_probe: bool) -> None:
        """Failures in a row open the circuit; a failed probe opens it for longer."""
        model = self._circuits[key]
        model.failed_at = began
        if model.open_until is not None and not is_probe:
            return
        model.failures += 1
        model.cause = cause
        limit = 1 if key[1] == WHOLE_HOST else THRESHOLDS[cause]
        if is_probe or model.failures >= limit:
            model.open_until = began + min(LONGEST_S, OPEN_S * 2**model.openings)
            model.openings += 1
            model.probe_until = 0.0
            model.opened_by = process if limit == 1 else ""
            model.opened_at = self._clock.passed_s

    def is_open(self, key: Key) -> bool:
        return self._circuits[key].open_until is not None

    def challenged(self, host: str) -> list[str]:
        """Return the surfaces of a host that demanded verification lately and are closed.

        In the order of their latest demands.
        """
        since = self._clock.unix() - LONGEST_S
        found = [
            (model.failed_at, surface)
            for (where, surface), model in self._circuits.items()
            if where == host
            and surface != WHOLE_HOST
            and model.cause == "upstream_verification"
            and model.open_until is not None
            and model.failed_at >= since
        ]
        return [surface for _, surface in sorted(found)]

    def sent(self, host: str, surface: str, process: str) -> None:
        """Nothing is sent to a paused host, or by a process that met a demand there meanwhile."""
        now, model = self._clock.passed_s, self._hosts[host]
        is_settled = min(now - model.paused_at, now - self._clock.jumped_at) > AT_ONCE_S
        left_s = model.paused_until - self._clock.unix()
        assert not (is_settled and left_s > ROUNDING), "a request to a paused host"
        circuits = [self._circuits[host, surface], self._circuits[host, WHOLE_HOST]]
        if any(one.probed_by == process for one in circuits):
            return
        for one in circuits:
            is_known = one.opened_by == process and now - one.opened_at > AT_ONCE_S
            assert not (is_known and one.open_until), "a request in spite of a demand"

    def latest_end(self) -> float:
        """Return when the last pause, open time or probe ends."""
        circuits = [max(one.open_until or 0.0, one.probe_until) for one in self._circuits.values()]
        return max([0.0, *circuits, *(one.paused_until for one in self._hosts.values())])

    def state(self) -> list[str]:
        """Return the circuits that are not as new, for the trace."""
        return [
            f"{host}/{surface}:{one.failures},{one.openings},{one.open_until}"
            for (host, surface), one in sorted(self._circuits.items())
            if one.failures
        ]
