"""Runs that wait in a real broker for a Celery worker are counted."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.cli.processes.child_processes import ChildProcessGroup, is_listening
from deploy.local.stores import RedisServer
from tests.deployment import wait_for

pytestmark = pytest.mark.full

CODE = """
import sys
from dagster_celery.make_app import make_app
from dagster_celery.tasks import create_execute_job_task
from pipelines.orchestration.runs.celery_runs import OPTIONS, QUEUE, count_waiting
broker = sys.argv[1]
print(count_waiting(broker))
made = make_app({"broker": broker, "config_source": dict(OPTIONS)})
task = create_execute_job_task(made)
for priority in (0, 5):
    task.si(execute_job_args_packed={}).apply_async(queue=QUEUE, priority=priority,
                                                    routing_key=f"{QUEUE}.execute_job")
print(count_waiting(broker))
"""


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[str]:
    if shutil.which("redis-server") is None:
        pytest.skip("needs Redis: make setup-cluster")
    server = RedisServer(tmp_path)
    with ChildProcessGroup() as process_group:
        process_group.start(server.program())
        wait_for(lambda: is_listening(server.port) or None)
        yield server.url


def test_runs_of_every_priority_are_counted_until_a_worker_takes_them(broker: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CODE, broker],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.split() == ["0", "2"], done.stderr[-2000:]
