"""A cluster of real processes on this machine, started as `make up-cluster` does it."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx2
import psutil
from celery import Celery

from api.cli.processes.child_processes import ChildProcessGroup, Supervisor
from deploy.local.cluster import Cluster, ClusterPlan

JOBS = "/api/v1/vidplat/app/v3/music_collection_jobs"
ENDED = ("completed", "failed", "cancelled")
PATIENCE_S = 900.0
ANSWER_S = 2.0
"""Time that Celery workers have to answer."""


@dataclass
class OpenCluster:
    """A cluster that is ready. Waiting here also supervises: what was killed is started again."""

    cluster: Cluster
    process_group: ChildProcessGroup
    supervisor: Supervisor
    client: httpx2.Client

    def tracks(self) -> list[str]:
        """Music ids of the tracks of its world, most used first."""
        port = self.cluster.plan.sandbox_port
        answer = httpx2.get(f"http://127.0.0.1:{port}/_world/tracks", timeout=60).json()
        return [str(track["music_id"]) for track in answer["tracks"]]

    def ask(self, music_id: str, **given: object) -> str:
        """Start a scan; returns the job."""
        answer = self.client.post(JOBS, json={"music_id": music_id, **given})
        answer.raise_for_status()
        return str(answer.json()["data"]["job_id"])

    def job(self, job_id: str) -> Any:
        return self.client.get(f"{JOBS}/{job_id}").raise_for_status().json()["data"]

    def cancel(self, job_id: str) -> None:
        self.client.delete(f"{JOBS}/{job_id}").raise_for_status()

    def wait(self, look: Callable[[], object]) -> None:
        until = time.monotonic() + PATIENCE_S
        while not look():
            assert time.monotonic() < until, "what was waited for did not happen"
            self.supervisor.step()
            time.sleep(0.1)

    def ended(self, job_id: str) -> Any:
        """Wait for the end of a job; returns its document."""
        self.wait(lambda: self.job(job_id)["status"] in ENDED)
        return self.job(job_id)

    def kill_celery_worker(self, number: int) -> None:
        """Kill a worker with all that it started, as the loss of its machine would."""
        (worker,) = [one for one in self.process_group.children if one.name == f"celery-{number}"]
        process = psutil.Process(worker.process.pid)
        for one in (process, *process.children(recursive=True)):
            one.kill()

    def restart_store(self, name: str, *, down_s: float) -> None:
        """Stop PostgreSQL, Redis or the S3 server, and start it again after so many seconds."""
        (store,) = [one for one in self.process_group.children if one.name == name]
        self.process_group.stop(store)
        time.sleep(down_s)
        self.process_group.start(store.program)

    def is_ready(self) -> bool:
        """Whether the service reports that its stores and a worker can be reached."""
        return self.client.get("/readyz").is_success

    def busy_workers(self) -> list[int]:
        """Celery workers that execute a run, as they say themselves."""
        with Celery(broker=self.cluster.redis.url) as app:
            active = app.control.inspect(timeout=ANSWER_S).active() or {}
        # celery-2@host
        return [int(name.split("@")[0].partition("-")[2]) for name, runs in active.items() if runs]


@contextmanager
def open_cluster(**plan: Any) -> Iterator[OpenCluster]:
    """Start a cluster and wait until it is ready; everything ends with the block.

    Its sandbox stands still: results are compared, and a full hour may pass between them.
    """
    with TemporaryDirectory() as folder, ChildProcessGroup() as process_group:
        Path(folder).chmod(0o711)  # PostgreSQL runs as another user where we are root
        cluster = Cluster(ClusterPlan(folder=Path(folder), calendar="fixed", **plan))
        cluster.start_stores(process_group)
        is_ready: list[bool] = []
        announce = lambda: is_ready.append(True)  # noqa: E731 -- as short as it is
        supervisor = Supervisor(process_group, cluster.programs(), on_ready=announce)
        address = f"http://127.0.0.1:{cluster.plan.api_port}"
        with httpx2.Client(base_url=address, timeout=120) as client:
            opened = OpenCluster(cluster, process_group, supervisor, client)
            opened.wait(lambda: is_ready)
            yield opened
