"""A whole scan in one process, from the POST to the last asset, for a debugger.

`PROFILE=sandbox python -m pdb -m benchmarks.one_process_scan MUSIC_ID`, while `sametrack sandbox`
runs. Service, worker and run are those of `sametrack up`; only the executor differs, which executes
the run here instead of in a process of its own. docs/scan.md has ten breakpoints.
"""

import sys
import threading
from concurrent.futures import Future
from contextlib import ExitStack

from dagster import DagsterInstance
from starlette.testclient import TestClient

from api.process import build_app_from_settings
from api.services.job_feed import JobBroadcaster
from api.settings import ApiSettings
from pipelines.orchestration.dagster_compat import execute_run
from pipelines.orchestration.runs.open_instance import open_instance
from pipelines.orchestration.worker.launch import JobLauncher, Launched
from pipelines.orchestration.worker.worker import Worker
from pipelines.scan.runtime import open_runtime

JOBS = "/api/v1/vidplat/app/v3/music_collection_jobs"


class EndedRun:
    """A run that was executed to its end."""

    def has_begun(self) -> bool:
        return True

    def is_over(self) -> bool:
        return True

    def kill(self) -> None:
        """Nothing runs any more."""


class ExecutorHere:
    """Executes each run in this process, at once."""

    outlives_worker = False

    def __init__(self, instance: DagsterInstance) -> None:
        self._instance = instance

    def start(self, run_id: str) -> EndedRun:
        execute_run(self._instance, run_id)
        return EndedRun()


class LauncherHere(JobLauncher):
    """Prepares and executes a job in this thread, because a debugger follows the main one."""

    def launch(
        self, job_id: str, run_number: int, *, waited_for: str | None = None
    ) -> Future[Launched]:
        future: Future[Launched] = Future()
        future.set_result(self._launch(job_id, run_number, waited_for))
        return future


def main(music_id: str) -> None:
    """Ask for a scan as a client does, claim it as a worker does, execute it as a run does."""
    if trace := sys.gettrace():
        threading.settrace(trace)  # pdb stops in threads, too: the service answers in one
    settings = ApiSettings()
    body = {"input": music_id, "candidate_limit": 20, "refresh": True}
    with (
        build_app_from_settings(settings, feed=JobBroadcaster(limit=1)) as app,
        TestClient(app, base_url="http://127.0.0.1:8780") as client,
    ):
        asked = client.post(JOBS, json=body).raise_for_status().json()["data"]
        with ExitStack() as stack:
            runtime = open_runtime(settings, stack)
            instance = stack.enter_context(open_instance(runtime.home))
            launcher = LauncherHere(runtime, instance, ExecutorHere(instance))
            worker = Worker("one process", settings, runtime.control, instance, launcher)
            worker.step()
            worker.step()
        job = client.get(f"{JOBS}/{asked['job_id']}").raise_for_status().json()["data"]
        print(job["job_id"], job["status"])


if __name__ == "__main__":
    main(sys.argv[1])
