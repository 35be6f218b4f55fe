"""Rules of the circuit breaker of one surface at one host. Times are Unix seconds.

Consecutive failures open the circuit, and no request is sent while it is open. Then one request,
the probe, decides: it closes the circuit, or opens it for twice as long.
"""

from dataclasses import dataclass, replace

from warehouse.control.records import CircuitDecision


@dataclass(frozen=True, slots=True, kw_only=True)
class Circuit:
    """State of a circuit: `failures` in a row, `openings` since the last success.

    A probe is in progress until `probe_until`.
    """

    failures: int = 0
    openings: int = 0
    cause: str | None = None
    open_until: float | None = None
    probe_until: float | None = None


def decide_request(
    circuit: Circuit, now: float, *, probe_s: float
) -> tuple[Circuit, CircuitDecision]:
    """Return whether a request may be sent; the first one after the open time is the probe."""
    if circuit.open_until is None:
        return circuit, CircuitDecision(is_allowed=True, is_clean=circuit.failures == 0)
    busy_until = max(circuit.open_until, circuit.probe_until or 0.0)
    if busy_until > now:
        refused = CircuitDecision(is_allowed=False, wait_s=busy_until - now, cause=circuit.cause)
        return circuit, refused
    probing = replace(circuit, probe_until=now + probe_s)
    return probing, CircuitDecision(is_allowed=True, is_probe=True, cause=circuit.cause)


def after_failure(
    circuit: Circuit,
    now: float,
    *,
    cause: str,
    is_probe: bool,
    threshold: int,
    open_s: float,
    longest_s: float,
) -> Circuit:
    """Count one more failure: the circuit opens at the threshold, and for longer if a probe fails.

    A request that was in flight when the circuit opened changes nothing.
    """
    if circuit.open_until is not None and not is_probe:
        return circuit
    failures = circuit.failures + 1
    if not is_probe and failures < threshold:
        return replace(circuit, failures=failures, cause=cause)
    # The exponent is bounded so that the power stays finite.
    for_s = min(longest_s, open_s * 2.0 ** min(circuit.openings, 30))
    return Circuit(
        failures=failures,
        openings=circuit.openings + 1,
        cause=cause,
        open_until=now + for_s,
    )


def after_success(circuit: Circuit, *, is_probe: bool) -> Circuit:
    """Close and reset the circuit. Only the probe closes an open one."""
    return circuit if circuit.open_until is not None and not is_probe else Circuit()


def without_probe(circuit: Circuit) -> Circuit:
    """Drop a probe that ended without a result: the next request becomes the probe."""
    return replace(circuit, probe_until=None)
