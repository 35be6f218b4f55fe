"""Generations: how often the data about each entity has changed, for caches in all processes."""

from collections.abc import Collection
from itertools import batched

from sqlalchemy import select

from warehouse.control.database import ControlStore
from warehouse.control.schema import GENERATIONS

ANY_ENTITY = "*"
"""Entity whose generation is incremented with every other's: one query shows that nothing changed.
"""
_NAMES_PER_QUERY = 500


def read(control: ControlStore, entities: Collection[str]) -> dict[str, int]:
    """Return how often the data about each entity has changed.

    Entities never changed are absent.
    """
    generations: dict[str, int] = {}
    with control.read() as connection:
        for names in batched(entities, _NAMES_PER_QUERY):
            query = select(GENERATIONS).where(GENERATIONS.c.entity.in_(names))
            generations.update((row.entity, row.value) for row in connection.execute(query))
    return generations


def count_up(control: ControlStore, entities: Collection[str]) -> None:
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
