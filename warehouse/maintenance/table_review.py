"""Review of one table of the lake: its contents, and whether the rules of its contract hold.

One pass over the columns checks all rules; only violated ones are queried again, for examples. The
rules are in `tables.row_rules`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta

import pyarrow as pa
from deltalake import DeltaTable

from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.schema_evolution import columns_of, read_properties
from warehouse.lake.store import storage_errors
from warehouse.tables import Table
from warehouse.tables.column import (
    FRESH_ROWS,
    FRESH_WITHIN,
    HAS_CAPTURE,
    IS_FRESH,
    KEYS,
    SCHEMA,
    WARNINGS,
    row_rules,
    rule_names,
)

MAX_EXAMPLES = 10
PLOTTED_DAYS = 30

type Row = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleResult:
    """Result of one rule. `examples`: keys of violating rows, at most `MAX_EXAMPLES`."""

    rule: str
    wrong_count: int = 0
    examples: tuple[Row, ...] = ()
    says: str = ""

    @property
    def holds(self) -> bool:
        """True if no row violates the rule."""
        return self.wrong_count == 0

    @property
    def is_warning(self) -> bool:
        """True if a violation is not a fault of the data."""
        return self.rule in WARNINGS


@dataclass(frozen=True, slots=True, kw_only=True)
class TableReview:
    """One table at one time. `rows_by_day`: rows written on each day of the last month."""

    table: Table
    row_count: int
    file_count: int
    size_bytes: int
    newest_at: datetime | None
    rows_by_day: Mapping[date, int]
    findings: tuple[RuleResult, ...]


def review_table(engine: Engine, table: Table, *, now: datetime) -> TableReview:
    """Review a table in its current state.

    Raises:
        WarehouseUnavailableError: The lake cannot be read.
    """
    engine.refresh()
    with storage_errors(f"reading {table.name}"):
        stored = DeltaTable(engine.lake.path(table.name))
        files = pa.table(stored.get_add_actions(flatten=True))
        sizes = files.column("size_bytes").to_pylist()
    key = ", ".join(f'"{name}"' for name in table.key)
    counts = _count_violations(engine, table, key, now)
    findings = [_check_schema(stored, table)]

    # Keys are compared by 8-byte hashes; if some are equal, they are compared themselves.
    if counts["rows"] == counts["keys"]:
        findings.append(RuleResult(rule=KEYS))
    else:
        rows = engine.rows(
            f"""
            select {key}, count(*) as times, count(*) over () as wrong from {table.name}
            group by all having count(*) > 1 order by all limit {MAX_EXAMPLES}
            """,  # noqa: S608  # the contract's names
        )
        findings.append(_violations(KEYS, rows))

    for rule in row_rules(table):
        if rule.name in counts and not counts[rule.name]:
            findings.append(RuleResult(rule=rule.name))
            continue
        rows = engine.rows(
            f"""
            select {key}, count(*) over () as wrong from {table.name}
            where {rule.broken} order by all limit {MAX_EXAMPLES}
            """,  # noqa: S608  # the contract's names
            {"now": now} if "$now" in rule.broken else None,
        )
        findings.append(_violations(rule.name, rows))

    within, newest = FRESH_WITHIN.get(table.name), _moment(counts["fresh_at"])
    if within is not None:
        # A table without rows is new, not stale.
        is_stale = newest is not None and now - newest > within
        says = f"expected within {within.days} days"
        findings.append(RuleResult(rule=IS_FRESH, wrong_count=int(is_stale), says=says))

    order, by_day = rule_names(table), counts["by_day"]
    return TableReview(
        table=table,
        row_count=_whole(counts["rows"]),
        file_count=len(sizes),
        size_bytes=sum(sizes),
        newest_at=_moment(counts["newest_at"]),
        rows_by_day=dict(by_day) if isinstance(by_day, list) else {},
        findings=tuple(sorted(findings, key=lambda finding: order.index(finding.rule))),
    )


def _count_violations(engine: Engine, table: Table, key: str, now: datetime) -> Row:
    """Count rows, keys and violations of each rule in one pass over the columns."""
    broken = "".join(
        f", count(*) filter (where {rule.broken}) as {rule.name}"
        for rule in row_rules(table)
        if rule.name != HAS_CAPTURE  # needs a join, so it has its own query
    )
    params: dict[str, object] = {"since": now - timedelta(days=PLOTTED_DAYS)}
    if "$now" in broken:  # DuckDB refuses a parameter that the query does not use
        params["now"] = now
    return engine.rows(
        f"""
        select
            count(*) as rows, count(distinct hash({key})) as keys,
            max(committed_at) as newest_at,
            max(committed_at) filter (where {FRESH_ROWS.get(table.name, "true")}) as fresh_at,
            histogram(committed_at::date) filter (where committed_at >= $since) as by_day
            {broken}
        from {table.name}
        """,  # noqa: S608  # the contract's names
        params,
    )[0]


def _check_schema(stored: DeltaTable, table: Table) -> RuleResult:
    version, columns = read_properties(stored).version, set(columns_of(stored).names)
    differ = sorted(columns ^ {column.name for column in table.columns})
    is_wrong = version != table.version or bool(differ)
    says = f"stored version {version}, contract version {table.version}"
    if differ:
        says += f"; columns that differ: {', '.join(differ)}"
    return RuleResult(rule=SCHEMA, wrong_count=int(is_wrong), says=says)


def _violations(rule: str, rows: list[Row]) -> RuleResult:
    count = _whole(rows[0]["wrong"]) if rows else 0
    examples = [{name: value for name, value in row.items() if name != "wrong"} for row in rows]
    return RuleResult(rule=rule, wrong_count=count, examples=tuple(examples))


def _moment(value: object) -> datetime | None:
    return value if isinstance(value, datetime) else None


def _whole(value: object) -> int:
    return int(str(value))
