"""What the lake keeps for a limited time: bodies as they were read, and what was measured of sound.

Here: which rows are kept no longer. Not here: when that is looked into
(`pipelines/orchestration/worker/maintenance.py`).
Observations and everything concluded are kept for good.
"""

from dataclasses import dataclass
from datetime import datetime

from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.store import Lake


@dataclass(frozen=True, slots=True)
class Lasting:
    """A table whose rows go when they are old and nothing young names them by their hash.

    `named_by`: table and column, each, that name a row of `table` by its `hash_column`. A body
    that was seen again is stored once, so its own age does not tell when it was needed last.
    """

    table: str
    hash_column: str
    named_by: tuple[tuple[str, str], ...]


PAYLOADS = Lasting(
    "raw.payloads",
    "sha256",
    (("raw.captures", "payload_sha256"), ("marts.surface_health", "payload_sha256")),
)
SOUNDS = Lasting(
    "raw.sounds",
    "sound_sha256",
    (
        ("marts.audio_comparisons", "reference_sha256"),
        ("marts.audio_comparisons", "candidate_sha256"),
    ),
)


def remove_old(lake: Lake, engine: Engine, lasting: Lasting, before: datetime) -> int:
    """Remove the rows committed before a moment that nothing since then has named; returns how
    many. One commit, and none when there is nothing to remove.

    Raises:
        WarehouseUnavailableError: The lake cannot be read or written.
    """
    engine.refresh()
    old, still_named = _old_hashes(engine, lasting, before)
    if len(still_named) == old:
        return 0
    # Delta takes a plain time for nanoseconds, which do not compare with the column's.
    moment = f"arrow_cast('{before.isoformat()}', 'Timestamp(Microsecond, Some(\"UTC\"))')"
    condition = f"committed_at < {moment}"
    if still_named:
        listed = ", ".join(f"'{value}'" for value in still_named)
        condition += f" and {lasting.hash_column} not in ({listed})"
    return lake.erase(lasting.table, condition)


def _old_hashes(engine: Engine, lasting: Lasting, before: datetime) -> tuple[int, list[str]]:
    """How many old rows there are by their hash, and the hashes that something young names."""
    young = " union ".join(
        f"select {column} as hash from {table} where committed_at >= $before"  # noqa: S608  # names of this module
        for table, column in lasting.named_by
    )
    found = engine.rows(
        f"""
        with old as (
            select distinct {lasting.hash_column} as hash from {lasting.table}
            where committed_at < $before
        )
        select count(*) as old, list(old.hash) filter (young.hash is not null) as still_named
        from old left join ({young}) as young on young.hash = old.hash
        """,  # noqa: S608  # as above
        {"before": before},
    )[0]
    named = found["still_named"]
    return int(str(found["old"])), sorted(named) if isinstance(named, list) else []
