"""The HTML report of a completed job, as one self-contained file. It computes no results."""

from typing import TYPE_CHECKING

from api.services.evidence.report_evidence import collect_report_evidence

if TYPE_CHECKING:
    from api.schemas.result import JobDocument
    from api.services.evidence.plot_texts import PlotLanguage
    from api.services.evidence.service import EvidenceService


def report_page(
    evidence: "EvidenceService", job: "JobDocument", *, language: "PlotLanguage"
) -> str:
    """Return the report of a completed scan with the evidence of its pairs, as HTML text."""
    from api.services.report.render import render_report  # noqa: PLC0415 -- jinja2 costs 0.1 s

    pairs = collect_report_evidence(evidence, job, language=language)
    return render_report(job, pairs=pairs, language=language)
