"""A job client on the stores of this machine, with the same rules as the service.

Loads SQLAlchemy and Pydantic: import it late. DuckDB and Delta are loaded when a result is read.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError

from api.cli.job_client import build_job_body, expand_job_id
from api.params.scan import JobBody
from api.server.validation_errors import to_service_error
from api.services.evidence.report_evidence import ReportEvidence, collect_report_evidence
from api.services.job_document import to_job_document
from api.settings import ApiSettings
from pipelines.open_stores import open_chosen_home, open_control_of
from pipelines.parameters.scan import ScanParameters
from pipelines.scan.service.open_service import open_scan_service
from pipelines.scan.service.service import ScanJob, ScanService
from pipelines.settings import Settings
from warehouse.control.jobs import live_workers
from warehouse.records.values import Document

MAX_LISTED = 500


class LocalJobClient:
    """A `JobClient` over the control store and the warehouse."""

    def __init__(self, settings: ApiSettings, scan_service: ScanService) -> None:
        self._settings = settings
        self._scan_service = scan_service

    def create(self, text: str, parameters: Mapping[str, object]) -> Document:
        """Create the job, join an identical one, or return the stored result."""
        try:
            body = JobBody.model_validate(build_job_body(text, parameters))
        except ValidationError as error:
            raise to_service_error(error.errors(), names=()) from error
        # The parameters with defaults; a stored result is shown in the order that they ask for.
        effective = body.to_parameters()
        submit = (
            self._scan_service.ask
            if body.keyword is None
            else self._scan_service.submit_keyword_search
        )
        return self._document(submit(text, effective, origin="cli"), view=effective)

    def job(self, job_id: str) -> Document:
        """Return the job."""
        return self._document(self._scan_service.job(job_id))

    def gather_pairs(self, job: Document) -> ReportEvidence:
        """Return the compared pairs of a completed job, for its report."""
        from api.process import open_services  # noqa: PLC0415 -- loads the service, 1.6 s

        with open_services(self._settings) as opened:
            assert opened.evidence is not None, "the profile was chosen when this client was opened"
            return collect_report_evidence(opened.evidence, job)

    def cancel(self, job_id: str) -> Document:
        """Request cancellation."""
        _, scan = self._scan_service.cancel(job_id)
        return self._document(scan)

    def expand_job_id(self, beginning: str) -> str:
        """Expand the prefix of an id if exactly one recent job has it; else return it as given."""
        jobs = self._scan_service.jobs(limit=MAX_LISTED, status=None)
        return expand_job_id(beginning, [scan.job.job_id for scan in jobs])

    def jobs(self, *, limit: int) -> list[Document]:
        """Return the newest jobs."""
        scans = self._scan_service.jobs(limit=limit, status=None)
        return [self._document(scan) for scan in scans]

    def _document(self, scan: ScanJob, *, view: ScanParameters | None = None) -> Document:
        return dict(to_job_document(scan, is_demo=self._scan_service.world.is_demo, view=view))


@contextmanager
def open_local_job_client(settings: ApiSettings) -> Iterator[LocalJobClient]:
    """Open the stores of the chosen profile.

    Raises:
        ProfileNotChosenError: No profile is chosen.
        WarehouseError: A store cannot be opened.
    """
    with open_scan_service(settings) as scan_service:
        yield LocalJobClient(settings, scan_service)


def has_live_worker(settings: Settings) -> bool:
    """Return True if a worker of the chosen profile has sent a recent heartbeat."""
    with open_control_of(settings, open_chosen_home(settings)) as control:
        return bool(live_workers(control, settings.worker_lost_after_s))


def reports_dir(settings: Settings) -> Path:
    """Return the folder of the reports of the chosen profile."""
    return open_chosen_home(settings).reports_dir
