"""What stands beside exported rows: how they came about, and how much nobody saw.

Here: facts and the coverage of the jobs in scope. Not here: the rows, kinds of files.
"""

from collections.abc import Sequence
from datetime import UTC, datetime

from warehouse.engine.duckdb_engine import Engine
from warehouse.exports.export_table import Table, to_table
from warehouse.exports.extracts import Extract, Scope, choose_extracts
from warehouse.exports.pseudonyms import STATEMENT
from warehouse.exports.table_files import Method
from warehouse.queries.erasures import is_history_rewritten
from warehouse.records.worlds import is_demo_world

NEVER_ALL = "What a guest could be shown, never a full list of the platform."
METHOD = (
    "Videos are confirmed by the same music id, by listening (chroma, MFCC and spectral peaks at a "
    "rigid alignment), or by a music id that was verified so; unknown values are empty, never 0."
)


def state_method(
    engine: Engine, extracts: Sequence[Extract], scope: Scope, *, is_pseudonymised: bool
) -> Method:
    """The facts beside an export.

    As of a moment, nothing tells when the file was made: the same moment makes the same file.
    """
    facts = {
        "tables": ", ".join(extract.table.name for extract in extracts),
        "scope": scope.words,
        "world": engine.lake.world,
        "is_demo_data": str(is_demo_world(engine.lake.world)).lower(),
        "method": METHOD,
        "coverage_note": NEVER_ALL,
    }
    if engine.as_of is None:
        facts["exported_at"] = datetime.now(UTC).isoformat(timespec="seconds")
    else:
        facts["as_of"] = engine.as_of.isoformat()
    if is_history_rewritten(engine):
        facts["history_rewritten"] = "true"
    for extract in extracts:
        if extract.left_out:
            facts[f"left_out of {extract.table.name}"] = ", ".join(extract.left_out)
    if is_pseudonymised:
        facts["pseudonyms"] = STATEMENT
    return Method(tuple(facts.items()), coverage=read_coverage_of(engine, scope))


def read_coverage_of(engine: Engine, scope: Scope) -> Table:
    """The coverage ledger of the jobs in scope, summed by source and what ended it."""
    ledger = choose_extracts("marts.coverage", scope)[0]
    found = engine.table(
        f"""
        select surface, stop_reason, count(distinct job_id) as job_count,
            sum(requests) as requests, sum(pages) as pages, sum(items) as items,
            sum(new_items) as new_items
        from marts.coverage where {ledger.where}
        group by surface, stop_reason order by surface, stop_reason
        """,  # noqa: S608  # a condition of ours; values are parameters
        ledger.params,
    )
    return to_table("coverage", found)
