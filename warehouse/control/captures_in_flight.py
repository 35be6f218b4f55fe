"""Captures under way: of all who want the same page at the same moment, one reads it.

Here: who reads, who waits, what the reader left for those who waited. Not here: what was read;
that is in the lake under the capture's id.
"""

from sqlalchemy import delete, or_, select, update

from warehouse.control.database import Database
from warehouse.control.records import Handover, Turn
from warehouse.control.schema import CAPTURING

LEFT_FOR_S = 30.0  # longer than anybody's look; who comes later reads anew


class CapturingRows:
    """The part of the control store that keeps captures under way."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin_capture(self, name: str, owner: str, *, ttl_s: float) -> Turn:
        """Capture `name` alone for `ttl_s` seconds, or say who does, who then knows of us."""
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
        """Capture for `ttl_s` seconds more, from now on."""
        mine = (CAPTURING.c.name == name, CAPTURING.c.owner == owner)
        with self._database.writing() as connection:
            connection.execute(
                update(CAPTURING).where(*mine).values(expires_at=self._database.now() + ttl_s)
            )

    def end_capture(self, name: str, owner: str) -> bool:
        """The capture is done. False: somebody waits for it, so write it and `leave_capture`."""
        unwanted = delete(CAPTURING).where(
            CAPTURING.c.name == name, CAPTURING.c.owner == owner, CAPTURING.c.is_wanted.is_(False)
        )
        with self._database.writing() as connection:
            return connection.execute(unwanted.returning(CAPTURING.c.name)).first() is not None

    def leave_capture(self, name: str, owner: str, capture_id: str | None) -> None:
        """Leave the id of a written capture for those who wait; None: let them try themselves."""
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
        """What became of the capture that `owner` had begun."""
        query = select(CAPTURING.c.owner, CAPTURING.c.expires_at, CAPTURING.c.capture_id)
        with self._database.reading() as connection:
            found = connection.execute(query.where(CAPTURING.c.name == name)).first()
        if found is None or found.owner != owner:
            return Handover(is_over=True, capture_id=None)
        is_over = found.capture_id is not None or found.expires_at <= self._database.now()
        return Handover(is_over=is_over, capture_id=found.capture_id)
