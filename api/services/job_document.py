"""The job document that clients poll, around a view of the result; what lists of jobs add to it."""

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, override

from anyio.to_thread import run_sync

from api.responses.envelope import EncodedData, encode_data
from api.responses.errors import with_hint
from api.schemas import result as schemas
from pipelines.documents.result_types import Discovery, HotVideos
from pipelines.documents.videos import to_document, to_time
from pipelines.parameters.scan import LOW_CANDIDATE_LIMIT, ScanParameters, scan_parameters
from pipelines.scan.rules.results import rank_selected, view_result, view_with_variants
from pipelines.scan.service.service import RunningScan, ScanJob, ScanService
from warehouse.records.errors import SametrackError, WorkerUnavailableError
from warehouse.records.jobs import DISCOVERY, FINAL_STATUSES, MAX_ATTEMPTS, Job
from warehouse.records.values import ReadOnlyDocument

if TYPE_CHECKING:
    from warehouse.engine.duckdb_engine import Engine


JOBS_PATH = "/api/v1/vidplat/app/v3/music_collection_jobs"
POLL_AFTER_S = 1

ALREADY_FINISHED: schemas.ResultNote = {
    "type": "already_finished",
    "message": "The job had already finished; nothing was changed",
    "message_zh": "任务已结束，未做任何更改",
}


def poll_url(job_id: str) -> str:
    """Return the path to poll a job, `/api/v1/vidplat/app/v3/music_collection_jobs/<id>`."""
    # Without a host, because the Host header is never reflected.
    return f"{JOBS_PATH}/{job_id}"


def waiting_headers(job: Job) -> dict[str, str]:
    """Return the header that says when to poll again; no header for a finished job."""
    return {} if job.status in FINAL_STATUSES else {"Retry-After": str(POLL_AFTER_S)}


def to_job_document(
    scan: ScanJob, *, is_demo: bool, view: ScanParameters | None = None
) -> schemas.JobDocument:
    """Return the job with its result, viewed with `view` or with the job's own parameters."""
    result: HotVideos | Discovery | None
    if scan.result is None or "kind" in scan.result:
        result = scan.result  # a discovery has no views
    else:
        result = view_result(scan.result, view or to_scan_parameters(scan.job))
    return {**_job_facts(scan, is_demo=is_demo, view=view), "result": result}


def to_job_ranking(
    scan: ScanJob, *, is_demo: bool, view: ScanParameters | None, include_variants: bool
) -> schemas.JobRanking:
    """Return the same, with variants ranked among the confirmed videos if `include_variants`."""
    if not include_variants or view is None or scan.result is None or "kind" in scan.result:
        return {**to_job_document(scan, is_demo=is_demo, view=view)}
    result = view_with_variants(scan.result, view)
    return {**_job_facts(scan, is_demo=is_demo, view=view), "result": result}


def _job_facts(scan: ScanJob, *, is_demo: bool, view: ScanParameters | None) -> schemas.JobFacts:
    job, progress = scan.job, scan.job.progress
    continued_from: schemas.ContinuedFrom | None = None
    if progress.continued_from is not None:
        continued_from = {"stage": progress.continued_from, "round": progress.continued_round}
    return to_document(
        schemas.JobFacts,
        job,
        poll_url=poll_url(job.job_id),
        scan_job_id=scan_job_id(scan),
        progress=to_document(
            schemas.JobProgress,
            progress,
            attempt=job.attempt,
            attempt_count=MAX_ATTEMPTS,
            waiting_for=None if job.status in FINAL_STATUSES else progress.waiting_for,
            continued_from=continued_from,
            # Jobs of older releases have `+00:00`.
            updated_at=progress.updated_at and progress.updated_at.replace("+00:00", "Z"),
        ),
        error=None if job.error is None else with_hint(job.error),
        notes=[] if job.kind == DISCOVERY else notes(view or to_scan_parameters(job)),
        is_demo_data=is_demo,
    )


def scan_job_id(scan: ScanJob) -> str:
    """Return the job that compared the pairs of a result.

    It is another one if a stored result served this job.
    """
    job_id = scan.job.job_id
    if scan.result is None or "kind" in scan.result:
        return job_id
    return scan.result.get("scan_job_id", job_id)


