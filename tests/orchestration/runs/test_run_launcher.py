"""What "Terminate" does in Dagster, and Celery workers with `CELERY_BROKER_URL`."""

import subprocess
import sys

import pytest
from dagster import DagsterRun, DefaultRunLauncher

from pipelines.orchestration.runs.local import JobRunLauncher
from pipelines.orchestration.runs.reconciliation import ORIGIN_TAG

pytestmark = pytest.mark.full

BROKER = "redis://127.0.0.1:1/0"


class FakeInstance:
    """An instance with one run."""

    def __init__(self, *, is_of_a_job: bool) -> None:
        self.canceling: list[str] = []
        self._run = DagsterRun(job_name="scan", tags={ORIGIN_TAG: "api"} if is_of_a_job else {})

    def get_run_by_id(self, run_id: str) -> DagsterRun | None:
        return self._run if run_id == "one" else None

    def report_run_canceling(self, run: DagsterRun) -> None:
        self.canceling.append("one" if run is self._run else "another")


def launcher_of(instance: FakeInstance) -> JobRunLauncher:
    made = JobRunLauncher()
    made.register_instance(instance)  # type: ignore[arg-type]  # what is used of one
    return made


@pytest.fixture
def terminated(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The runs that Dagster itself was asked to terminate."""
    asked: list[str] = []

    def terminate(_self: object, run_id: str) -> bool:
        asked.append(run_id)
        return True

    monkeypatch.setattr(DefaultRunLauncher, "terminate", terminate)
    return asked


def test_terminate_asks_the_run_of_a_job_to_end_at_a_safe_point(terminated: list[str]) -> None:
    instance = FakeInstance(is_of_a_job=True)
    assert launcher_of(instance).terminate("one")
    assert (instance.canceling, terminated) == (["one"], [])


def test_terminate_ends_any_other_run_where_it_runs(terminated: list[str]) -> None:
    instance = FakeInstance(is_of_a_job=False)
    assert launcher_of(instance).terminate("one")
    assert (instance.canceling, terminated) == ([], ["one"])


def test_terminate_of_an_unknown_run_did_not_work(terminated: list[str]) -> None:
    assert not launcher_of(FakeInstance(is_of_a_job=True)).terminate("none")
    assert terminated == []


@pytest.mark.soak
def test_celery_asks_the_run_of_a_job_to_end_alike() -> None:
    code = (
        f"import os; os.environ['CELERY_BROKER_URL'] = {BROKER!r}\n"
        "from pipelines.orchestration.runs.celery_runs import CeleryJobLauncher\n"
        "from tests.orchestration.runs.test_run_launcher import FakeInstance\n"
        "launcher = CeleryJobLauncher.from_config_value(None, {})\n"
        "instance = FakeInstance(is_of_a_job=True)\n"
        "launcher.register_instance(instance)\n"
        "print(launcher.terminate('one'), launcher.terminate('none'))\n"
        "print(instance.canceling, launcher.broker)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", "False", "['one']", BROKER]


@pytest.mark.soak
def test_a_broker_that_cannot_be_asked_may_have_runs_that_wait() -> None:
    code = (
        "from pipelines.orchestration.runs.celery_runs import count_waiting\n"
        f"print(count_waiting({BROKER!r}), count_waiting('memory://'))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["None", "0"]


def test_a_worker_takes_one_run_at_a_time_and_only_once() -> None:
    code = (
        f"import os; os.environ['CELERY_BROKER_URL'] = {BROKER!r}\n"
        "from pipelines.orchestration.runs.celery_runs import app\n"
        "c = app.conf\n"
        "print('execute_job' in app.tasks, c.worker_disable_prefetch, c.task_acks_late,\n"
        "      c.broker_transport_options['visibility_timeout'] > 86_400, c.broker_url)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", "True", "False", "True", BROKER]


def test_a_worker_without_a_broker_is_told_what_to_set() -> None:
    code = "from pipelines.orchestration.runs.celery_runs import app"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False
    )
    assert "CELERY_BROKER_URL is not set" in done.stderr
