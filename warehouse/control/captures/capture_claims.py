"""Captures in flight: of all callers that need the same page, one reads it and the others wait.

A row says which process reads, whether others wait, and the id of the capture for them; the data
itself is in the lake under that id. Capturing is not here.
"""

from typing import NamedTuple

from sqlalchemy import ColumnElement, and_, delete, or_, select, update

from warehouse.control.database import ControlStore
from warehouse.control.schema import CAPTURES_IN_FLIGHT

RESULT_TTL_S = 30.0  # longer than the poll interval; later callers read again


class CaptureClaim(NamedTuple):
    """Result of claiming a capture: it `is_ours`, or `owner` is reading it and we wait."""

    is_ours: bool
    owner: str


class ClaimedCaptureState(NamedTuple):
    """State of another caller's capture: whether it `is_over`, and its capture if it has one."""

    is_over: bool
    capture_id: str | None


def claim(control: ControlStore, name: str, owner: str, *, ttl_s: float) -> CaptureClaim:
    """Claim capture `name` for `ttl_s` seconds, or return its owner.

    The owner then sees that others wait.
    """
    now = control.now()
    values = {
        "name": name,
        "owner": owner,
        "expires_at": now + ttl_s,
        "is_wanted": False,
        "capture_id": None,
    }
    # Free is a claim of a process that died, or one whose result is published.
    is_free = or_(
        CAPTURES_IN_FLIGHT.c.expires_at <= now, CAPTURES_IN_FLIGHT.c.capture_id.is_not(None)
    )
    claim_of_ours = control.upsert(CAPTURES_IN_FLIGHT, values, where=is_free)
    existing = update(CAPTURES_IN_FLIGHT).where(CAPTURES_IN_FLIGHT.c.name == name)
    wait = existing.values(is_wanted=True).returning(CAPTURES_IN_FLIGHT.c.owner)
    with control.write() as connection:
        row = connection.execute(claim_of_ours.returning(CAPTURES_IN_FLIGHT.c.name)).first()
        if row is not None:
            return CaptureClaim(is_ours=True, owner=owner)
        return CaptureClaim(is_ours=False, owner=connection.execute(wait).scalar_one())


def renew(control: ControlStore, name: str, owner: str, *, ttl_s: float) -> None:
    """Extend the claim to `ttl_s` seconds from now."""
    until = control.now() + ttl_s
    mine = update(CAPTURES_IN_FLIGHT).where(_is_claimed(name, owner))
    with control.write() as connection:
        connection.execute(mine.values(expires_at=until))


def finish(control: ControlStore, name: str, owner: str) -> bool:
    """Finish a capture. False if others wait for it: write it, then call `publish`."""
    is_unwanted = CAPTURES_IN_FLIGHT.c.is_wanted.is_(False)
    mine = delete(CAPTURES_IN_FLIGHT).where(_is_claimed(name, owner), is_unwanted)
    with control.write() as connection:
        return connection.execute(mine).rowcount > 0


def publish(control: ControlStore, name: str, owner: str, capture_id: str | None) -> None:
    """Publish the id of a written capture to those who wait; None makes them try themselves."""
    mine = _is_claimed(name, owner)
    now = control.now()
    with control.write() as connection:
        connection.execute(
            delete(CAPTURES_IN_FLIGHT).where(
                # Results that nobody fetched, and claims of processes that died, are deleted with
                # the next result.
                CAPTURES_IN_FLIGHT.c.expires_at <= now,
                CAPTURES_IN_FLIGHT.c.name != name,
            )
        )
        if capture_id is None:
            connection.execute(delete(CAPTURES_IN_FLIGHT).where(mine))
            return
        result = {"capture_id": capture_id, "expires_at": now + RESULT_TTL_S}
        connection.execute(update(CAPTURES_IN_FLIGHT).where(mine).values(result))


def check(control: ControlStore, name: str, owner: str) -> ClaimedCaptureState:
    """Return the state of the capture that `owner` claimed."""
    query = select(CAPTURES_IN_FLIGHT).where(CAPTURES_IN_FLIGHT.c.name == name)
    with control.read() as connection:
        row = connection.execute(query).first()
    if row is None or row.owner != owner:
        return ClaimedCaptureState(is_over=True, capture_id=None)
    is_over = row.capture_id is not None or row.expires_at <= control.now()
    return ClaimedCaptureState(is_over=is_over, capture_id=row.capture_id)


def _is_claimed(name: str, owner: str) -> ColumnElement[bool]:
    return and_(CAPTURES_IN_FLIGHT.c.name == name, CAPTURES_IN_FLIGHT.c.owner == owner)
