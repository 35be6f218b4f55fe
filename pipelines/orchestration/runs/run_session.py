"""The life of a job inside its run, on this machine, in Celery or in Dagster's code server.

A run finds its job or creates one, sends heartbeats, opens the scan for its steps, and writes the
end of the job: completed, failed, cancelled, or back into the queue. Until a run has begun, and
when its process is killed, a worker acts for it (`worker/worker.py`). When Dagster only loads the
definitions, there is no scan.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

import dagster as dg
import structlog

from pipelines.background_thread import background_thread
from pipelines.logs import configure_process_logging
from pipelines.orchestration import failures
from pipelines.orchestration.failures import ResourceWait, awaited_resource, to_failure
from pipelines.orchestration.runs import launched_job, reconciliation
from pipelines.orchestration.worker.maintenance import delete_output
from pipelines.scan.conclude import carry_over
from pipelines.scan.rules.expansion import TrackLink
from pipelines.scan.runtime import Runtime, open_control_store, open_runtime
from pipelines.scan.scan_run import ScanRun
from pipelines.scan.service.service import end_lost_run
from pipelines.settings import Settings
from warehouse.control import ControlStore, jobs, leases
from warehouse.files import MIN_FREE_BYTES, free_bytes
from warehouse.records import errors
from warehouse.records.jobs import FINAL_STATUSES, SCAN, Job, JobStatus
from warehouse.records.videos import Video

# The scan that a run executes: the session that its steps share, and how it ended.

NO_SCAN = "No scan runs in this process"
STARTED_WITH = "choose a track as the partition, or start the job `request_scan`"
NOTHING_CONFIRMED = "This run confirms no videos that could be checked"
CHECKED_WITH = "materialize marts/confirmed_videos of the track, which runs its checks"


@dataclass(frozen=True, slots=True)
class ScanOutcome:
    """How a scan ended, and the error that ended it, if any.

    Attributes:
        status: A final status of the job; `queued` if its process was asked to end and the job goes
            on elsewhere; `lost` if its run broke between two stages, so that the job goes on if it
            has another attempt.
        error: The error that ended the scan.
        wait: What the scan has to wait for, if that is why it failed.
    """

    status: JobStatus | Literal["lost"]
    error: errors.SametrackError | None = None
    wait: ResourceWait | None = None


class CurrentScan:
    """The scan of a run. Without a `session`, as in the code server, scan assets fail with a hint.

    Every scan begins as a row of the job queue, and its run sets the session.
    """

    def __init__(self) -> None:
        self.session: ScanRun | None = None
        self.error: errors.SametrackError | None = None
        self.wait: ResourceWait | None = None
        self.has_failed = False
        self.was_cancelled = False
        self.was_interrupted = False
        self.has_result = False

    def refuse(self, error: errors.SametrackError) -> None:
        """Make the first step of the run fail with this error, because there is no scan to run."""
        self.has_failed = True
        self.error = error

    def outcome(self) -> ScanOutcome:
        """Return how the scan ended; a failed check leaves no error."""
        if self.was_cancelled:
            return ScanOutcome("cancelled")
        if self.was_interrupted:
            return ScanOutcome("queued")
        if self.has_failed:
            return ScanOutcome("failed", self.error, self.wait)
        # Without a result and a failed stage or check, Dagster has failed between two stages, for
        # example because its storage could not be reached.
        return ScanOutcome("completed" if self.has_result else "lost")

    def note_check(self, *, passed: bool) -> None:
        """Record the result of a check: one that fails ends the scan."""
        self.has_failed = self.has_failed or not passed

    def confirmed(self) -> list[tuple[Video, TrackLink]]:
        """Return the videos that the running scan has confirmed, with their links to the track.

        Raises:
            Failure: No scan has confirmed videos in this run.
        """
        if self.session is None or "confirmed_videos" not in self.session.state.steps:
            error = errors.InputError(NOTHING_CONFIRMED, hint=CHECKED_WITH)
            self.refuse(error)
            raise to_failure(error)
        return self.session.state.confirmed_videos()

    @contextmanager
    def stage(self, name: str) -> Iterator[ScanRun]:
        """Run the body of an asset as one stage of the scan; record why it ended.

        Raises:
            Failure: No scan runs in this process, or it fails for a reason that it states.
            DagsterExecutionInterruptedError: Cancellation was requested.
        """
        if self.session is None:
            raise to_failure(self.error or errors.InputError(NO_SCAN, hint=STARTED_WITH))
        try:
            self.session.enter(name)
            yield self.session
            self.has_result = "job_results" in self.session.state.written
        except errors.RunCancelledError as error:
            self.was_cancelled = True
            self.session.on_canceling()
            # After any other error Dagster would first go through all remaining steps.
            raise dg.DagsterExecutionInterruptedError from error
        # After SIGTERM or Ctrl-C, as Dagster or Python raises it, another process goes on.
        except (dg.DagsterExecutionInterruptedError, KeyboardInterrupt):
            self.was_interrupted = True
            raise
        except errors.SametrackError as error:
            self.refuse(error)
            self.wait = awaited_resource(error)
            raise to_failure(error) from error
        except Exception as error:
            self.has_failed = True
            self.error = None
            self.wait = awaited_resource(error)
            raise


# Send heartbeats from a thread, and detect jobs whose heartbeats have stopped.
#
# The thread sends them however busy its process is.

SILENT_CHECKS = 3
"""A job that so many checks in a row find silent is lost."""

type Heartbeat = tuple[str, int, datetime | None]
"""Job, run number and time of the last heartbeat."""


class SilenceWatch:
    """Counts the checks in a row that found a job without a new heartbeat.

    One check proves nothing on a machine that was overloaded or suspended: the checker was held up,
    too. A checker with little processor time checks rarely, and so waits longer for the others.
    """

    def __init__(self) -> None:
        self._counts: Counter[Heartbeat] = Counter()

    def lost(self, silent: Sequence[Job]) -> list[Job]:
        """Count one more check; return the jobs that `SILENT_CHECKS` in a row found silent."""
        last = [(job.job_id, job.run_number, job.heartbeat_at) for job in silent]
        # A job that has sent a heartbeat meanwhile has another key, and starts at one again.
        self._counts = Counter({key: self._counts[key] + 1 for key in last})
        counts = [self._counts[key] for key in last]
        return [job for job, count in zip(silent, counts, strict=True) if count >= SILENT_CHECKS]


def heartbeats(beat: Callable[[], object], *, every_s: float) -> AbstractContextManager[None]:
    """Repeat `beat` in a thread while the context is open; a failed one is logged."""

    def run(stop: threading.Event) -> None:
        while True:
            try:
                beat()
            except Exception as error:  # noqa: BLE001  # a full disk, a database that restarts
                log.warning("heartbeat not stored", error=repr(error))
            if stop.wait(every_s):
                return

    return background_thread("heartbeat", run)


OUTAGE_TRIES = 60
RUN_BROKE = "The run of this scan broke between two stages"
log = structlog.get_logger(__name__)


def scan_of_run(graphs: Mapping[str, launched_job.StepGraph]) -> dg.ResourceDefinition:
    """Return the resource that holds the scan of a run. `graphs`: the steps by kind of job."""

    @dg.resource(description="The scan of this run.")
    def scan(context: dg.InitResourceContext) -> Iterator[CurrentScan]:
        """Provide the session of the run's job."""
        current_scan, run, instance = CurrentScan(), context.run, context.instance
        if run is None or instance is None:
            yield current_scan
            return
        configure_process_logging()
        with ExitStack() as stack:
            try:
                _begin(stack, current_scan, run, instance, graphs)
            except errors.SametrackError as error:
                # The first step raises it: from here Dagster's UI would not show the reason.
                current_scan.refuse(error)
            yield current_scan

    return scan