def to_discovery(scan: ScanJob) -> schemas.DiscoveryResponse:
    """Return the `data` of endpoint 9: the result with its job."""
    result = scan.result
    assert result is not None, "only a completed job has a result"
    assert "kind" in result, "the job is a discovery"
    job_id = scan.job.job_id
    return {**result, "job_id": job_id, "poll_url": poll_url(job_id)}


def ranking_of(scan: ScanJob, view: ScanParameters) -> HotVideos | None:
    """Return the ranking of a scan in the requested view, None until it is completed."""
    if scan.result is None:
        return None
    assert "kind" not in scan.result, "the job is a scan"
    return view_result(scan.result, view)


def to_hot_videos(scan: ScanJob, *, view: ScanParameters) -> schemas.HotVideosResponse:
    """Return the `data` of endpoint 5: the result with its job."""
    result = ranking_of(scan, view)
    assert result is not None, "only a completed job has a result"
    job_id = scan.job.job_id
    return {**result, "job_id": job_id, "poll_url": poll_url(job_id), "notes": notes(view)}


def to_scan_parameters(job: Job) -> ScanParameters:
    """Return the effective parameters of a job."""
    return scan_parameters(job.parameters)


def to_job_preview(scan: RunningScan, *, is_demo: bool) -> schemas.JobPreview:
    """Return what a running scan has confirmed so far, ranked with the parameters of its job."""
    job, preview = scan.job, scan.preview
    # Before the first round of a scan there is no preview.
    rows = rank_selected(preview["ranked"], to_scan_parameters(job)) if preview else []
    return {
        "job_id": job.job_id,
        "status": job.status,
        "music": preview["music"] if preview else None,
        "aweme_list": rows,
        "returned_count": len(rows),
        "confirmed_count": preview["confirmed_count"] if preview else 0,
        "updated_at": to_time(scan.updated_at),
        "is_demo_data": is_demo,
    }


def track_names(
    engine: "Engine | None", music_ids: Collection[str]
) -> dict[str, schemas.TrackName]:
    """Return title and artist by music id; tracks that were never observed are left out."""
    from warehouse.queries.results import read_track_names  # noqa: PLC0415 -- loads DuckDB and Delta, 0.3 s

    if engine is None or not music_ids:
        return {}
    rows = read_track_names(engine, sorted(music_ids))
    return {row["music_id"]: {"title": row["title"], "author": row["author"]} for row in rows}


def notes(parameters: ScanParameters) -> list[schemas.ResultNote]:
    """Return remarks on the requested parameters."""
    if parameters.candidate_limit >= LOW_CANDIDATE_LIMIT:
        return []
    return [
        {
            "type": "low_candidate_limit",
            "message": f"candidate_limit below {LOW_CANDIDATE_LIMIT} finds few related videos",
            "message_zh": f"candidate_limit 低于 {LOW_CANDIDATE_LIMIT}，找到的关联作品会较少",
        }
    ]


# Encoded job documents for polling and for event streams, and waiting for a job.
#
# A finished job does not change, so its document is encoded once and cached. Its row is still read
# every time, because a job may expire or be erased. The worker runs the job: a client that
# disconnects only ends the wait, and a repeated request joins the job.

# A ranking of 500 videos takes about one megabyte.
MAX_CACHED_JOBS = 32
POLL_INTERVAL_S = 0.1
# How long a queued job waits for a worker that may be starting.
NO_WORKER_S = 1.5


@dataclass(frozen=True, slots=True)
class JobSnapshot:
    """The current state of a job with its encoded document."""

    job: Job
    data: EncodedData

    @property
    def is_final(self) -> bool:
        """True if the job has finished."""
        return self.job.status in FINAL_STATUSES


