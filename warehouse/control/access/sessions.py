"""Open sessions of browsers, shared by all listeners of an installation.

A row exists from signing in to signing out, or to the end of the session. The content of cookies
and their signature are not known here.
"""

from sqlalchemy import delete, insert, select

from warehouse.control.database import ControlStore
from warehouse.control.schema import SESSIONS


class StoredSessions:
    """Open sessions in a control store; a service without a store keeps them in memory."""

    def __init__(self, control: ControlStore) -> None:
        self._control = control

    def add_session(self, session_id: str, *, ends_at: float, now: float) -> None:
        """Add a session that ends at a Unix time; delete those that have ended by `now`."""
        with self._control.write() as connection:
            connection.execute(delete(SESSIONS).where(SESSIONS.c.ends_at <= now))
            connection.execute(insert(SESSIONS).values(session_id=session_id, ends_at=ends_at))

    def has_session(self, session_id: str) -> bool:
        """Return True until the session is ended or deleted."""
        query = select(SESSIONS.c.session_id).where(SESSIONS.c.session_id == session_id)
        with self._control.read() as connection:
            return connection.execute(query).first() is not None

    def end_session(self, session_id: str) -> None:
        """End a session. Does nothing if it has ended before."""
        with self._control.write() as connection:
            connection.execute(delete(SESSIONS).where(SESSIONS.c.session_id == session_id))


def end_all(control: ControlStore) -> None:
    """End all sessions: everybody signs in again."""
    with control.write() as connection:
        connection.execute(delete(SESSIONS))
