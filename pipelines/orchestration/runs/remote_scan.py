"""The scan of a run that Dagster launched: load its job, send heartbeats, write its end.

For other runs and in the code server the slot stays empty.
"""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from dagster import DagsterInstance, DagsterRun, InitResourceContext, resource

from pipelines.logs import configure_logging
from pipelines.orchestration.resources import CurrentScan
from pipelines.orchestration.runs.run_identity import ORIGIN_TAG, job_id_of, run_id_of
from pipelines.orchestration.worker.job_run import end_job
from pipelines.scan.runtime import Runtime, open_runtime
from pipelines.scan.scan_run import ScanRun
from pipelines.settings import Settings
from warehouse.records.errors import WorkerUnavailableError
from warehouse.records.jobs import FINAL_STATUSES, Job


@resource(description="The scan of this run, if it is the run of a job.")
def scan_of_run(context: InitResourceContext) -> Iterator[CurrentScan]:
    """Provide the session of the run's job, if it has one."""
    current_scan, run, instance = CurrentScan(), context.run, context.instance
    if run is None or instance is None or ORIGIN_TAG not in run.tags:
        yield current_scan
        return
    with _session_of(run, instance, current_scan):
        yield current_scan


@contextmanager
def _session_of(
    run: DagsterRun, instance: DagsterInstance, current_scan: CurrentScan
) -> Iterator[None]:
    configure_logging()
    with ExitStack() as stack:
        runtime = open_runtime(Settings(), stack)
        job = _job_of(runtime, run)
        stack.callback(lambda: end_job(runtime, job, current_scan.outcome()))
        stack.enter_context(_heartbeat(runtime, job))
        session = stack.enter_context(ScanRun(runtime, job, music_id=job.music_id or ""))
        session.on_canceling = lambda: instance.report_run_canceling(run)
        current_scan.session = session
        yield


def _job_of(runtime: Runtime, run: DagsterRun) -> Job:
    job = runtime.control.job(job_id_of(run))
    if job is None or job.status in FINAL_STATUSES:
        raise WorkerUnavailableError("The job of this run has ended before the run began")
    if job.status != "running" or run_id_of(job) != run.run_id:
        raise WorkerUnavailableError("The job of this run goes on in another run")
    return job


@contextmanager
def _heartbeat(runtime: Runtime, job: Job) -> Iterator[None]:
    """Send heartbeats from a thread: steps may take longer than the heartbeat timeout."""
    stop = threading.Event()

    def beat() -> None:
        while True:
            runtime.control.heartbeat_job(job.job_id, run_number=job.run_number)
            if stop.wait(runtime.settings.heartbeat_s):
                return

    thread = threading.Thread(target=beat, name="beat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
