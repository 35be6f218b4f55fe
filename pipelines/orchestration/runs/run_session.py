"""The life of a job inside its run, wherever the run executes: here, in Celery, in Dagster's own.

A run finds its job or creates one, sends heartbeats, opens the scan for its steps, and writes the
end of the job: completed, failed, cancelled, or back into the queue. Until a run has begun, and
when its process is killed, a worker acts for it (`worker/worker.py`). In the code server, which
runs nothing, there is no scan.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Literal

import structlog
from dagster import DagsterInstance, DagsterRun, InitResourceContext, ResourceDefinition, resource

from pipelines.logs import configure_process_logging
from pipelines.orchestration.outages import (
    DISK_WAIT_S,
    STORE_WAIT_S,
    ResourceWait,
    awaited_resource,
    is_outage,
)
from pipelines.orchestration.runs.current_scan import CurrentScan, ScanOutcome
from pipelines.orchestration.runs.heartbeats import heartbeats
from pipelines.orchestration.runs.launched_job import (
    PARTITION_TAG,
    LaunchedJob,
    StepGraph,
    begin_job,
)
from pipelines.orchestration.runs.reconciliation import cancel_jobs_of_terminated_runs
from pipelines.orchestration.runs.run_identity import ORIGIN_TAG, job_id_of, run_id_of, tags_of
from pipelines.orchestration.worker.maintenance import delete_output
from pipelines.scan.conclude import carry_over
from pipelines.scan.runtime import Runtime, open_control_store, open_runtime
from pipelines.scan.scan_run import ScanRun
from pipelines.scan.service.lost_runs import end_lost_run
from pipelines.settings import Settings
from warehouse.control import ControlStore, job_claims, jobs, leases
from warehouse.home.disk_space import MIN_FREE_BYTES, free_bytes
from warehouse.records.errors import SametrackError, WorkerUnavailableError
from warehouse.records.jobs import FINAL_STATUSES, SCAN, Job, JobStatus

OUTAGE_TRIES = 60
RUN_BROKE = "The run of this scan broke between two stages"
log = structlog.get_logger(__name__)


def scan_of_run(graphs: Mapping[str, StepGraph]) -> ResourceDefinition:
    """Return the resource that holds the scan of a run. `graphs`: the steps by kind of job."""

    @resource(description="The scan of this run.")
    def scan(context: InitResourceContext) -> Iterator[CurrentScan]:
        """Provide the session of the run's job."""
        current_scan, run, instance = CurrentScan(), context.run, context.instance
        if run is None or instance is None:
            yield current_scan
            return
        configure_process_logging()
        with ExitStack() as stack:
            try:
                _begin(stack, current_scan, run, instance, graphs)
            except SametrackError as error:  # raised here it would not be shown as the reason
                current_scan.refuse(error)
            yield current_scan

    return scan


def _begin(
    stack: ExitStack,
    current_scan: CurrentScan,
    run: DagsterRun,
    instance: DagsterInstance,
    graphs: Mapping[str, StepGraph],
) -> None:
    settings = Settings()
    # Also here: a machine that only executes runs has no other maintenance.
    kept_since = datetime.now(UTC) - timedelta(days=settings.orchestrator_retention_days)
    delete_output(instance, kept_since)
    control = open_control_store(settings)
    if _is_of_a_job(run):
        job = _job_of(control, run)
        _name_in_log(stack, job)
        # first: opening a lake in an object store may take longer than a job may be silent
        stack.enter_context(_heartbeats(control, settings, job, run, instance))
        try:
            runtime = open_runtime(settings, stack, control=control)
        except SametrackError as error:
            if wait := awaited_resource(error):
                job_claims.requeue(
                    control, job.job_id, run_number=job.run_number, costs_attempt=False,
                    waiting_for=wait.resource, wait_s=wait.seconds,
                )  # fmt: skip
            raise
        stack.enter_context(_continue_job(runtime, job, run, instance, current_scan))
    elif PARTITION_TAG in run.tags:
        runtime = open_runtime(settings, stack, control=control)
        launched = begin_job(runtime, run, graphs)
        _name_in_log(stack, launched.job)
        stack.enter_context(_heartbeats(control, settings, launched.job, run, instance))
        stack.enter_context(_launch_job(runtime, run, instance, current_scan, launched))


