"""Sequence numbers of captures, one sequence per surface and entity."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import batched, count

from warehouse.control.database import ControlStore
from warehouse.control.schema import SEQUENCES

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


def raise_to(control: ControlStore, numbers: Mapping[tuple[str, str], int]) -> None:
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
