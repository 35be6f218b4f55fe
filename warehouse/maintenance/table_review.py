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
from warehouse.lake.schema_evolution import columns_of, version_of
from warehouse.lake.store import storage_errors
from warehouse.tables import Table
from warehouse.tables.row_rules import (
    FRESH_ROWS,
    FRESH_WITHIN,
    HAS_CAPTURE,
    IS_FRESH,
    KEYS,
    SCHEMA,
    WARNINGS,
    RowRule,
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
    seen = _check_table(engine, table, now)
    findings = [
        _schema(stored, table),
        _keys(engine, table, seen),
        *(_rows(engine, table, rule, seen, now) for rule in row_rules(table)),
        *_freshness(table, seen, now),
    ]
    order = rule_names(table)
    return TableReview(
        table=table,
        row_count=_whole(seen["rows"]),
        file_count=len(sizes),
        size_bytes=sum(sizes),
        newest_at=_moment(seen["newest_at"]),
        rows_by_day=_by_day(seen["by_day"]),
        findings=tuple(sorted(findings, key=lambda finding: order.index(finding.rule))),
    )


def _check_table(engine: Engine, table: Table, now: datetime) -> Row:
    """Run the one pass.

    Keys are compared by 8-byte hashes; if some are equal they are checked again.
    """
    broken = "".join(
        f", count(*) filter (where {rule.broken}) as {rule.name}"
        for rule in row_rules(table)
        if rule.name != HAS_CAPTURE
    )
    return engine.rows(
        f"""
        select
            count(*) as rows, count(distinct hash({_key(table)})) as keys,
            max(committed_at) as newest_at,
            max(committed_at) filter (where {FRESH_ROWS.get(table.name, "true")}) as fresh_at,
            histogram(committed_at::date) filter (where committed_at >= $since) as by_day
            {broken}
        from {table.name}
        """,  # noqa: S608  # the contract's names
        _used({"now": now, "since": now - timedelta(days=PLOTTED_DAYS)}, "$now" in broken),
    )[0]


def _used(params: dict[str, object], has_now: bool) -> dict[str, object]:
    """DuckDB refuses a parameter that the query does not use."""
    return params if has_now else {name: value for name, value in params.items() if name != "now"}


def _schema(stored: DeltaTable, table: Table) -> RuleResult:
    version, columns = version_of(stored), set(columns_of(stored).names)
    agreed = {column.name for column in table.columns}
    differ = sorted(columns ^ agreed)
    is_wrong = version != table.version or bool(differ)
    says = f"stored version {version}, contract version {table.version}"
    if differ:
        says += f"; columns that differ: {', '.join(differ)}"
    return RuleResult(rule=SCHEMA, wrong_count=int(is_wrong), says=says)


def _keys(engine: Engine, table: Table, seen: Row) -> RuleResult:
    if seen["rows"] == seen["keys"]:
        return RuleResult(rule=KEYS)
    found = engine.rows(
        f"""
        select {_key(table)}, count(*) as times, count(*) over () as wrong from {table.name}
        group by all having count(*) > 1 order by all limit {MAX_EXAMPLES}
        """,  # noqa: S608  # the contract's names
    )
    return _violations(KEYS, found)


def _rows(engine: Engine, table: Table, rule: RowRule, seen: Row, now: datetime) -> RuleResult:
    if rule.name in seen and not seen[rule.name]:
        return RuleResult(rule=rule.name)
    found = engine.rows(
        f"""
        select {_key(table)}, count(*) over () as wrong from {table.name}
        where {rule.broken} order by all limit {MAX_EXAMPLES}
        """,  # noqa: S608  # the contract's names
        {"now": now} if "$now" in rule.broken else None,
    )
    return _violations(rule.name, found)


def _violations(rule: str, found: list[Row]) -> RuleResult:
    count = _whole(found[0]["wrong"]) if found else 0
    examples = [{name: value for name, value in row.items() if name != "wrong"} for row in found]
    return RuleResult(rule=rule, wrong_count=count, examples=tuple(examples))


def _freshness(table: Table, seen: Row, now: datetime) -> list[RuleResult]:
    """A table without rows is new, not stale."""
    within, newest = FRESH_WITHIN.get(table.name), _moment(seen["fresh_at"])
    if within is None:
        return []
    is_stale = newest is not None and now - newest > within
    says = f"expected within {within.days} days"
    return [RuleResult(rule=IS_FRESH, wrong_count=int(is_stale), says=says)]


def _key(table: Table) -> str:
    return ", ".join(f'"{name}"' for name in table.key)


def _by_day(found: object) -> dict[date, int]:
    pairs = found if isinstance(found, list) else []
    return {day: _whole(count) for day, count in pairs}


def _moment(value: object) -> datetime | None:
    return value if isinstance(value, datetime) else None


def _whole(value: object) -> int:
    return int(str(value))