class JobResponses:
    """Encodes job documents in the view of their own parameters. Thread-safe."""

    def __init__(self) -> None:
        self._encoded: OrderedDict[str, EncodedData] = OrderedDict()
        self._lock = threading.Lock()
        self._reads: dict[str, asyncio.Future[JobSnapshot]] = {}

    async def now(self, scan_service: ScanService, job_id: str) -> JobSnapshot:
        """Return the current job. Concurrent callers share one read, and none needs a thread of its
        own.

        Raises:
            JobNotFoundError: The job does not exist, or its retention time is over.
            WarehouseUnavailableError: The job is completed, but its result cannot be read.
        """
        read = self._reads.get(job_id)
        if read is None:

            def forget_read(finished: asyncio.Future[JobSnapshot]) -> None:
                # A later read may have taken the place of this one.
                if self._reads.get(job_id) is finished:
                    del self._reads[job_id]
                # All callers may have gone; then nobody else retrieves the exception.
                if not finished.cancelled():
                    finished.exception()

            read = asyncio.ensure_future(run_sync(self.of, scan_service, job_id))
            self._reads[job_id] = read
            read.add_done_callback(forget_read)
        return await asyncio.shield(read)  # a cancelled caller must not cancel the shared read

    def forget(self, job_id: str) -> None:
        """Start a new read for later callers, because the job was changed."""
        self._reads.pop(job_id, None)

    def of(self, scan_service: ScanService, job_id: str) -> JobSnapshot:
        """Return the current job.

        Raises:
            JobNotFoundError: The job does not exist, or its retention time is over.
            WarehouseUnavailableError: The job is completed, but its result cannot be read.
        """
        scan = scan_service.job(job_id)
        is_final = scan.job.status in FINAL_STATUSES
        if is_final:
            with self._lock:
                encoded = self._encoded.get(job_id)
                if encoded is not None:
                    self._encoded.move_to_end(job_id)
                    return JobSnapshot(scan.job, encoded)
        # Without the lock: encoding takes long, and two threads may as well do it at once.
        encoded = encode_data(to_job_document(scan, is_demo=scan_service.world.is_demo))
        if is_final:
            with self._lock:
                self._encoded[job_id] = encoded
                while len(self._encoded) > MAX_CACHED_JOBS:
                    self._encoded.popitem(last=False)
        return JobSnapshot(scan.job, encoded)


class AwaitedJobError(SametrackError):
    """The awaited job failed; `type` and `upstream` are those of the job's error."""

    def __init__(self, document: ReadOnlyDocument, *, job_id: str) -> None:
        super().__init__(
            str(document.get("detail") or "The job failed"),
            hint=f"{document.get('hint') or 'Try again later'} (job {job_id})",
            retry_after=document.get("retry_after"),
        )
        self.type = str(document.get("type") or "internal_error")  # type: ignore[misc]  # the type of the job's error
        self._upstream = document.get("upstream")

    @override
    def to_document(self) -> dict[str, object]:
        return super().to_document() | {"upstream": self._upstream}


async def wait_for_job(scan_service: ScanService, scan: ScanJob, *, max_wait_s: float) -> ScanJob:
    """Wait until the job is completed and return it with its result.

    Raises:
        AwaitedJobError: The job failed.
        WorkerUnavailableError: No worker runs, or the job was cancelled, or has not finished in
            time.
        WarehouseUnavailableError: The result cannot be read.
    """
    job_id, now = scan.job.job_id, time.monotonic()
    until, without_worker_until = now + max_wait_s, now + NO_WORKER_S
    while scan.job.status not in FINAL_STATUSES:
        # A queued job may wait for other jobs, or for a worker that nobody has started.
        if scan.job.status == "queued" and time.monotonic() > without_worker_until:
            if not await run_sync(scan_service.has_worker):
                raise WorkerUnavailableError(
                    "No worker is running, so the job waits in the queue",
                    hint="Start one with `sametrack worker`, then repeat the request to join job "
                    f"{job_id}",
                    retry_after=5,
                )
            without_worker_until = time.monotonic() + NO_WORKER_S
        if time.monotonic() > until:
            raise WorkerUnavailableError(
                f"The job did not finish within {max_wait_s:.0f} s",
                hint=f"Repeat the request to join job {job_id}; check that `sametrack worker` runs",
                retry_after=1,
            )
        await asyncio.sleep(POLL_INTERVAL_S)
        scan = await run_sync(scan_service.job, job_id)
    if scan.job.error is not None:
        raise AwaitedJobError(scan.job.error, job_id=job_id)
    if scan.result is None:
        raise WorkerUnavailableError(
            f"Job {job_id} was cancelled", hint="Repeat the request to start it again"
        )
    return scan
