"""Captures that processes share: those in flight, and the backlog of those that are made later.

Of all callers that need the same page, one reads it and the others wait. Stored is which process
reads, whether others wait, and the capture it left for them; the data itself is in the lake under
the id of the capture. The backlog survives restarts; items of a process that died are claimed by
the next one. Capturing is not here.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, and_, delete, func, or_, select, update

from warehouse.control.database import StoreRows, from_json, to_json, to_time
from warehouse.control.records import BacklogItem, CaptureClaim, ClaimedCaptureState
from warehouse.control.schema import BACKLOG, CAPTURES_IN_FLIGHT

RESULT_TTL_S = 30.0  # longer than the poll interval; later callers read again


class CaptureInFlightRows(StoreRows):
    """Captures in flight in the control store."""

    def claim_capture(self, name: str, owner: str, *, ttl_s: float) -> CaptureClaim:
        """Claim capture `name` for `ttl_s` seconds, or return its owner.

        The owner then sees that others wait.
        """
        now = self._database.now()
        values = {
            "name": name,
            "owner": owner,
            "expires_at": now + ttl_s,
            "is_wanted": False,
            "capture_id": None,
        }
        free = or_(
            CAPTURES_IN_FLIGHT.c.expires_at <= now, CAPTURES_IN_FLIGHT.c.capture_id.is_not(None)
        )
        taken = self._database.upsert(CAPTURES_IN_FLIGHT, values, where=free)
        wanted = update(CAPTURES_IN_FLIGHT).where(CAPTURES_IN_FLIGHT.c.name == name)
        holder = wanted.values(is_wanted=True).returning(CAPTURES_IN_FLIGHT.c.owner)
        with self._database.writing() as connection:
            if connection.execute(taken.returning(CAPTURES_IN_FLIGHT.c.name)).first() is not None:
                return CaptureClaim(is_ours=True, owner=owner)
            return CaptureClaim(is_ours=False, owner=connection.execute(holder).scalar_one())

    def renew_capture_claim(self, name: str, owner: str, *, ttl_s: float) -> None:
        """Extend the claim to `ttl_s` seconds from now."""
        until = self._database.now() + ttl_s
        mine = update(CAPTURES_IN_FLIGHT).where(_is_claimed(name, owner))
        self._database.write(mine.values(expires_at=until))

    def finish_capture(self, name: str, owner: str) -> bool:
        """Finish a capture. False if others wait for it: write it, then call `publish_capture`."""
        is_unwanted = CAPTURES_IN_FLIGHT.c.is_wanted.is_(False)
        mine = delete(CAPTURES_IN_FLIGHT).where(_is_claimed(name, owner), is_unwanted)
        return self._database.write(mine) > 0

    def publish_capture(self, name: str, owner: str, capture_id: str | None) -> None:
        """Publish the id of a written capture to those who wait; None makes them try themselves."""
        mine = _is_claimed(name, owner)
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
                connection.execute(delete(CAPTURES_IN_FLIGHT).where(mine))
                return
            left = {"capture_id": capture_id, "expires_at": now + RESULT_TTL_S}
            connection.execute(update(CAPTURES_IN_FLIGHT).where(mine).values(left))

    def check_capture(self, name: str, owner: str) -> ClaimedCaptureState:
        """Return the state of the capture that `owner` claimed."""
        found = self._database.first(
            select(CAPTURES_IN_FLIGHT).where(CAPTURES_IN_FLIGHT.c.name == name)
        )
        if found is None or found.owner != owner:
            return ClaimedCaptureState(is_over=True, capture_id=None)
        is_over = found.capture_id is not None or found.expires_at <= self._database.now()
        return ClaimedCaptureState(is_over=is_over, capture_id=found.capture_id)


class BacklogRows(StoreRows):
    """The backlog of captures in the control store."""

    def add_to_backlog(self, surface: str, wanted: Mapping[str, Mapping[str, object]]) -> None:
        """Add captures to the backlog, by entity, with the document needed to make them.

        Captures already in the backlog keep their position.
        """
        if not wanted:
            return
        now = self._database.now()
        rows = [
            {
                "surface": surface,
                "entity_id": entity_id,
                "document": to_json(document),
                "tries": 0,
                "asked_at": now,
                "due_at": now,
            }
            for entity_id, document in sorted(wanted.items())
        ]
        self._database.write(self._database.insert(BACKLOG).values(rows).on_conflict_do_nothing())

    def claim_backlog(self, surface: str, *, limit: int, hold_s: float) -> list[BacklogItem]:
        """Claim the oldest due captures for `hold_s` seconds; each is given to one caller only."""
        now = self._database.now()
        oldest = (
            select(BACKLOG.c.entity_id)
            .where(BACKLOG.c.surface == surface, BACKLOG.c.due_at <= now)
            .order_by(BACKLOG.c.asked_at, BACKLOG.c.entity_id)
            .limit(limit)
            .with_for_update(skip_locked=True)
        )
        with self._database.writing() as connection:
            ids = list(connection.execute(oldest).scalars())
            taken = connection.execute(
                update(BACKLOG)
                .where(_rows_of(surface, ids))
                .values(due_at=now + hold_s, tries=BACKLOG.c.tries + 1)
                .returning(BACKLOG.c.entity_id, BACKLOG.c.document, BACKLOG.c.tries)
            ).all()
        found = {row.entity_id: BacklogItem(row[0], from_json(row[1]), row[2]) for row in taken}
        return [found[entity_id] for entity_id in ids]

    def remove_from_backlog(self, surface: str, entity_ids: Sequence[str]) -> None:
        """Remove captures that are finished or given up."""
        self._database.write(delete(BACKLOG).where(_rows_of(surface, entity_ids)))

    def postpone_backlog(self, surface: str, entity_ids: Sequence[str], *, wait_s: float) -> None:
        """Make captures due again after `wait_s` seconds."""
        due_at = self._database.now() + wait_s
        postponed = update(BACKLOG).where(_rows_of(surface, entity_ids))
        self._database.write(postponed.values(due_at=due_at))

    def next_backlog_due_at(self, surface: str) -> datetime | None:
        """Return when the next capture is due, or None if the backlog is empty."""
        query = select(func.min(BACKLOG.c.due_at)).where(BACKLOG.c.surface == surface)
        return to_time(self._database.scalar(query))


def _is_claimed(name: str, owner: str) -> ColumnElement[bool]:
    return and_(CAPTURES_IN_FLIGHT.c.name == name, CAPTURES_IN_FLIGHT.c.owner == owner)


def _rows_of(surface: str, entity_ids: Sequence[str]) -> ColumnElement[bool]:
    return and_(BACKLOG.c.surface == surface, BACKLOG.c.entity_id.in_(entity_ids))