def _begin(
    stack: ExitStack,
    current_scan: CurrentScan,
    run: dg.DagsterRun,
    instance: dg.DagsterInstance,
    graphs: Mapping[str, launched_job.StepGraph],
) -> None:
    """Find or create the job of a run, and open its scan until `stack` is closed."""
    settings = Settings()
    # Also here: a machine that only executes runs has no other maintenance.
    kept_since = datetime.now(UTC) - timedelta(days=settings.orchestrator_retention_days)
    delete_output(instance, kept_since)
    control = open_control_store(settings)
    # The queue created this run. A repeated run has the tags of the run before it.
    if reconciliation.ORIGIN_TAG in run.tags and run.parent_run_id is None:
        job = _running_job(control, run)
        _name_in_log(stack, job)
        # Before opening a lake in an object store, which may take longer than a job may be silent.
        stack.enter_context(_heartbeats(control, settings, job, run, instance))
        try:
            runtime = open_runtime(settings, stack, control=control)
        except errors.SametrackError as error:
            if wait := failures.awaited_resource(error):
                _requeue(control, job, wait)
            raise
        stack.enter_context(_run_scan(runtime, job, run, instance, current_scan))
    elif launched_job.PARTITION_TAG in run.tags:
        runtime = open_runtime(settings, stack, control=control)
        launched = launched_job.begin_job(runtime, run, graphs)
        _name_in_log(stack, launched.job)
        stack.enter_context(_heartbeats(control, settings, launched.job, run, instance))
        stack.enter_context(
            _run_scan(runtime, launched.job, run, instance, current_scan, launched=launched)
        )


