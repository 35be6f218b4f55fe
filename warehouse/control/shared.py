"""Links, leases, sequences and generations: small state that processes share and may lose.

Jobs, hosts and facts are not stored here.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import batched, count

from sqlalchemy import delete, or_, select

from warehouse.control.database import StoreRows
from warehouse.control.records import CachedLink
from warehouse.control.schema import GENERATIONS, LEASES, LINKS, SEQUENCES

ANY_ENTITY = "*"
"""Entity whose generation is counted up with every other's: one query shows that nothing changed.
"""
_AT_ONCE = 500  # names in one query


class SharedRows(StoreRows):
    """Links, leases, sequences and generations in the control store.

    `on_generations_change` is called at once, in this process, with the entities that changed.
    """

    on_generations_change: Callable[[Collection[str]], None] | None = None

    def cache_link(self, key: str, kind: str, target: str, *, ttl_s: float) -> None:
        """Cache the target of a link for `ttl_s` seconds."""
        until = self._database.now() + ttl_s
        values = {"key": key, "kind": kind, "target": target, "expires_at": until}
        self._database.write(self._database.upsert(LINKS, values))

    def read_cached_link(self, key: str) -> CachedLink | None:
        """Return the cached target of a link, or None."""
        query = select(LINKS.c.kind, LINKS.c.target).where(
            LINKS.c.key == key, LINKS.c.expires_at > self._database.now()
        )
        found = self._database.first(query)
        return None if found is None else CachedLink(found.kind, found.target)

    def acquire_lease(self, name: str, owner: str, ttl_s: float) -> bool:
        """Hold `name` exclusively for `ttl_s` seconds.

        False: another owner has it. The holder may renew.
        """
        now = self._database.now()
        values = {"name": name, "owner": owner, "expires_at": now + ttl_s}
        free = or_(LEASES.c.owner == owner, LEASES.c.expires_at <= now)
        taken = self._database.upsert(LEASES, values, where=free)
        with self._database.writing() as connection:
            return connection.execute(taken.returning(LEASES.c.name)).first() is not None

    def lease_holder(self, name: str) -> str | None:
        """Return the current holder of `name`, or None."""
        query = select(LEASES.c.owner).where(
            LEASES.c.name == name, LEASES.c.expires_at > self._database.now()
        )
        holder: str | None = self._database.scalar(query)
        return holder

    def lease_holders(self, prefix: str) -> dict[str, str]:
        """Return the current holders of all names that begin with a prefix, by name."""
        begins = LEASES.c.name.startswith(prefix, autoescape=True)
        query = select(LEASES.c.name, LEASES.c.owner).where(
            begins, LEASES.c.expires_at > self._database.now()
        )
        return {row.name: row.owner for row in self._database.read(query)}

    def release_lease(self, name: str, owner: str) -> None:
        """Release a lease; another owner's lease stays."""
        self._database.write(delete(LEASES).where(LEASES.c.name == name, LEASES.c.owner == owner))

    def release_leases(self, owner: str) -> None:
        """Release all leases of an owner."""
        self._database.write(delete(LEASES).where(LEASES.c.owner == owner))

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

    def next_sequences(self, captured: Sequence[tuple[str, str]]) -> list[int]:
        """Return the next number of each capture (surface, entity), from 1, in one statement.

        No number is given twice.
        """
        asked = Counter(captured)
        values = [
            # lock rows in one order, so that two batches never deadlock
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

    def count_up_generations(self, entities: Collection[str]) -> None:
        """Count up the generation of each captured entity, which readers in all processes watch."""
        if not entities:
            return
        changed = sorted({ANY_ENTITY, *entities})  # one order: no deadlock
        insert = self._database.insert(GENERATIONS)
        bumped = insert.values([{"entity": entity, "value": 1} for entity in changed])
        self._database.write(
            bumped.on_conflict_do_update(
                index_elements=[GENERATIONS.c.entity], set_={"value": GENERATIONS.c.value + 1}
            )
        )
        if self.on_generations_change is not None:
            self.on_generations_change(changed)
