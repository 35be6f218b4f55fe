"""The marts of a job that begins with the state of another one."""

from pipelines.scan import conclude
from pipelines.scan.marts import rows as mart_rows
from pipelines.scan.scan_run import ScanRun

_KEPT_BY_THE_OTHER = "audio_comparisons"
"""Each comparison has one row, under the job that made it; later rows name it by its id."""


def carry_over(session: ScanRun) -> None:
    """Write the rows of the finished steps under this job too, and store a first checkpoint."""
    state = session.state
    written, state.written = state.written - {_KEPT_BY_THE_OTHER}, set()
    rows = {
        "candidates": mart_rows.candidate_rows(session),
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
