"""State that processes share about upstream hosts: budgets, circuits, answers, robots files.

Rules take the time and return a new state; functions that take the store read and write rows.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from functools import partial
from typing import Literal, NamedTuple, get_args

from sqlalchemy import ColumnElement, Connection, Table, and_, delete, func, select, update

from warehouse.control import schema
from warehouse.control.database import ControlStore, StoredRow, to_time

# Rate limits and daily budgets of upstream hosts, shared by all processes.
#
# One token bucket per host, and pauses that a host requested. A token may be taken in advance: the
# caller waits until it would have been available. Waiting processes therefore queue up, instead of
# all waking for the same token.

DAY_S = 86_400


@dataclass(frozen=True, slots=True)
class TokenGrant:
    """How long a request must wait, and for what.

    `waits_for`: its `turn`, for which a token was taken; the end of a `pause` of the host, or the
    next `day` (UTC), because the daily budget is used up. For these two no token was taken.
    """

    wait_s: float
    waits_for: Literal["turn", "pause", "day"] = "turn"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """State of one host: `tokens` at `filled_at`, `spent` requests on `day`, its pause.

    Negative `tokens` are reserved in advance. Times are Unix seconds, `day` is days since the epoch
    (UTC).
    """

    tokens: float
    filled_at: float
    day: int = 0
    spent: int = 0
    paused_until: float | None = None


def take(
    bucket: Bucket, now: float, *, rate_per_s: float, burst: float, daily_budget: int
) -> tuple[Bucket, TokenGrant]:
    """Take one token, unless the host is paused or the day's budget is used up."""
    if bucket.paused_until is not None and bucket.paused_until > now:
        return bucket, TokenGrant(bucket.paused_until - now, "pause")
    now = max(now, bucket.filled_at)  # the clock of another machine may be ahead
    today = int(now // DAY_S)
    spent = bucket.spent if today == bucket.day else 0
    if spent >= daily_budget:
        return bucket, TokenGrant((today + 1) * DAY_S - now, "day")
    # A bucket below zero owes tokens: the caller waits until they are refilled.
    gained = (now - bucket.filled_at) * rate_per_s
    tokens = min(burst, bucket.tokens + gained) - 1
    after = replace(bucket, tokens=tokens, filled_at=now, day=today, spent=spent + 1)
    return after, TokenGrant(max(0.0, -tokens / rate_per_s))


def take_token(
    control: ControlStore, host: str, *, rate_per_s: float, burst: float, daily_budget: int
) -> TokenGrant:
    """Reserve one request to a host: all processes together stay below `rate_per_s`."""
    row = schema.HOSTS.c.host == host
    with control.write() as connection:
        # Read under the lock: after a wait for it, an earlier time would refill too little.
        now = control.now()
        columns = (schema.HOSTS.c[field.name] for field in fields(Bucket))
        query = select(*columns).where(row).with_for_update()
        new = {"host": host, **asdict(Bucket(tokens=burst, filled_at=now))}
        bucket = Bucket(**control.first_or_created(connection, query, schema.HOSTS, new)._asdict())
        after, grant = take(
            bucket,
            now,
            rate_per_s=rate_per_s,
            burst=burst,
            daily_budget=daily_budget,
        )
        if after is not bucket:
            connection.execute(update(schema.HOSTS).where(row).values(asdict(after)))
        return grant


def pause_host(control: ControlStore, host: str, wait_s: float) -> None:
    """Pause all requests to a host for so many seconds. A longer pause is kept."""
    now = control.now()
    moment = now + wait_s
    row = schema.HOSTS.c.host == host
    new = {"host": host, **asdict(Bucket(tokens=1, filled_at=now))}
    is_longer = func.coalesce(schema.HOSTS.c.paused_until, 0) < moment
    with control.write() as connection:
        control.first_or_created(
            connection, select(schema.HOSTS.c.host).where(row), schema.HOSTS, new
        )
        connection.execute(update(schema.HOSTS).where(row, is_longer).values(paused_until=moment))


def paused_until(control: ControlStore, host: str) -> datetime | None:
    """Return until when a host is paused, or None if it is not."""
    query = select(schema.HOSTS.c.paused_until).where(schema.HOSTS.c.host == host)
    with control.read() as connection:
        moment = connection.execute(query).scalar()
    if moment is None or moment <= control.now():
        return None
    return datetime.fromtimestamp(moment, UTC)


def spent_today(control: ControlStore) -> dict[str, int]:
    """Return today's requests (UTC) per host; hosts without requests are absent."""
    today = int(control.now() // DAY_S)
    query = select(schema.HOSTS.c.host, schema.HOSTS.c.spent).where(
        schema.HOSTS.c.day == today, schema.HOSTS.c.spent > 0
    )
    with control.read() as connection:
        return {
            row.host: row.spent for row in connection.execute(query.order_by(schema.HOSTS.c.host))
        }


# Circuits of surfaces at hosts, shared by all processes. Times are Unix seconds.
#
# Consecutive failures open the circuit, and no request is sent while it is open. Then one request,
# the probe, decides: it closes the circuit, or opens it for twice as long.

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


_CIRCUIT_STATE = tuple(schema.CIRCUITS.c[field.name] for field in fields(Circuit))


def check_circuit(
    control: ControlStore, host: str, surface: str, *, probe_s: float
) -> CircuitDecision:
    """Return whether a surface may be requested.

    If its circuit has been open long enough, one process gets the probe, for `probe_s` seconds.
    """
    now = control.now()
    query = select(*_CIRCUIT_STATE, schema.CIRCUITS.c.worked_at).where(
        _is_row(schema.CIRCUITS, host, surface)
    )
    with control.read() as connection:
        row = connection.execute(query).first()
    if row is None:
        return CircuitDecision(is_allowed=True)
    # Most circuits are closed: they cost a read, and no write lock that all processes share.
    if row.open_until is None:
        is_noted = now - (row.worked_at or 0.0) < RECORD_SUCCESS_EVERY_S
        return CircuitDecision(is_allowed=True, is_clean=row.failures == 0 and is_noted)
    with control.write() as connection:
        circuit = _locked_circuit(control, connection, host, surface)
        # The time is read again: waiting for the write lock may have taken long.
        after, decision = decide_request(circuit, control.now(), probe_s=probe_s)
        if after is not circuit:
            connection.execute(
                update(schema.CIRCUITS)
                .where(_is_row(schema.CIRCUITS, host, surface))
                .values(asdict(after))
            )
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
    _change_circuit(control, host, surface, change, failed_at=now)


def note_success(
    control: ControlStore, host: str, surface: str, *, is_probe: bool, with_data: bool
) -> None:
    """Record an answered request; `with_data` if the response had the requested data."""
    # A response without data closes the circuit, but the surface does not count as working.
    times = {"worked_at": control.now()} if with_data else {}
    _change_circuit(control, host, surface, partial(after_success, is_probe=is_probe), **times)


def release_probe(control: ControlStore, host: str, surface: str) -> None:
    """Release a probe that was cancelled or never sent.

    Another request can then be the probe.
    """
    _change_circuit(control, host, surface, without_probe)


def open_surfaces(control: ControlStore, host: str, *, cause: str, since_s: float) -> list[str]:
    """Return the surfaces of a host whose circuit this error opened at most `since_s` ago."""
    query = select(schema.CIRCUITS.c.surface).where(
        schema.CIRCUITS.c.host == host,
        schema.CIRCUITS.c.cause == cause,
        schema.CIRCUITS.c.open_until.is_not(None),
        schema.CIRCUITS.c.failed_at >= control.now() - since_s,
        schema.CIRCUITS.c.surface != WHOLE_HOST,
    )
    with control.read() as connection:
        return list(connection.execute(query).scalars())


def read_circuits(control: ControlStore) -> list[CircuitState]:
    """Return the circuit of every surface ever requested, by host and surface."""
    query = select(schema.CIRCUITS).order_by(schema.CIRCUITS.c.host, schema.CIRCUITS.c.surface)
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


def _change_circuit(
    control: ControlStore,
    host: str,
    surface: str,
    change: Callable[[Circuit], Circuit],
    **times: float,
) -> None:
    with control.write() as connection:
        circuit = change(_locked_circuit(control, connection, host, surface))
        values = {**asdict(circuit), **times}
        connection.execute(
            update(schema.CIRCUITS).where(_is_row(schema.CIRCUITS, host, surface)).values(values)
        )


def _locked_circuit(
    control: ControlStore, connection: Connection, host: str, surface: str
) -> Circuit:
    query = select(*_CIRCUIT_STATE).where(_is_row(schema.CIRCUITS, host, surface)).with_for_update()
    new = {"host": host, "surface": surface, **asdict(Circuit())}
    row = control.first_or_created(connection, query, schema.CIRCUITS, new)
    return Circuit(**row._asdict())


def _is_row(table: Table, host: str, surface: str) -> ColumnElement[bool]:
    return and_(table.c.host == host, table.c.surface == surface)


# Latest answers of surfaces, shared by all processes; the planner decides what they mean.


def note_answer(
    control: ControlStore, host: str, surface: str, *, kind: str, keep: int, max_age_s: float
) -> tuple[str, ...]:
    """Append the kind of an answer; return the latest `keep`.

    Earlier answers are forgotten if the last one is older than `max_age_s`.
    """
    now, is_row = control.now(), _is_row(schema.SURFACE_ANSWERS, host, surface)
    with control.write() as connection:
        row = _locked_surface(control, connection, host, surface)
        # After a long pause the earlier answers say nothing about the surface today.
        is_recent = now - (row.answered_at or 0.0) <= max_age_s
        answers = (*(row.answers.split() if is_recent else ()), kind)[-keep:]
        values = {"answers": " ".join(answers), "answered_at": now}
        connection.execute(update(schema.SURFACE_ANSWERS).where(is_row).values(values))
    return answers


def recent_answers(
    control: ControlStore, *, max_age_s: float
) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the answers of each surface that answered at most `max_age_s` ago."""
    oldest = control.now() - max_age_s
    query = select(schema.SURFACE_ANSWERS).where(schema.SURFACE_ANSWERS.c.answered_at >= oldest)
    with control.read() as connection:
        return {
            (row.host, row.surface): tuple(row.answers.split()) for row in connection.execute(query)
        }


def claim_probe(
    control: ControlStore, host: str, surface: str, *, every_s: float, recovered: str
) -> bool:
    """Return True if a probe is due, for the first caller of each interval."""
    now, is_row = control.now(), _is_row(schema.SURFACE_ANSWERS, host, surface)
    with control.write() as connection:
        row = _locked_surface(control, connection, host, surface)
        is_due = is_probe_due(
            row.answers.split(),
            since=max(row.answered_at or 0.0, row.probed_at or 0.0),
            now=now,
            every_s=every_s,
            recovered=recovered,
        )
        if is_due:
            connection.execute(update(schema.SURFACE_ANSWERS).where(is_row).values(probed_at=now))
    return is_due


def _locked_surface(
    control: ControlStore, connection: Connection, host: str, surface: str
) -> StoredRow:
    new = {"host": host, "surface": surface, "answers": ""}
    query = (
        select(schema.SURFACE_ANSWERS)
        .where(_is_row(schema.SURFACE_ANSWERS, host, surface))
        .with_for_update()
    )
    return control.first_or_created(connection, query, schema.SURFACE_ANSWERS, new)


def is_probe_due(
    answers: Sequence[str], *, since: float, now: float, every_s: float, recovered: str
) -> bool:
    """Return True if a surface that the usual order skips may be requested now.

    Args:
        answers: Its latest answers, oldest first.
        since: Time of its last answer or probe.
        now: Current time.
        every_s: Seconds between two probes.
        recovered: Kind of answer after which the next probe need not wait: the surface has data
            again, and several such answers are needed to use it as usual.
    """
    return list(answers[-1:]) == [recovered] or now - since >= every_s


# Robots files of hosts and what they say; they are parsed in `pipelines.platform.http.host_policy`.

RobotsVerdict = Literal["allowed", "disallowed", "unknown"]
_VERDICTS: tuple[RobotsVerdict, ...] = get_args(RobotsVerdict)


class StoredRobotsFile(NamedTuple):
    """The robots file of a host. `status` None: no response; `body` is empty if there is none."""

    status: int | None
    body: str
    fetched_at: datetime


class RobotsDecision(NamedTuple):
    """What the robots file of a host says about a surface."""

    host: str
    surface: str
    decision: RobotsVerdict
    reason: str
    decided_at: datetime


def save_robots(control: ControlStore, host: str, *, status: int | None, body: str) -> None:
    """Store the robots file of a host, or that there was no response."""
    now = control.now()
    values = {"host": host, "status": status, "body": body, "fetched_at": now}
    with control.write() as connection:
        connection.execute(control.upsert(schema.ROBOTS_FILES, values))


def read_robots(control: ControlStore, host: str, *, max_age_s: float) -> StoredRobotsFile | None:
    """Return the robots file of a host if it is recent enough."""
    oldest = control.now() - max_age_s
    query = select(schema.ROBOTS_FILES).where(
        schema.ROBOTS_FILES.c.host == host, schema.ROBOTS_FILES.c.fetched_at > oldest
    )
    with control.read() as connection:
        row = connection.execute(query).first()
    if row is None:
        return None
    return StoredRobotsFile(row.status, row.body or "", datetime.fromtimestamp(row.fetched_at, UTC))


def record_robots_decision(
    control: ControlStore, host: str, surface: str, *, decision: RobotsVerdict, reason: str
) -> None:
    """Store what the robots file of a host says about a surface."""
    values = {
        "host": host,
        "surface": surface,
        "decision": decision,
        "reason": reason,
        "decided_at": control.now(),
    }
    with control.write() as connection:
        connection.execute(control.upsert(schema.ROBOTS, values))


def robots_decisions(control: ControlStore) -> list[RobotsDecision]:
    """Return all decisions, by host and surface."""
    query = select(schema.ROBOTS).order_by(schema.ROBOTS.c.host, schema.ROBOTS.c.surface)
    with control.read() as connection:
        return [
            RobotsDecision(
                row.host,
                row.surface,
                # A verdict of a newer release is unknown to this one.
                row.decision if row.decision in _VERDICTS else "unknown",
                row.reason,
                datetime.fromtimestamp(row.decided_at, UTC),
            )
            for row in connection.execute(query)
        ]


# Cache validators of responses, for later requests. The bodies are in the lake.

VALIDATORS_KEPT_S = 30 * 86_400.0


class CacheValidators(NamedTuple):
    """Cache validators of a response, and the hash of its body."""

    etag: str | None
    last_modified: str | None
    payload_sha256: str


def save_validators(control: ControlStore, address: str, validators: CacheValidators) -> None:
    """Store the cache validators of a URL; `address` is a hash of it."""
    now = control.now()
    values = {"address": address, **validators._asdict(), "kept_at": now}
    expired = delete(schema.CACHE_VALIDATORS).where(
        schema.CACHE_VALIDATORS.c.kept_at < now - VALIDATORS_KEPT_S
    )
    with control.write() as connection:
        connection.execute(expired)
        connection.execute(control.upsert(schema.CACHE_VALIDATORS, values))


def read_validators(control: ControlStore, address: str) -> CacheValidators | None:
    """Return the cache validators of a URL, or None."""
    columns = (
        schema.CACHE_VALIDATORS.c.etag,
        schema.CACHE_VALIDATORS.c.last_modified,
        schema.CACHE_VALIDATORS.c.payload_sha256,
    )
    query = select(*columns).where(schema.CACHE_VALIDATORS.c.address == address)
    with control.read() as connection:
        row = connection.execute(query).first()
    return None if row is None else CacheValidators(*row)
