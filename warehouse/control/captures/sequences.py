"""Sequence numbers of captures, one sequence per surface and entity."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import batched, count

from warehouse.control.database import ControlStore
from warehouse.control.schema import SEQUENCES

_AT_ONCE = 500  # rows in one statement


def next_numbers(control: ControlStore, captured: Sequence[tuple[str, str]]) -> list[int]:
    """Return the next number of each capture (surface, entity), from 1, in one statement.

    No number is given twice.
    """
    asked = Counter(captured)
    values = [
        # lock rows in one order, so that two batches never deadlock
        {"surface": surface, "entity_id": entity_id, "value": asked[surface, entity_id]}
        for surface, entity_id in sorted(asked)
    ]
    insert = control.insert(SEQUENCES)
    counted = insert.on_conflict_do_update(
        index_elements=[SEQUENCES.c.surface, SEQUENCES.c.entity_id],
        set_={"value": SEQUENCES.c.value + insert.excluded.value},
    ).returning(SEQUENCES.c.surface, SEQUENCES.c.entity_id, SEQUENCES.c.value)
    with control.write() as connection:
        rows = connection.execute(counted.values(values)).all() if values else []
    following = {
        (row.surface, row.entity_id): count(row.value - asked[row.surface, row.entity_id] + 1)
        for row in rows
    }
    return [next(following[key]) for key in captured]


def raise_to(control: ControlStore, given: Mapping[tuple[str, str], int]) -> None:
    """Raise the sequences of (surface, entity) to at least these numbers."""
    insert = control.insert(SEQUENCES)
    upsert = insert.on_conflict_do_update(
        index_elements=[SEQUENCES.c.surface, SEQUENCES.c.entity_id],
        set_={"value": insert.excluded.value},
        where=SEQUENCES.c.value < insert.excluded.value,
    )
    rows = [
        {"surface": surface, "entity_id": entity_id, "value": value}
        for (surface, entity_id), value in sorted(given.items())
    ]
    with control.write() as connection:
        for some in batched(rows, _AT_ONCE):
            connection.execute(upsert, list(some))
