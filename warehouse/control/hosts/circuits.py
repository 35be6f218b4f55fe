"""Circuits of surfaces at hosts, shared by all processes. Times are Unix seconds.

Consecutive failures open the circuit, and no request is sent while it is open. Then one request,
the probe, decides: it closes the circuit, or opens it for twice as long.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from functools import partial

from sqlalchemy import ColumnElement, Connection, and_, select, update

from warehouse.control.database import ControlStore, to_time
from warehouse.control.schema import CIRCUITS

RECORD_SUCCESS_EVERY_S = 60.0  # "last worked at" needs no higher precision
WHOLE_HOST = "*"  # in place of a surface: the circuit of a host


@dataclass(frozen=True, slots=True, kw_only=True)
class CircuitDecision:
    """Whether a surface may be requested now.

    `is_probe`: this request decides whether the circuit closes; `cause` is the error type that
    opened it, `wait_s` how long it stays open. `is_clean`: no recent failure, and a success was
    recorded a moment ago.
    """

    is_allowed: bool
    is_probe: bool = False
    is_clean: bool = False
    wait_s: float = 0.0
    cause: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CircuitState:
    """State of the circuit of a surface at a host. It is closed if `open_until` is None."""

    host: str
    surface: str
    failures: int
    cause: str | None
    open_until: datetime | None
    failed_at: datetime | None
    worked_at: datetime | None


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
    # While a probe is in progress, other requests wait for its result.
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
    duration_s = min(longest_s, open_s * 2.0 ** min(circuit.openings, 30))
    return Circuit(
        failures=failures,
        openings=circuit.openings + 1,
        cause=cause,
        open_until=now + duration_s,
    )


def after_success(circuit: Circuit, *, is_probe: bool) -> Circuit:
    """Close and reset the circuit. Only the probe closes an open one."""
    return circuit if circuit.open_until is not None and not is_probe else Circuit()


def without_probe(circuit: Circuit) -> Circuit:
    """Drop a probe that ended without a result: the next request becomes the probe."""
    return replace(circuit, probe_until=None)


_STATE = tuple(CIRCUITS.c[field.name] for field in fields(Circuit))


def check(control: ControlStore, host: str, surface: str, *, probe_s: float) -> CircuitDecision:
    """Return whether a surface may be requested.

    If its circuit has been open long enough, one process gets the probe, for `probe_s` seconds.
    """
    now = control.now()
    query = select(*_STATE, CIRCUITS.c.worked_at).where(_is(host, surface))
    with control.read() as connection:
        row = connection.execute(query).first()
    if row is None:
        return CircuitDecision(is_allowed=True)
    # Most circuits are closed: they cost a read, and no write lock that all processes share.
    if row.open_until is None:
        is_noted = now - (row.worked_at or 0.0) < RECORD_SUCCESS_EVERY_S
        return CircuitDecision(is_allowed=True, is_clean=row.failures == 0 and is_noted)
    with control.write() as connection:
        circuit = _locked(control, connection, host, surface)
        # The time is read again: waiting for the write lock may have taken long.
        after, decision = decide_request(circuit, control.now(), probe_s=probe_s)
        if after is not circuit:
            connection.execute(update(CIRCUITS).where(_is(host, surface)).values(asdict(after)))
        return decision


def note_failure(
    control: ControlStore,
    host: str,
    surface: str,
    *,
    cause: str,
    is_probe: bool,
    threshold: int,
    open_s: float,
    longest_s: float,
) -> None:
    """Record a failed request; `threshold` consecutive ones open the circuit."""
    now = control.now()
    change = partial(
        after_failure,
        now=now,
        cause=cause,
        is_probe=is_probe,
        threshold=threshold,
        open_s=open_s,
        longest_s=longest_s,
    )
    _change(control, host, surface, change, failed_at=now)


def note_success(
    control: ControlStore, host: str, surface: str, *, is_probe: bool, with_data: bool
) -> None:
    """Record an answered request; `with_data` if the response had the requested data."""
    # A response without data closes the circuit, but the surface does not count as working.
    times = {"worked_at": control.now()} if with_data else {}
    _change(control, host, surface, partial(after_success, is_probe=is_probe), **times)


def release_probe(control: ControlStore, host: str, surface: str) -> None:
    """Release a probe that was cancelled or never sent.

    Another request can then be the probe.
    """
    _change(control, host, surface, without_probe)


def open_surfaces(control: ControlStore, host: str, *, cause: str, since_s: float) -> list[str]:
    """Return the surfaces of a host whose circuit this error opened at most `since_s` ago."""
    query = select(CIRCUITS.c.surface).where(
        CIRCUITS.c.host == host,
        CIRCUITS.c.cause == cause,
        CIRCUITS.c.open_until.is_not(None),
        CIRCUITS.c.failed_at >= control.now() - since_s,
        CIRCUITS.c.surface != WHOLE_HOST,
    )
    with control.read() as connection:
        return list(connection.execute(query).scalars())


def read_all(control: ControlStore) -> list[CircuitState]:
    """Return the circuit of every surface ever requested, by host and surface."""
    query = select(CIRCUITS).order_by(CIRCUITS.c.host, CIRCUITS.c.surface)
    with control.read() as connection:
        return [
            CircuitState(
                host=row.host,
                surface=row.surface,
                failures=row.failures,
                cause=row.cause,
                open_until=to_time(row.open_until),
                failed_at=to_time(row.failed_at),
                worked_at=to_time(row.worked_at),
            )
            for row in connection.execute(query)
        ]


def _change(
    control: ControlStore,
    host: str,
    surface: str,
    change: Callable[[Circuit], Circuit],
    **times: float,
) -> None:
    with control.write() as connection:
        circuit = change(_locked(control, connection, host, surface))
        values = {**asdict(circuit), **times}
        connection.execute(update(CIRCUITS).where(_is(host, surface)).values(values))


def _locked(control: ControlStore, connection: Connection, host: str, surface: str) -> Circuit:
    query = select(*_STATE).where(_is(host, surface)).with_for_update()
    new = {"host": host, "surface": surface, **asdict(Circuit())}
    row = control.first_or_created(connection, query, CIRCUITS, new)
    return Circuit(**row._asdict())


def _is(host: str, surface: str) -> ColumnElement[bool]:
    return and_(CIRCUITS.c.host == host, CIRCUITS.c.surface == surface)
