"""Open sessions of browsers, which every listener of an installation asks for.

A row lives from signing in to signing out, or to the end of the session. What a cookie holds, and
how it is signed, is not known here.
"""

from sqlalchemy import delete, insert, select

from warehouse.control.database import StoreRows
from warehouse.control.schema import SESSIONS


class SessionRows(StoreRows):
    """Open sessions in the control store."""

    def add_session(self, session_id: str, *, ends_at: float, now: float) -> None:
        """Add a session that ends at a Unix time; delete those that have ended by `now`."""
        with self._database.writing() as connection:
            connection.execute(delete(SESSIONS).where(SESSIONS.c.ends_at <= now))
            connection.execute(insert(SESSIONS).values(session_id=session_id, ends_at=ends_at))

    def has_session(self, session_id: str) -> bool:
        """Return True until the session is ended or deleted."""
        query = select(SESSIONS.c.session_id).where(SESSIONS.c.session_id == session_id)
        return self._database.first(query) is not None

    def end_session(self, session_id: str) -> None:
        """End a session. Does nothing if it has ended before."""
        self._database.write(delete(SESSIONS).where(SESSIONS.c.session_id == session_id))

    def end_all_sessions(self) -> None:
        """End all sessions: everybody signs in again."""
        self._database.write(delete(SESSIONS))
