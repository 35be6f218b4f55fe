"""Retention of rows that are kept for a limited time: captured bodies and audio features.

Observations and conclusions are kept forever. When retention runs is decided in
`pipelines/orchestration/worker/maintenance.py`.
"""

from dataclasses import dataclass
from datetime import datetime

from warehouse.engine.duckdb_engine import Engine
from warehouse.engine.sql import CAPTURES, REPLAY_OF
from warehouse.lake.store import Lake


@dataclass(frozen=True, slots=True)
class RetentionRule:
    """A table whose old rows are deleted once no recent row refers to their hash.

    `referenced_by`: relations and columns that refer to a row of `table` by its `hash_column`. A
    body captured again is stored once, so its own age does not show when it was last needed.
    """

    table: str
    hash_column: str
    referenced_by: tuple[tuple[str, str], ...]


# A replay reads a body again, not its source: it is no reason to keep the body longer.
_READ_FROM_SOURCE = f"(from {CAPTURES} where reason is null or reason not like '{REPLAY_OF}%')"
PAYLOADS = RetentionRule(
    "raw.payloads",
    "sha256",
    ((_READ_FROM_SOURCE, "payload_sha256"), ("marts.surface_health", "payload_sha256")),
)
SOUNDS = RetentionRule(
    "raw.sounds",
    "sound_sha256",
    (
        ("marts.audio_comparisons", "reference_sha256"),
        ("marts.audio_comparisons", "candidate_sha256"),
        ("marts.catalog_matches", "reference_sha256"),
        ("marts.catalog_matches", "candidate_sha256"),
    ),
)


def delete_expired(lake: Lake, engine: Engine, rule: RetentionRule, before: datetime) -> int:
    """Delete the rows committed before a time that no later row refers to; returns how many.

    One commit, or no commit if there is nothing to delete.

    Raises:
        WarehouseUnavailableError: The lake cannot be read or written.
    """
    # A reference of a moment ago must count, or what it names would be deleted.
    engine.refresh()
    # Count the old hashes, and list those of them that recent rows refer to.
    young = " union ".join(
        f"select {column} as hash from {table} where committed_at >= $before"  # noqa: S608  # constants of this module
        for table, column in rule.referenced_by
    )
    hashes = engine.rows(
        f"""
        with old as (
            select distinct {rule.hash_column} as hash from {rule.table}
            where committed_at < $before
        )
        select count(*) as old, list(old.hash) filter (young.hash is not null) as referenced
        from old left join ({young}) as young on young.hash = old.hash
        """,  # noqa: S608  # as above
        {"before": before},
    )[0]
    referenced = hashes["referenced"] or []
    assert isinstance(referenced, list), "DuckDB returns a list of hashes"
    if len(referenced) == hashes["old"]:
        return 0
    # Delta reads a plain timestamp as nanoseconds, which do not compare with the column.
    moment = f"arrow_cast('{before.isoformat()}', 'Timestamp(Microsecond, Some(\"UTC\"))')"
    condition = f"committed_at < {moment}"
    if referenced:
        listed = ", ".join(f"'{value}'" for value in sorted(referenced))
        condition += f" and {rule.hash_column} not in ({listed})"
    return lake.delete_where(rule.table, condition)