def _name_in_log(stack: ExitStack, job: Job) -> None:
    """Name the job in each line of the log, until its end is written: Celery keeps the process."""
    structlog.contextvars.bind_contextvars(job_id=job.job_id)
    stack.callback(structlog.contextvars.unbind_contextvars, "job_id")


def _is_of_a_job(run: DagsterRun) -> bool:
    """Whether the queue made this run; a repeated run has the tags of the one before it."""
    return ORIGIN_TAG in run.tags and run.parent_run_id is None


@contextmanager
def _continue_job(
    runtime: Runtime,
    job: Job,
    run: DagsterRun,
    instance: DagsterInstance,
    current_scan: CurrentScan,
) -> Iterator[None]:
    """Run the scan of a job of the queue, and write its end."""
    with ExitStack() as stack:
        # Registered before the session, so that it runs after the session has written everything.
        stack.callback(lambda: end_job_patiently(runtime, job, current_scan.outcome()))
        session = ScanRun(runtime, job, music_id=job.music_id or "")
        stack.enter_context(_open(session, run, instance, current_scan))
        if job.kind == SCAN:
            runtime.decoders.start()  # its processes load their libraries while lists are read
        yield


@contextmanager
def _launch_job(
    runtime: Runtime,
    run: DagsterRun,
    instance: DagsterInstance,
    current_scan: CurrentScan,
    launched: LaunchedJob,
) -> Iterator[None]:
    """Run the scan of a launched job, and write its end."""
    job, state = launched.job, launched.state
    with ExitStack() as stack:
        session = ScanRun(runtime, job, music_id=job.music_id or "", begin_with=state)
        # As above: the end of the job is written after the session has closed.
        stack.callback(
            lambda: end_job_patiently(runtime, job, _outcome(current_scan, session, launched))
        )
        instance.add_run_tags(run.run_id, tags_of(job, launched.partition))
        stack.enter_context(_open(session, run, instance, current_scan))
        if state is not None:
            carry_over(session)
        yield
        session.finish_appends()


@contextmanager
def _open(
    session: ScanRun, run: DagsterRun, instance: DagsterInstance, current_scan: CurrentScan
) -> Iterator[None]:
    """Open a session for the assets of this run."""
    with session:
        session.on_canceling = lambda: instance.report_run_canceling(run)
        current_scan.session = session
        yield


def _heartbeats(
    control: ControlStore, settings: Settings, job: Job, run: DagsterRun, instance: DagsterInstance
) -> AbstractContextManager[None]:
    """Return the thread for the heartbeats of a run: its steps may take longer than they may."""

    def beat() -> None:
        job_claims.beat_job(control, job.job_id, run_number=job.run_number)
        kept_until = datetime.now(UTC) + timedelta(days=settings.job_retention_days)
        cancel_jobs_of_terminated_runs(instance, control, [run.run_id], expires_at=kept_until)

    return heartbeats(beat, every_s=settings.heartbeat_s)


def _outcome(current_scan: CurrentScan, session: ScanRun, launched: LaunchedJob) -> ScanOutcome:
    """Return how a launched job ended: without a failure, and without a result, as cancelled."""
    ended = current_scan.outcome()
    is_partial = ended.error is None and launched.selected <= session.state.steps.keys()
    return ScanOutcome("cancelled") if ended.status in ("failed", "lost") and is_partial else ended


def _job_of(control: ControlStore, run: DagsterRun) -> Job:
    job = jobs.get(control, job_id_of(run))
    if job is None or job.status in FINAL_STATUSES:
        raise WorkerUnavailableError("The job of this run has ended before the run began")
    if job.status != "running" or run_id_of(job) != run.run_id:
        raise WorkerUnavailableError("The job of this run goes on in another run")
    return job


