"""The HTML report of a completed job, as one self-contained file. It computes no results."""

from api.schemas.result import JobDocument
from api.services.evidence.plot import PlotLanguage
from api.services.evidence.report_evidence import collect_report_evidence
from api.services.evidence.service import EvidenceService
from api.services.report.render import render_report


def report_page(evidence: EvidenceService, job: JobDocument, *, language: PlotLanguage) -> str:
    """Return the report of a completed scan with the evidence of its pairs, as HTML text."""
    pairs = collect_report_evidence(evidence, job, language=language)
    return render_report(job, pairs=pairs, language=language)
