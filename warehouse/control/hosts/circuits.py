"""Circuits of surfaces at hosts, shared by all processes. The rules are in `circuit_rules`."""

from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime

from sqlalchemy import Connection, Executable, Row, and_, select, update

from warehouse.control.database import Database, first_or_created
from warehouse.control.hosts.circuit_rules import (
    Circuit,
    after_failure,
    after_success,
    decide_request,
    without_probe,
)
from warehouse.control.records import CircuitDecision, CircuitState
from warehouse.control.schema import CIRCUITS

RECORD_SUCCESS_EVERY_S = 60.0  # "last worked at" needs no higher precision
WHOLE_HOST = "*"  # in place of a surface: the circuit of a host
_STATE = (
    CIRCUITS.c.failures,
    CIRCUITS.c.openings,
    CIRCUITS.c.cause,
    CIRCUITS.c.open_until,
    CIRCUITS.c.probe_until,
)


class CircuitRows:
    """Circuits in the control store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def check_circuit(self, host: str, surface: str, *, probe_s: float) -> CircuitDecision:
        """Return whether a surface may be requested.

        One process gets the probe, for `probe_s` seconds.
        """
        now = self._database.now()
        query = select(*_STATE, CIRCUITS.c.worked_at).where(_is(host, surface))
        with self._database.reading() as connection:
            found = connection.execute(query).first()
        if found is None:
            return CircuitDecision(is_allowed=True)
        # Most circuits are closed: they cost a read, and no write lock that all processes share.
        if found.open_until is None:
            is_noted = now - (found.worked_at or 0.0) < RECORD_SUCCESS_EVERY_S
            return CircuitDecision(is_allowed=True, is_clean=found.failures == 0 and is_noted)
        with self._database.writing() as connection:
            circuit = self._locked(connection, host, surface)
            # The time is read again: waiting for the write lock may have taken long.
            after, passage = decide_request(circuit, self._database.now(), probe_s=probe_s)
            if after is not circuit:
                self._save(connection, host, surface, after)
            return passage

    def note_failure(
        self,
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
        now = self._database.now()
        self._change(
            host,
            surface,
            lambda circuit: after_failure(
                circuit,
                now,
                cause=cause,
                is_probe=is_probe,
                threshold=threshold,
                open_s=open_s,
                longest_s=longest_s,
            ),
            failed_at=now,
        )

    def note_success(self, host: str, surface: str, *, is_probe: bool, with_data: bool) -> None:
        """Record an answered request; `with_data` if the response had the requested data."""
        times = {"worked_at": self._database.now()} if with_data else {}
        self._change(
            host, surface, lambda circuit: after_success(circuit, is_probe=is_probe), **times
        )

    def release_probe(self, host: str, surface: str) -> None:
        """Release a probe that was cancelled or never sent.

        Another request can then be the probe.
        """
        self._change(host, surface, without_probe)

    def open_surfaces(self, host: str, *, cause: str, since_s: float) -> list[str]:
        """Return the surfaces of a host that this error closed at most `since_s` ago."""
        query = select(CIRCUITS.c.surface).where(
            CIRCUITS.c.host == host,
            CIRCUITS.c.cause == cause,
            CIRCUITS.c.open_until.is_not(None),
            CIRCUITS.c.failed_at >= self._database.now() - since_s,
            CIRCUITS.c.surface != WHOLE_HOST,
        )
        with self._database.reading() as connection:
            return list(connection.execute(query).scalars())

    def circuits(self) -> list[CircuitState]:
        """Return the circuit of every surface ever requested, by host and surface."""
        query = select(CIRCUITS).order_by(CIRCUITS.c.host, CIRCUITS.c.surface)
        with self._database.reading() as connection:
            return [_state(row) for row in connection.execute(query)]

    def _change(
        self, host: str, surface: str, change: Callable[[Circuit], Circuit], **times: float
    ) -> None:
        with self._database.writing() as connection:
            circuit = self._locked(connection, host, surface)
            self._save(connection, host, surface, change(circuit), **times)

    def _locked(self, connection: Connection, host: str, surface: str) -> Circuit:
        def draft() -> Executable:
            values = {"host": host, "surface": surface, **asdict(Circuit())}
            return self._database.insert(CIRCUITS).values(values).on_conflict_do_nothing()

        query = select(*_STATE).where(_is(host, surface)).with_for_update()
        return Circuit(**first_or_created(connection, query, draft)._mapping)  # noqa: SLF001  # public in spite of its name

    def _save(
        self, connection: Connection, host: str, surface: str, circuit: Circuit, **times: float
    ) -> None:
        values = {**asdict(circuit), **times}
        connection.execute(update(CIRCUITS).where(_is(host, surface)).values(values))


def _is(host: str, surface: str):  # type: ignore[no-untyped-def]  # a clause of SQLAlchemy
    return and_(CIRCUITS.c.host == host, CIRCUITS.c.surface == surface)


def _state(row: Row[tuple[object, ...]]) -> CircuitState:
    return CircuitState(
        host=row.host,
        surface=row.surface,
        failures=row.failures,
        cause=row.cause,
        open_until=_time(row.open_until),
        failed_at=_time(row.failed_at),
        worked_at=_time(row.worked_at),
    )


def _time(moment: float | None) -> datetime | None:
    return None if moment is None else datetime.fromtimestamp(moment, UTC)
