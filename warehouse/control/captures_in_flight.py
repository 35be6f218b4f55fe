"""Captures in flight: of all callers that need the same page, one reads it and the others wait.

Stores which process reads, whether others wait, and the capture it left for them. The data itself
is in the lake under the id of the capture.
"""

from sqlalchemy import delete, or_, select, update

from warehouse.control.database import Database
from warehouse.control.records import Handover, Turn
from warehouse.control.schema import CAPTURING

LEFT_FOR_S = 30.0  # longer than the poll interval; later callers read again


class CapturingRows:
    """Captures in flight in the control store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin_capture(self, name: str, owner: str, *, ttl_s: float) -> Turn:
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
        insert = self._database.insert(CAPTURING).values(name=name, **values)
        free = or_(CAPTURING.c.expires_at <= now, CAPTURING.c.capture_id.is_not(None))
        taken = insert.on_conflict_do_update(
            index_elements=[CAPTURING.c.name], set_=values, where=free
        )
        with self._database.writing() as connection:
            if connection.execute(taken.returning(CAPTURING.c.name)).first() is not None:
                return Turn(is_ours=True, owner=owner)
            wanted = update(CAPTURING).where(CAPTURING.c.name == name).values(is_wanted=True)
            held = connection.execute(wanted.returning(CAPTURING.c.owner))
            return Turn(is_ours=False, owner=held.scalar_one())

    def prolong_capture(self, name: str, owner: str, *, ttl_s: float) -> None:
        """Extend the claim to `ttl_s` seconds from now."""
        mine = (CAPTURING.c.name == name, CAPTURING.c.owner == owner)
        with self._database.writing() as connection:
            connection.execute(
                update(CAPTURING).where(*mine).values(expires_at=self._database.now() + ttl_s)
            )

    def end_capture(self, name: str, owner: str) -> bool:
        """Finish a capture. False if others wait for it: write it, then call `leave_capture`."""
        unwanted = delete(CAPTURING).where(
            CAPTURING.c.name == name, CAPTURING.c.owner == owner, CAPTURING.c.is_wanted.is_(False)
        )
        with self._database.writing() as connection:
            return connection.execute(unwanted.returning(CAPTURING.c.name)).first() is not None

    def leave_capture(self, name: str, owner: str, capture_id: str | None) -> None:
        """Publish the id of a written capture to those who wait; None makes them try themselves."""
        mine = (CAPTURING.c.name == name, CAPTURING.c.owner == owner)
        now = self._database.now()
        with self._database.writing() as connection:
            connection.execute(
                delete(CAPTURING).where(CAPTURING.c.expires_at <= now, CAPTURING.c.name != name)
            )
            if capture_id is None:
                connection.execute(delete(CAPTURING).where(*mine))
                return
            left = {"capture_id": capture_id, "expires_at": now + LEFT_FOR_S}
            connection.execute(update(CAPTURING).where(*mine).values(left))

    def look_for_capture(self, name: str, owner: str) -> Handover:
        """Return the state of the capture that `owner` claimed."""
        query = select(CAPTURING.c.owner, CAPTURING.c.expires_at, CAPTURING.c.capture_id)
        with self._database.reading() as connection:
            found = connection.execute(query.where(CAPTURING.c.name == name)).first()
        if found is None or found.owner != owner:
            return Handover(is_over=True, capture_id=None)
        is_over = found.capture_id is not None or found.expires_at <= self._database.now()
        return Handover(is_over=is_over, capture_id=found.capture_id)