def _running_job(control: ControlStore, run: dg.DagsterRun) -> Job:
    """Return the job of a run.

    Raises:
        WorkerUnavailableError: The job has ended, or goes on in another run.
    """
    job = jobs.get(control, reconciliation.job_id_of(run))
    if job is None or job.status in FINAL_STATUSES:
        raise errors.WorkerUnavailableError("The job of this run has ended before the run began")
    if job.status != "running" or reconciliation.run_id_of(job) != run.run_id:
        raise errors.WorkerUnavailableError("The job of this run goes on in another run")
    return job


def _name_in_log(stack: ExitStack, job: Job) -> None:
    """Name the job in each line of the log, until its end is written: Celery keeps the process."""
    structlog.contextvars.bind_contextvars(job_id=job.job_id)
    stack.callback(structlog.contextvars.unbind_contextvars, "job_id")


def _heartbeats(
    control: ControlStore,
    settings: Settings,
    job: Job,
    run: dg.DagsterRun,
    instance: dg.DagsterInstance,
) -> AbstractContextManager[None]:
    """Return the thread for the heartbeats of a run, because a step may take long."""

    def beat() -> None:
        jobs.beat_job(control, job.job_id, run_number=job.run_number)
        kept_until = datetime.now(UTC) + timedelta(days=settings.job_retention_days)
        reconciliation.cancel_jobs_of_terminated_runs(
            instance, control, [run.run_id], expires_at=kept_until
        )

    return heartbeats(beat, every_s=settings.heartbeat_s)


@contextmanager
def _run_scan(
    runtime: Runtime,
    job: Job,
    run: dg.DagsterRun,
    instance: dg.DagsterInstance,
    current_scan: CurrentScan,
    *,
    launched: launched_job.LaunchedJob | None = None,
) -> Iterator[None]:
    """Open the scan of a job for the assets of this run; write the end of the job at the end."""
    state = None if launched is None else launched.state
    session = ScanRun(runtime, job, music_id=job.music_id or "", begin_with=state)

    def end() -> None:
        outcome = current_scan.outcome()
        # A launched run of some steps has no result. If all of them succeeded, its job ends as
        # cancelled, so that no later request gets it as a result.
        if launched is not None and outcome.status in ("failed", "lost") and outcome.error is None:
            is_done = launched.selected <= session.state.steps.keys()
            outcome = ScanOutcome("cancelled") if is_done else outcome
        end_job_patiently(runtime, job, outcome)

    with ExitStack() as stack:
        # Registered before the session, so that it runs after the session has written everything.
        stack.callback(end)
        if launched is not None:
            instance.add_run_tags(run.run_id, reconciliation.tags_of(job, launched.partition))
        stack.enter_context(session)
        session.on_canceling = lambda: instance.report_run_canceling(run)
        current_scan.session = session
        if launched is None and job.kind == SCAN:
            runtime.decoders.start()  # its processes load their libraries while lists are read
        if state is not None:
            carry_over(session)
        yield
        if launched is not None:
            session.finish_appends()