def end_job(runtime: Runtime, job: Job, outcome: ScanOutcome) -> JobStatus | Literal["lost"]:
    """Write the end of a run: the end of its job, or its way back into the queue.

    A full disk, a store that is away, a paused host or a spent budget is no fault of the scan: what
    it has read is kept, and it goes on afterwards with all of its attempts.
    """
    wait = outcome.wait
    if outcome.status == "lost" and free_bytes(str(runtime.home.root)) < MIN_FREE_BYTES:
        wait = ResourceWait("disk", DISK_WAIT_S)  # Dagster's storage could not be written
    if wait is not None and job_claims.requeue(
        runtime.control, job.job_id, run_number=job.run_number, costs_attempt=False,
        waiting_for=wait.resource, wait_s=wait.seconds,
    ):  # fmt: skip
        log.warning(
            "scan waits", waiting_for=wait.resource, seconds=wait.seconds, error=repr(outcome.error)
        )
        return "queued"
    if outcome.status == "lost":
        return _lose(runtime, job)
    status, error = outcome.status, outcome.error
    if status == "queued" and job_claims.requeue(
        runtime.control, job.job_id, run_number=job.run_number, costs_attempt=False
    ):
        log.info("scan handed back: its process was asked to end")
        return status
    if wait is not None or status == "queued":
        # The queue takes no job whose cancellation was requested.
        found = jobs.get(runtime.control, job.job_id)
        is_cancelled = found is not None and found.cancel_requested
        status, error = ("cancelled", None) if is_cancelled else ("failed", error)
    return status if finish_job(runtime, job, status, error) else "lost"


def end_job_patiently(
    runtime: Runtime, job: Job, outcome: ScanOutcome, *, sleep: Callable[[float], None] = time.sleep
) -> JobStatus | Literal["lost"]:
    """Write the end of a run; while a store is away, again and again.

    Otherwise the run would count as lost, although it only waits.
    """
    for _ in range(OUTAGE_TRIES):
        try:
            return end_job(runtime, job, outcome)
        except Exception as error:
            if not is_outage(error):
                raise
            log.warning("a store is away; the end of the scan waits", error=repr(error))
            sleep(STORE_WAIT_S)
    return end_job(runtime, job, outcome)


def _lose(runtime: Runtime, job: Job) -> JobStatus | Literal["lost"]:
    found = jobs.get(runtime.control, job.job_id) or job  # its cancellation may have been requested
    status = end_lost_run(
        runtime.control, found, RUN_BROKE, has_result=False, expires_at=_kept_until(runtime)
    )
    log.warning("run lost", attempt=job.attempt, reason=RUN_BROKE, job_is_now=status)
    return status or "lost"


def finish_job(runtime: Runtime, job: Job, status: JobStatus, error: SametrackError | None) -> bool:
    """Write the end of a job and the expiry of its result, release leases, compact the lake.

    False, without effect, if another run has the job.
    """
    job_id = job.job_id
    if status == "failed" and error is None:
        error = SametrackError(
            "The scan failed unexpectedly before its result was complete",
            hint="Open the run of this job in Dagster's UI, then retry",
        )
    has_ended = jobs.finish(
        runtime.control,
        job_id,
        status,
        error=error.to_document() if error else None,
        expires_at=_kept_until(runtime),
        run_number=job.run_number,
    )
    if not has_ended:
        log.warning("another run has this job", run_number=job.run_number)
        return False
    why: dict[str, str | None] = {"error": error.type if error else None}
    if error is not None:
        why["detail"] = error.detail
    log.info("scan ended", status=status, **why)
    # Only now: who gets the lease next must find the end of this job, not scan again.
    leases.release_all(runtime.control, job_id)
    runtime.lake.compact_crowded()
    return True


def _kept_until(runtime: Runtime) -> datetime:
    return datetime.now(UTC) + timedelta(days=runtime.settings.job_retention_days)
