"""Captures in flight: of all callers that need the same page, one reads it and the others wait.

Stores which process reads, whether others wait, and the capture it left for them. The data itself
is in the lake under the id of the capture.
"""

from sqlalchemy import delete, or_, select, update

from warehouse.control.database import Database
from warehouse.control.records import CaptureClaim, ClaimedCaptureState
from warehouse.control.schema import CAPTURES_IN_FLIGHT

RESULT_TTL_S = 30.0  # longer than the poll interval; later callers read again


class CaptureInFlightRows:
    """Captures in flight in the control store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def claim_capture(self, name: str, owner: str, *, ttl_s: float) -> CaptureClaim:
        """Claim capture `name` for `ttl_s` seconds, or return its owner.

        The owner then sees that others wait.
        """
        now = self._database.now()
        values = {
            "owner": owner,
            "expires_at": now + ttl_s,
            "is_wanted": False,
            "capture_id": None,
        }
        insert = self._database.insert(CAPTURES_IN_FLIGHT).values(name=name, **values)
        free = or_(
            CAPTURES_IN_FLIGHT.c.expires_at <= now, CAPTURES_IN_FLIGHT.c.capture_id.is_not(None)
        )
        taken = insert.on_conflict_do_update(
            index_elements=[CAPTURES_IN_FLIGHT.c.name], set_=values, where=free
        )
        with self._database.writing() as connection:
            if connection.execute(taken.returning(CAPTURES_IN_FLIGHT.c.name)).first() is not None:
                return CaptureClaim(is_ours=True, owner=owner)
            wanted = (
                update(CAPTURES_IN_FLIGHT)
                .where(CAPTURES_IN_FLIGHT.c.name == name)
                .values(is_wanted=True)
            )
            held = connection.execute(wanted.returning(CAPTURES_IN_FLIGHT.c.owner))
            return CaptureClaim(is_ours=False, owner=held.scalar_one())

    def renew_capture_claim(self, name: str, owner: str, *, ttl_s: float) -> None:
        """Extend the claim to `ttl_s` seconds from now."""
        mine = (CAPTURES_IN_FLIGHT.c.name == name, CAPTURES_IN_FLIGHT.c.owner == owner)
        with self._database.writing() as connection:
            connection.execute(
                update(CAPTURES_IN_FLIGHT)
                .where(*mine)
                .values(expires_at=self._database.now() + ttl_s)
            )

    def finish_capture(self, name: str, owner: str) -> bool:
        """Finish a capture. False if others wait for it: write it, then call `publish_capture`."""
        unwanted = delete(CAPTURES_IN_FLIGHT).where(
            CAPTURES_IN_FLIGHT.c.name == name,
            CAPTURES_IN_FLIGHT.c.owner == owner,
            CAPTURES_IN_FLIGHT.c.is_wanted.is_(False),
        )
        with self._database.writing() as connection:
            return (
                connection.execute(unwanted.returning(CAPTURES_IN_FLIGHT.c.name)).first()
                is not None
            )

    def publish_capture(self, name: str, owner: str, capture_id: str | None) -> None:
        """Publish the id of a written capture to those who wait; None makes them try themselves."""
        mine = (CAPTURES_IN_FLIGHT.c.name == name, CAPTURES_IN_FLIGHT.c.owner == owner)
        now = self._database.now()
        with self._database.writing() as connection:
            connection.execute(
                delete(CAPTURES_IN_FLIGHT).where(
                    # Results that nobody fetched, and claims of processes that died, go with the
                    # next result.
                    CAPTURES_IN_FLIGHT.c.expires_at <= now,
                    CAPTURES_IN_FLIGHT.c.name != name,
                )
            )
            if capture_id is None:
                connection.execute(delete(CAPTURES_IN_FLIGHT).where(*mine))
                return
            left = {"capture_id": capture_id, "expires_at": now + RESULT_TTL_S}
            connection.execute(update(CAPTURES_IN_FLIGHT).where(*mine).values(left))

    def check_capture(self, name: str, owner: str) -> ClaimedCaptureState:
        """Return the state of the capture that `owner` claimed."""
        query = select(
            CAPTURES_IN_FLIGHT.c.owner,
            CAPTURES_IN_FLIGHT.c.expires_at,
            CAPTURES_IN_FLIGHT.c.capture_id,
        )
        with self._database.reading() as connection:
            found = connection.execute(query.where(CAPTURES_IN_FLIGHT.c.name == name)).first()
        if found is None or found.owner != owner:
            return ClaimedCaptureState(is_over=True, capture_id=None)
        is_over = found.capture_id is not None or found.expires_at <= self._database.now()
        return ClaimedCaptureState(is_over=is_over, capture_id=found.capture_id)