def end_job(runtime: Runtime, job: Job, outcome: ScanOutcome) -> JobStatus | Literal["lost"]:
    """Write the end of a run: the end of its job, or its way back into the queue.

    Returns the new status of the job, "lost" if another run has it.
    """
    control, status, error, wait = runtime.control, outcome.status, outcome.error, outcome.wait
    if status == "lost" and free_bytes(str(runtime.home.root)) < MIN_FREE_BYTES:
        wait = failures.ResourceWait(
            "disk", failures.DISK_WAIT_S
        )  # Dagster's storage could not be written
    # A full disk, a store that is away, a paused host or a spent budget costs no attempt: what the
    # scan has read is stored, and it goes on afterwards.
    if wait is not None and _requeue(control, job, wait):
        log.warning(
            "scan waits", waiting_for=wait.resource, seconds=wait.seconds, error=repr(error)
        )
        return "queued"
    if status == "lost":
        stored = jobs.get(control, job.job_id) or job  # a cancellation may have been requested
        lost_status = end_lost_run(
            control, stored, RUN_BROKE, has_result=False, expires_at=_kept_until(runtime)
        )
        log.warning("run lost", attempt=job.attempt, reason=RUN_BROKE, job_is_now=lost_status)
        return lost_status or "lost"
    if status == "queued" and _requeue(control, job):
        log.info("scan handed back: its process was asked to end")
        return status
    if wait is not None or status == "queued":
        # The queue takes no job whose cancellation was requested.
        stored_job = jobs.get(control, job.job_id)
        is_cancelled = stored_job is not None and stored_job.cancel_requested
        status, error = ("cancelled", None) if is_cancelled else ("failed", error)
    return status if finish_job(runtime, job, status, error) else "lost"


def _requeue(control: ControlStore, job: Job, wait: failures.ResourceWait | None = None) -> bool:
    """Put the job back into the queue, which costs no attempt.

    Returns False if another run has the job, or if its cancellation was requested.
    """
    if wait is None:
        return jobs.requeue(control, job.job_id, run_number=job.run_number, costs_attempt=False)
    return jobs.requeue(
        control,
        job.job_id,
        run_number=job.run_number,
        costs_attempt=False,
        waiting_for=wait.resource,
        wait_s=wait.seconds,
    )


def end_job_patiently(
    runtime: Runtime, job: Job, outcome: ScanOutcome, *, sleep: Callable[[float], None] = time.sleep
) -> JobStatus | Literal["lost"]:
    """Write the end of a run; retry while a store is away."""
    # Without retries the run would count as lost, although it only waits.
    for _ in range(OUTAGE_TRIES):
        try:
            return end_job(runtime, job, outcome)
        except Exception as error:
            if not failures.is_outage(error):
                raise
            log.warning("a store is away; the end of the scan waits", error=repr(error))
            sleep(failures.STORE_WAIT_S)
    return end_job(runtime, job, outcome)


def finish_job(
    runtime: Runtime, job: Job, status: JobStatus, error: errors.SametrackError | None
) -> bool:
    """Write the end of a job and the expiry of its result, release leases, compact the lake.

    Returns False, without effect, if another run has the job.
    """
    job_id = job.job_id
    if status == "failed" and error is None:
        error = errors.SametrackError(
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
    reason: dict[str, str | None] = {"error": error.type if error else None}
    if error is not None:
        reason["detail"] = error.detail
    log.info("scan ended", status=status, **reason)
    # Last, so that the next holder of a lease finds the end of this job instead of scanning again.
    leases.release_all(runtime.control, job_id)
    runtime.lake.compact_all()
    return True


def _kept_until(runtime: Runtime) -> datetime:
    return datetime.now(UTC) + timedelta(days=runtime.settings.job_retention_days)
