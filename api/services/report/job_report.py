"""The report of a job as a page, for whoever may read it: by its id, or by a read-only link."""

from typing import Literal

from api.responses.errors import NotFoundError
from api.services.evidence.report_evidence import collect_report_evidence
from api.services.evidence.service import EvidenceService
from api.services.exports.table_view import WHOLE_TABLE, TableView
from api.services.job_document import to_job_ranking, to_scan_parameters
from api.services.report.render import render_report
from pipelines.parameters.scan import ScanParameters
from pipelines.scan.service.service import ScanJob, ScanService


def find_reported_job(scan_service: ScanService, job_id: str) -> ScanJob:
    """Return a job that has a report.

    Raises:
        JobNotFoundError: There is no such job, or its retention has ended.
        NotFoundError: It has no ranking.
        WarehouseUnavailableError: Its result cannot be read.
    """
    scan = scan_service.job(job_id)
    if scan.result is None or "kind" in scan.result:
        raise NotFoundError(
            "The job has no ranking to report",
            hint="A completed scan or search has one: see `sametrack jobs`",
        )
    return scan


def build_job_report(
    scan: ScanJob,
    evidence: EvidenceService,
    *,
    is_demo: bool,
    language: Literal["en", "zh"],
    ranking: ScanParameters | None = None,
    include_variants: bool = False,
    view: TableView = WHOLE_TABLE,
) -> str:
    """Return the report of a job of `find_reported_job` as HTML text.

    Args:
        scan: The job with its result.
        evidence: Its compared pairs.
        is_demo: Whether the page says that it is demo data.
        language: Language that the page shows first.
        ranking: The parameters with which the result is ranked; None: those of the job.
        include_variants: Whether variants are ranked, too.
        view: Which of the ranked videos the page has, in which order, and its columns.

    Raises:
        InvalidParameterError: The ranking has no column that the view names.
    """
    ranking = ranking or to_scan_parameters(scan.job)
    job = to_job_ranking(scan, is_demo=is_demo, view=ranking, include_variants=include_variants)
    return render_report(
        job,
        pairs=collect_report_evidence(evidence, job, language=language),
        language=language,
        ranking=ranking,
        view=view,
        confirmed=None if scan.result is None or "kind" in scan.result else scan.result["ranked"],
    )
