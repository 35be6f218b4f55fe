"""The marts of a job that begins with the state of another one."""

from pipelines.scan import conclude
from pipelines.scan.marts import rows as mart_rows
from pipelines.scan.scan_run import ScanRun
from warehouse.tables.marts.steps import STEP_MARTS

_KEPT_BY_THE_OTHER = {"audio_comparisons"} | {
    table.name.removeprefix("marts.") for table in STEP_MARTS
}
"""Marts whose rows stay with the job that read and compared.

Each comparison has one row, which later rows name by its id; and what a step read first cannot be
told from a state after it.
"""


def carry_over(session: ScanRun) -> None:
    """Write the rows of the finished steps under this job too, and store a first checkpoint."""
    state = session.state
    written, state.written = state.written - _KEPT_BY_THE_OTHER, set()
    rows = {
        **mart_rows.confirmation_rows(session),
        "coverage": mart_rows.coverage_rows(session),
        "coverage_estimates": mart_rows.estimate_rows(
            session, conclude.coverage_estimates(session)
        ),
        "random_audits": mart_rows.audit_rows(session),
    }
    if "rankings" in state.steps:
        session.result = conclude.result_document(session)
        rows["rankings"] = mart_rows.ranking_rows(session, session.result)
        rows["account_summaries"] = mart_rows.account_rows(
            session, session.result["account_summary"]
        )
    for noun in sorted(written):
        session.append(noun, rows[noun])
    session.checkpoint()
