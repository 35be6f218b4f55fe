"""State that processes share about captures: claims, sequence numbers, generations, the backlog.

Of all callers that need the same page, one reads it and the others wait. A row says which process
reads, whether others wait, and the id of the capture for them; the data itself is in the lake
under that id. Capturing is not here.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from itertools import batched, count
from typing import NamedTuple

from sqlalchemy import ColumnElement, and_, delete, func, or_, select, update

from warehouse.control.database import ControlStore, from_json, to_json, to_time
from warehouse.control.schema import BACKLOG, CAPTURES_IN_FLIGHT, GENERATIONS, SEQUENCES

# Captures in flight: of all callers that need the same page, one reads it and the others wait.
#
# A row says which process reads, whether others wait, and the id of the capture for them; the data
# itself is in the lake under that id.

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


# Sequence numbers of captures, one sequence per surface and entity.

_ROWS_PER_STATEMENT = 500


def next_numbers(control: ControlStore, captured: Sequence[tuple[str, str]]) -> list[int]:
    """Return the next number of each capture (surface, entity), from 1; no number comes twice.

    After two captures of a video, `[("video", "7"), ("video", "7")]` get 3 and 4.
    """
    capture_counts = Counter(captured)
    values = [
        # Rows are locked in one order, so that two batches never deadlock.
        {"surface": surface, "entity_id": entity_id, "value": capture_counts[surface, entity_id]}
        for surface, entity_id in sorted(capture_counts)
    ]
    insert = control.insert(SEQUENCES)
    counted = insert.on_conflict_do_update(
        index_elements=[SEQUENCES.c.surface, SEQUENCES.c.entity_id],
        set_={"value": SEQUENCES.c.value + insert.excluded.value},
    ).returning(SEQUENCES.c.surface, SEQUENCES.c.entity_id, SEQUENCES.c.value)
    with control.write() as connection:
        rows = connection.execute(counted.values(values)).all() if values else []
    # A row has the last number of its batch: the captures get the numbers up to it, in order.
    numbers = {
        (row.surface, row.entity_id): count(
            row.value - capture_counts[row.surface, row.entity_id] + 1
        )
        for row in rows
    }
    return [next(numbers[key]) for key in captured]


def raise_numbers(control: ControlStore, numbers: Mapping[tuple[str, str], int]) -> None:
    """Raise the sequences of (surface, entity) to at least these numbers."""
    insert = control.insert(SEQUENCES)
    upsert = insert.on_conflict_do_update(
        index_elements=[SEQUENCES.c.surface, SEQUENCES.c.entity_id],
        set_={"value": insert.excluded.value},
        where=SEQUENCES.c.value < insert.excluded.value,
    )
    rows = [
        {"surface": surface, "entity_id": entity_id, "value": value}
        for (surface, entity_id), value in sorted(numbers.items())
    ]
    with control.write() as connection:
        for batch in batched(rows, _ROWS_PER_STATEMENT):
            connection.execute(upsert, list(batch))


# Generations: how often the data about each entity has changed, for caches in all processes.

ANY_ENTITY = "*"
"""Entity whose generation is incremented with every other's: one query shows that nothing changed.
"""
_NAMES_PER_QUERY = 500


def read_generations(control: ControlStore, entities: Collection[str]) -> dict[str, int]:
    """Return how often the data about each entity has changed.

    Entities never changed are absent.
    """
    generations: dict[str, int] = {}
    with control.read() as connection:
        for names in batched(entities, _NAMES_PER_QUERY):
            query = select(GENERATIONS).where(GENERATIONS.c.entity.in_(names))
            generations.update((row.entity, row.value) for row in connection.execute(query))
    return generations


def raise_generations(control: ControlStore, entities: Collection[str]) -> None:
    """Increment the generation of each captured entity."""
    if not entities:
        return
    # Rows are locked in one order, so that two processes never deadlock.
    changed = sorted({ANY_ENTITY, *entities})
    insert = control.insert(GENERATIONS)
    first = insert.values([{"entity": entity, "value": 1} for entity in changed])
    with control.write() as connection:
        connection.execute(
            first.on_conflict_do_update(
                index_elements=[GENERATIONS.c.entity], set_={"value": GENERATIONS.c.value + 1}
            )
        )
    if control.on_generations_change is not None:
        control.on_generations_change(changed)


# The backlog of captures that are made later.
#
# It survives restarts; another process claims the items of a process that died.

# The backlog of captures that are made later.
#
# It survives restarts; another process claims the items of a process that died.


class BacklogItem(NamedTuple):
    """A capture in the backlog: the document needed to make it, and the tries so far."""

    entity_id: str
    document: dict[str, object]
    tries: int


def add_to_backlog(
    control: ControlStore, surface: str, documents: Mapping[str, Mapping[str, object]]
) -> None:
    """Add captures to the backlog, by entity, with the document needed to make them.

    Captures already in the backlog keep their position.
    """
    if not documents:
        return
    now = control.now()
    rows = [
        {
            "surface": surface,
            "entity_id": entity_id,
            "document": to_json(document),
            "tries": 0,
            "asked_at": now,
            "due_at": now,
        }
        for entity_id, document in sorted(documents.items())
    ]
    with control.write() as connection:
        connection.execute(control.insert(BACKLOG).values(rows).on_conflict_do_nothing())


def claim_backlog(
    control: ControlStore, surface: str, *, limit: int, hold_s: float
) -> list[BacklogItem]:
    """Claim the oldest due captures for `hold_s` seconds; no two callers get the same one."""
    now = control.now()
    oldest = (
        select(BACKLOG.c.entity_id)
        .where(BACKLOG.c.surface == surface, BACKLOG.c.due_at <= now)
        .order_by(BACKLOG.c.asked_at, BACKLOG.c.entity_id)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    with control.write() as connection:
        ids = list(connection.execute(oldest).scalars())
        # A claimed item is due again after the hold, in case its process dies.
        rows = connection.execute(
            update(BACKLOG)
            .where(_rows_of(surface, ids))
            .values(due_at=now + hold_s, tries=BACKLOG.c.tries + 1)
            .returning(BACKLOG.c.entity_id, BACKLOG.c.document, BACKLOG.c.tries)
        ).all()
    # The update returns its rows in any order.
    items = {row.entity_id: BacklogItem(row[0], from_json(row[1]), row[2]) for row in rows}
    return [items[entity_id] for entity_id in ids]


def remove_from_backlog(control: ControlStore, surface: str, entity_ids: Sequence[str]) -> None:
    """Remove captures that are finished or abandoned."""
    with control.write() as connection:
        connection.execute(delete(BACKLOG).where(_rows_of(surface, entity_ids)))


def postpone_backlog(
    control: ControlStore, surface: str, entity_ids: Sequence[str], *, wait_s: float
) -> None:
    """Make captures due again after `wait_s` seconds."""
    due_at = control.now() + wait_s
    postponed = update(BACKLOG).where(_rows_of(surface, entity_ids))
    with control.write() as connection:
        connection.execute(postponed.values(due_at=due_at))


def backlog_due_at(control: ControlStore, surface: str) -> datetime | None:
    """Return when the next capture is due, or None if the backlog is empty."""
    query = select(func.min(BACKLOG.c.due_at)).where(BACKLOG.c.surface == surface)
    with control.read() as connection:
        return to_time(connection.execute(query).scalar())


def _rows_of(surface: str, entity_ids: Sequence[str]) -> ColumnElement[bool]:
    return and_(BACKLOG.c.surface == surface, BACKLOG.c.entity_id.in_(entity_ids))
