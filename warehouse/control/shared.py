"""Small things that processes share: links, leases, sequences, generations, the outbox.

Here: what several processes must agree on and may be forgotten. Not here: jobs, hosts, facts.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import batched, count

import orjson
from sqlalchemy import Table, delete, func, or_, select

from warehouse.control.database import Database
from warehouse.control.records import CaptureLine, Link, OutboxLine
from warehouse.control.schema import GENERATIONS, LEASES, LINKS, OUTBOX, SEQUENCES

ANYTHING = "*"
"""The entity whose generation counts up with every other's: one look says that nothing is new."""
_AT_ONCE = 500  # names in one question


class SharedRows:
    """The part of the control store that keeps what is neither job nor host.

    `on_told` hears, in this process and at once, of which entities something new was told.
    """

    on_told: Callable[[Collection[str]], None] | None = None

    def __init__(self, database: Database) -> None:
        self._database = database

    def remember_link(self, key: str, kind: str, target: str, *, ttl_s: float) -> None:
        """Cache the target of a link for `ttl_s` seconds."""
        values = {"kind": kind, "target": target, "expires_at": self._database.now() + ttl_s}
        insert = self._database.insert(LINKS).values(key=key, **values)
        with self._database.writing() as connection:
            connection.execute(
                insert.on_conflict_do_update(index_elements=[LINKS.c.key], set_=values)
            )

    def recall_link(self, key: str) -> Link | None:
        """Return the cached target of a link, or None."""
        query = select(LINKS.c.kind, LINKS.c.target).where(
            LINKS.c.key == key, LINKS.c.expires_at > self._database.now()
        )
        with self._database.reading() as connection:
            found = connection.execute(query).first()
        return None if found is None else Link(found.kind, found.target)

    def acquire_lease(self, name: str, owner: str, ttl_s: float) -> bool:
        """Hold `name` exclusively for `ttl_s` seconds.

        False: another owner has it. The holder may renew.
        """
        now = self._database.now()
        values = {"owner": owner, "expires_at": now + ttl_s}
        insert = self._database.insert(LEASES).values(name=name, **values)
        free = or_(LEASES.c.owner == owner, LEASES.c.expires_at <= now)
        with self._database.writing() as connection:
            taken = insert.on_conflict_do_update(
                index_elements=[LEASES.c.name], set_=values, where=free
            )
            return connection.execute(taken.returning(LEASES.c.name)).first() is not None

    def lease_holder(self, name: str) -> str | None:
        """Return the current holder of `name`, or None."""
        query = select(LEASES.c.owner).where(
            LEASES.c.name == name, LEASES.c.expires_at > self._database.now()
        )
        with self._database.reading() as connection:
            return connection.execute(query).scalar()

    def release_lease(self, name: str, owner: str) -> None:
        """Release a lease; another owner's lease stays."""
        with self._database.writing() as connection:
            connection.execute(delete(LEASES).where(LEASES.c.name == name, LEASES.c.owner == owner))

    def release_leases(self, owner: str) -> None:
        """Release all leases of an owner."""
        with self._database.writing() as connection:
            connection.execute(delete(LEASES).where(LEASES.c.owner == owner))

    def next_sequence(self, surface: str, entity_id: str) -> int:
        """The number of the next capture of an entity on a surface, from 1, never given twice."""
        return self._count_up(SEQUENCES, surface=surface, entity_id=entity_id)

    def bump_generation(self, entity: str) -> int:
        """Say that what is known about an entity has changed; returns the new generation."""
        return self._count_up(GENERATIONS, entity=entity)

    def generation(self, entity: str) -> int:
        """How often what is known about an entity has changed; 0 at first."""
        query = select(GENERATIONS.c.value).where(GENERATIONS.c.entity == entity)
        with self._database.reading() as connection:
            return int(connection.execute(query).scalar() or 0)

    def generations(self, entities: Collection[str]) -> dict[str, int]:
        """Return how often the data about each entity has changed.

        Entities never changed are absent.
        """
        found: dict[str, int] = {}
        with self._database.reading() as connection:
            for names in batched(entities, _AT_ONCE):
                query = select(GENERATIONS).where(GENERATIONS.c.entity.in_(names))
                found.update((row.entity, row.value) for row in connection.execute(query))
        return found

    def outbox_put(self, kind: str, document: dict[str, object]) -> None:
        """Leave a line for another process."""
        text = orjson.dumps(document).decode()
        with self._database.writing() as connection:
            connection.execute(OUTBOX.insert().values(kind=kind, document=text))

    def outbox_take(self, limit: int) -> list[OutboxLine]:
        """Take the oldest lines out; each line is given to one taker."""
        oldest = (
            select(OUTBOX.c.id).order_by(OUTBOX.c.id).limit(limit).with_for_update(skip_locked=True)
        )
        with self._database.writing() as connection:
            ids = list(connection.execute(oldest).scalars())
            taken = connection.execute(
                delete(OUTBOX).where(OUTBOX.c.id.in_(ids)).returning(OUTBOX)
            ).all()
        lines = sorted(taken, key=lambda line: line.id)
        return [OutboxLine(line.kind, orjson.loads(line.document)) for line in lines]

    def next_sequences(self, captured: Sequence[tuple[str, str]]) -> list[int]:
        """`next_sequence` of several captures (surface, entity) in one statement, in order."""
        asked = Counter(captured)
        values = [
            # rows are locked in one order, so that two batches never wait for each other
            {"surface": surface, "entity_id": entity_id, "value": asked[surface, entity_id]}
            for surface, entity_id in sorted(asked)
        ]
        insert = self._database.insert(SEQUENCES)
        counted = insert.on_conflict_do_update(
            index_elements=[SEQUENCES.c.surface, SEQUENCES.c.entity_id],
            set_={"value": SEQUENCES.c.value + insert.excluded.value},
        ).returning(SEQUENCES.c.surface, SEQUENCES.c.entity_id, SEQUENCES.c.value)
        with self._database.writing() as connection:
            rows = connection.execute(counted.values(values)).all() if values else []
        following = {
            (row.surface, row.entity_id): count(row.value - asked[row.surface, row.entity_id] + 1)
            for row in rows
        }
        return [next(following[key]) for key in captured]

    def raise_sequences(self, given: Mapping[tuple[str, str], int]) -> None:
        """Raise the sequences of (surface, entity) to at least these numbers."""
        insert = self._database.insert(SEQUENCES)
        upsert = insert.on_conflict_do_update(
            index_elements=[SEQUENCES.c.surface, SEQUENCES.c.entity_id],
            set_={"value": insert.excluded.value},
            where=SEQUENCES.c.value < insert.excluded.value,
        )
        rows = [
            {"surface": surface, "entity_id": entity_id, "value": value}
            for (surface, entity_id), value in sorted(given.items())
        ]
        with self._database.writing() as connection:
            for some in batched(rows, _AT_ONCE):
                connection.execute(upsert, list(some))

    def tell_of_captures(self, lines: Sequence[CaptureLine], *, keep_lines: int) -> None:
        """Bump the generation of each captured entity, and leave a line of each capture.

        The oldest lines beyond `keep_lines` go: nobody may ever take them out.
        """
        if not lines:
            return
        documents = [
            {"kind": "capture", "document": orjson.dumps(line.document).decode()} for line in lines
        ]
        entities = sorted({ANYTHING, *(line.entity for line in lines)})  # one order: no deadlock
        insert = self._database.insert(GENERATIONS)
        bumped = insert.values([{"entity": entity, "value": 1} for entity in entities])
        with self._database.writing() as connection:
            connection.execute(
                bumped.on_conflict_do_update(
                    index_elements=[GENERATIONS.c.entity],
                    set_={"value": GENERATIONS.c.value + 1},
                )
            )
            connection.execute(OUTBOX.insert(), documents)
            newest = connection.execute(select(func.max(OUTBOX.c.id))).scalar_one()
            connection.execute(delete(OUTBOX).where(OUTBOX.c.id <= newest - keep_lines))
        if self.on_told is not None:
            self.on_told(entities)

    def trim_outbox(self, keep: int) -> int:
        """Drop the oldest lines beyond `keep`; nobody has taken them. Returns how many."""
        newest = select(OUTBOX.c.id).order_by(OUTBOX.c.id.desc()).offset(keep).limit(1)
        with self._database.writing() as connection:
            last = connection.execute(newest).scalar()
            if last is None:
                return 0
            return int(connection.execute(delete(OUTBOX).where(OUTBOX.c.id <= last)).rowcount)

    def _count_up(self, table: Table, **key: str) -> int:
        insert = self._database.insert(table).values(value=1, **key)
        counted = insert.on_conflict_do_update(
            index_elements=list(table.primary_key.columns), set_={"value": table.c.value + 1}
        )
        with self._database.writing() as connection:
            return int(connection.execute(counted.returning(table.c.value)).scalar_one())
