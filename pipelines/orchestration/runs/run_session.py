"""The scan of a run that Dagster launched: its job, heartbeats, the end of the job.

Such a run executes a job of the queue (`RUNS=remote`), or steps that somebody launched in Dagster
itself, which get a job of their own. In the code server, which runs nothing, the slot stays empty.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from datetime import UTC, datetime, timedelta

from dagster import DagsterInstance, DagsterRun, InitResourceContext, ResourceDefinition, resource

from pipelines.logs import configure_process_logging
from pipelines.orchestration.resources import CurrentScan
from pipelines.orchestration.runs.launched_job import (
    PARTITION_TAG,
    LaunchedJob,
    StepGraph,
    begin_job,
)
from pipelines.orchestration.runs.reconciliation import cancel_jobs_of_terminated_runs
from pipelines.orchestration.runs.run_identity import ORIGIN_TAG, job_id_of, run_id_of, tags_of
from pipelines.orchestration.worker.heartbeats import heartbeats
from pipelines.orchestration.worker.job_run import ScanOutcome, end_unsupervised_job
from pipelines.orchestration.worker.maintenance import delete_output
from pipelines.scan.conclude import carry_over
from pipelines.scan.runtime import Runtime, open_control_store, open_runtime
from pipelines.scan.scan_run import ScanRun
from pipelines.settings import Settings
from warehouse.control import ControlStore, job_claims, jobs
from warehouse.records.errors import SametrackError, WorkerUnavailableError
from warehouse.records.jobs import FINAL_STATUSES, Job


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
        # first: opening a lake in an object store may take longer than a job may be silent
        stack.enter_context(_heartbeats(control, settings, job, run, instance))
        runtime = open_runtime(settings, stack, control=control)
        stack.enter_context(_continue_job(runtime, job, run, instance, current_scan))
    elif PARTITION_TAG in run.tags:
        runtime = open_runtime(settings, stack, control=control)
        launched = begin_job(runtime, run, graphs)
        stack.enter_context(_heartbeats(control, settings, launched.job, run, instance))
        stack.enter_context(_launch_job(runtime, run, instance, current_scan, launched))


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
        stack.callback(lambda: end_unsupervised_job(runtime, job, current_scan.outcome()))
        session = ScanRun(runtime, job, music_id=job.music_id or "")
        stack.enter_context(_open(session, run, instance, current_scan))
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
            lambda: end_unsupervised_job(runtime, job, _outcome(current_scan, session, launched))
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
