"""Scans in the orchestrator's own deployment: submitted to its web server, run where it launches.

What needs no run (a stored result, a twin) is found here, as the warm processes do. The run
itself says that it is alive and writes its own end (`remote_scan`).
"""

import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial

import httpx2
import stamina
from dagster import DagsterInstance, DagsterRunStatus

from pipelines.attempts import Outcome, ScanEnd, attempt
from pipelines.definitions import LOCATION
from pipelines.domain.errors import WorkerUnavailableError
from pipelines.domain.jobs import Job
from pipelines.launching import ORIGIN_TAG
from pipelines.partitions import partition_key, tracks
from pipelines.runs import QUIET, open_instance
from pipelines.runtime import Runtime, open_runtime
from pipelines.settings import Settings

LOOK_EVERY_S = 0.5
PATIENCE_S = 60.0
TIMEOUT_S = 60.0
LAUNCH = """
mutation Launch($params: ExecutionParams!) {
  launchRun(executionParams: $params) {
    __typename
    ... on LaunchRunSuccess { run { runId } }
    ... on PythonError { message }
    ... on InvalidSubsetError { message }
    ... on PipelineNotFoundError { message }
    ... on RunConfigValidationInvalid { errors { message } }
  }
}
"""
_NOT_BEGUN = (
    DagsterRunStatus.NOT_STARTED,
    DagsterRunStatus.QUEUED,
    DagsterRunStatus.STARTING,
)


class RemoteEnding:
    """A job being prepared here, then a run elsewhere."""

    def __init__(self, job_id: str, prepared: Future[ScanEnd], instance: DagsterInstance) -> None:
        self._job_id = job_id
        self._prepared = prepared
        self._instance = instance
        self._status: DagsterRunStatus | None = None
        self._looked_at = float("-inf")

    def done(self) -> bool:
        """True when it needed no run, or its run has ended."""
        if not self._prepared.done():
            return False
        if self._prepared.exception() is not None or self._prepared.result().status != HANDED_OVER:
            return True
        status = self._look()
        return status is None or status in _ENDED

    def result(self) -> ScanEnd:
        """What came of it; raises what went wrong before a run began."""
        return self._prepared.result()

    def abandon(self) -> None:
        """End the run by force: nobody waits for it any more."""
        run = self._instance.get_run_by_id(self._job_id)
        if run is not None and not run.is_finished:
            self._instance.report_run_canceled(run)

    def needs_beat(self) -> bool:
        """Until the run has begun; from then on it speaks for itself."""
        if not self._prepared.done():
            return True
        return self._look() in _NOT_BEGUN

    def _look(self) -> DagsterRunStatus | None:
        now = time.monotonic()
        if now - self._looked_at >= LOOK_EVERY_S:
            self._looked_at = now
            run = self._instance.get_run_by_id(self._job_id)
            self._status = None if run is None else run.status
        return self._status


HANDED_OVER = "handed_over"
_ENDED = (DagsterRunStatus.SUCCESS, DagsterRunStatus.FAILURE, DagsterRunStatus.CANCELED)


class RemoteRuns:
    """Hands scans to the orchestrator at `settings.dagster_url`."""

    outlive_worker = True

    def __init__(self, settings: Settings) -> None:
        self._stack = ExitStack()
        self._runtime: Runtime = open_runtime(settings, self._stack)
        self._instance = self._stack.enter_context(open_instance(self._runtime.home))
        self._threads = ThreadPoolExecutor(settings.worker_runs, thread_name_prefix="prepare")

    def launch_scan(self, job_id: str, *, waited_for: str | None = None) -> RemoteEnding:
        """Prepare the job in a thread, and submit its run if it needs one."""
        prepare = partial(attempt, self._runtime, job_id, self._submit, waited_for=waited_for)
        return RemoteEnding(job_id, self._threads.submit(prepare), self._instance)

    def close(self) -> None:
        """Take nothing more on; runs elsewhere go on."""
        self._threads.shutdown(cancel_futures=True)
        self._stack.close()

    def _submit(self, job: Job, music_id: str) -> Outcome | None:
        """Submit the run of a job under the job's own id; it writes its end itself.

        Raises:
            WorkerUnavailableError: The orchestrator does not take it.
        """
        partition = partition_key(job.kind, music_id or job.target)
        self._instance.add_dynamic_partitions(str(tracks.name), [partition])
        params: dict[str, object] = {
            "selector": {
                "repositoryLocationName": LOCATION,
                "repositoryName": "__repository__",
                "jobName": job.kind,
            },
            "runConfigData": QUIET,
            "executionMetadata": {
                "runId": job.job_id,
                "tags": [
                    {"key": "dagster/partition", "value": partition},
                    {"key": ORIGIN_TAG, "value": job.origin},
                ],
            },
        }
        launch_run(self._runtime.settings.dagster_url, params)
        return None


def launch_run(url: str, params: dict[str, object]) -> None:
    """Ask the orchestrator's web server to launch a run.

    Raises:
        WorkerUnavailableError: It cannot be reached, or refuses.
    """
    body: dict[str, object] = {"query": LAUNCH, "variables": {"params": params}}
    try:
        answer = _post(f"{url.rstrip('/')}/graphql", body)
        launched = answer.json()["data"]["launchRun"]
    except (httpx2.HTTPError, ValueError, KeyError, TypeError) as error:
        raise WorkerUnavailableError(
            f"The orchestrator does not answer ({type(error).__name__})",
            hint="Start it (`sametrack up`), or correct DAGSTER_URL, then ask again",
        ) from error
    if launched["__typename"] != "LaunchRunSuccess":
        raise WorkerUnavailableError(
            f"The orchestrator refused the run ({launched['__typename']})",
            hint="Look at its code location in the orchestrator's UI, then ask again",
        )


@stamina.retry(on=httpx2.TransportError, attempts=None, timeout=PATIENCE_S, wait_max=2.0)
def _post(url: str, body: dict[str, object]) -> httpx2.Response:
    """Patient, because `sametrack up` starts worker and web server at the same moment."""
    return httpx2.post(url, json=body, timeout=TIMEOUT_S).raise_for_status()
