"""A scan as a command of this machine asks for it, for tests that need its job in a store."""

from typing import Any

from api.services.job_document import to_job_document
from pipelines.parameters.scan import scan_parameters
from pipelines.scan.service.service import ScanJob
from tests.stored_results import MUSIC_ID, result
from warehouse.control import ControlStore, jobs
from warehouse.control.jobs import NewJob


def ask_for_scan(control: ControlStore, music_id: str) -> str:
    """Put a scan of a track into the queue; return the id of its job."""
    new = NewJob(
        kind="scan", input=music_id, target=music_id, music_id=music_id,
        parameters=scan_parameters({}).to_document(), fingerprint=music_id, scan_key=None,
        origin="cli", priority=100,
    )  # fmt: skip
    return jobs.create_or_join(control, new)[0].job_id


def answer_scan(control: ControlStore, *, videos: int) -> dict[str, Any]:
    """End a scan as a worker does; return its job with the result, as the job API answers it."""
    job_id = ask_for_scan(control, MUSIC_ID)
    jobs.claim(control, "worker")
    jobs.finish(control, job_id, "completed")
    job = jobs.get(control, job_id)
    assert job is not None
    return dict(to_job_document(ScanJob(job, result(videos)), is_demo=True))
