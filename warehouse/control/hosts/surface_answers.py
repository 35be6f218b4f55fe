"""Latest answers of surfaces, shared by all processes; the planner decides what they mean."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, and_, select, update

from warehouse.control.database import ControlStore, StoredRow
from warehouse.control.schema import SURFACE_ANSWERS


def note(
    control: ControlStore, host: str, surface: str, *, kind: str, keep: int, max_age_s: float
) -> tuple[str, ...]:
    """Append the kind of an answer; return the latest `keep`.

    Earlier answers are forgotten if the last one is older than `max_age_s`.
    """
    now, is_row = control.now(), _is(host, surface)
    with control.write() as connection:
        row = _locked(control, connection, host, surface)
        # After a long pause the earlier answers say nothing about the surface today.
        is_recent = now - (row.answered_at or 0.0) <= max_age_s
        answers = (*(row.answers.split() if is_recent else ()), kind)[-keep:]
        values = {"answers": " ".join(answers), "answered_at": now}
        connection.execute(update(SURFACE_ANSWERS).where(is_row).values(values))
    return answers


def read_recent(
    control: ControlStore, *, max_age_s: float
) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the answers of each surface that answered at most `max_age_s` ago."""
    oldest = control.now() - max_age_s
    query = select(SURFACE_ANSWERS).where(SURFACE_ANSWERS.c.answered_at >= oldest)
    with control.read() as connection:
        return {
            (row.host, row.surface): tuple(row.answers.split()) for row in connection.execute(query)
        }


def claim_probe(
    control: ControlStore, host: str, surface: str, *, every_s: float, recovered: str
) -> bool:
    """Return True if a probe is due, for the first caller of each interval."""
    now, is_row = control.now(), _is(host, surface)
    with control.write() as connection:
        row = _locked(control, connection, host, surface)
        is_due = is_probe_due(
            row.answers.split(),
            since=max(row.answered_at or 0.0, row.probed_at or 0.0),
            now=now,
            every_s=every_s,
            recovered=recovered,
        )
        if is_due:
            connection.execute(update(SURFACE_ANSWERS).where(is_row).values(probed_at=now))
    return is_due


def _locked(control: ControlStore, connection: Connection, host: str, surface: str) -> StoredRow:
    new = {"host": host, "surface": surface, "answers": ""}
    query = select(SURFACE_ANSWERS).where(_is(host, surface)).with_for_update()
    return control.first_or_created(connection, query, SURFACE_ANSWERS, new)


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


def _is(host: str, surface: str) -> ColumnElement[bool]:
    return and_(SURFACE_ANSWERS.c.host == host, SURFACE_ANSWERS.c.surface == surface)
