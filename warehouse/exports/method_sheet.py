"""Facts that accompany exported rows: how they were obtained, and the coverage of their jobs."""

from collections.abc import Sequence
from datetime import UTC, datetime

from warehouse.engine.duckdb_engine import Engine
from warehouse.exports.export_table import ExportTable, to_table
from warehouse.exports.extracts import ExportScope, Extract, choose_extracts
from warehouse.exports.pseudonyms import PSEUDONYM_NOTE
from warehouse.exports.table_files import ExportMethod
from warehouse.queries.accounts import is_history_rewritten
from warehouse.records.times import to_utc_text
from warehouse.records.worlds import is_demo_world

COVERAGE_NOTE = "What guests can see, never a full list of the platform."
METHOD_NOTE = (
    "Videos are confirmed by the same music id, by audio (chroma, MFCC and spectral peaks at a "
    "rigid alignment), or by a music id verified by audio; unknown values are empty, never 0."
)


def describe_method(
    engine: Engine, extracts: Sequence[Extract], scope: ExportScope, *, is_pseudonymised: bool
) -> ExportMethod:
    """Return the facts that accompany an export.

    With `as_of` there is no export time, so that the same time gives the same file.
    """
    facts = {
        "tables": ", ".join(extract.table.name for extract in extracts),
        "scope": scope.words,
        "world": engine.lake.world,
        "is_demo_data": str(is_demo_world(engine.lake.world)).lower(),
        "method": METHOD_NOTE,
        "coverage_note": COVERAGE_NOTE,
    }
    if engine.as_of is None:
        facts["exported_at"] = to_utc_text(datetime.now(UTC), timespec="seconds")
    else:
        facts["as_of"] = to_utc_text(engine.as_of)
    if is_history_rewritten(engine):
        facts["history_rewritten"] = "true"
    for extract in extracts:
        if extract.left_out:
            facts[f"left_out of {extract.table.name}"] = ", ".join(extract.left_out)
    if is_pseudonymised:
        facts["pseudonyms"] = PSEUDONYM_NOTE
    return ExportMethod(tuple(facts.items()), coverage=read_scope_coverage(engine, scope))


def read_scope_coverage(engine: Engine, scope: ExportScope) -> ExportTable:
    """Return the coverage of the jobs in scope, summed by source and stop reason."""
    coverage_report = choose_extracts("marts.coverage", scope)[0]
    found = engine.table(
        f"""
        select surface, stop_reason, count(distinct job_id) as job_count,
            sum(requests) as requests, sum(pages) as pages, sum(items) as items,
            sum(new_items) as new_items
        from marts.coverage where {coverage_report.where}
        group by surface, stop_reason order by surface, stop_reason
        """,  # noqa: S608  # no user input; values are parameters
        coverage_report.params,
    )
    return to_table("coverage", found)
