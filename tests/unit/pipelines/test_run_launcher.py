"""Where Dagster's runs go: the code server, or Celery workers with `CELERY_BROKER_URL`."""

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from dagster import DagsterRun, DefaultRunLauncher

from pipelines.orchestration.runs import launcher as launchers
from pipelines.orchestration.runs.launcher import JobRunLauncher
from pipelines.orchestration.runs.run_identity import ORIGIN_TAG
from warehouse.records.errors import WorkerUnavailableError

BROKER = "redis://127.0.0.1:1/0"


class FakeCelery:
    """Remembers what it was asked."""

    def __init__(self) -> None:
        self.launched: list[Any] = []
        self.terminated: list[str] = []

    def register_instance(self, instance: Any) -> None:
        self.instance = instance

    def launch_run(self, context: Any) -> None:
        self.launched.append(context)

    def terminate(self, run_id: str) -> bool:
        self.terminated.append(run_id)
        return True


class FakeInstance:
    """An instance with one run."""

    def __init__(self, *, is_of_a_job: bool) -> None:
        self.canceling: list[str] = []
        self._run = DagsterRun(job_name="scan", tags={ORIGIN_TAG: "api"} if is_of_a_job else {})

    def get_run_by_id(self, run_id: str) -> DagsterRun | None:
        return self._run if run_id == "one" else None

    def report_run_canceling(self, run: DagsterRun) -> None:
        self.canceling.append("one" if run is self._run else "another")


@pytest.fixture
def celery(monkeypatch: pytest.MonkeyPatch) -> FakeCelery:
    fake = FakeCelery()
    monkeypatch.setattr(launchers, "_open_celery", lambda: fake)
    return fake


def launcher_of(instance: FakeInstance) -> JobRunLauncher:
    made = JobRunLauncher()
    made.register_instance(instance)  # type: ignore[arg-type]  # what is used of one
    return made


def test_with_a_broker_runs_go_to_celery(celery: FakeCelery) -> None:
    instance = FakeInstance(is_of_a_job=True)
    context: Any = SimpleNamespace()
    launcher_of(instance).launch_run(context)
    assert celery.launched == [context]
    assert celery.instance is instance


def test_without_a_broker_they_go_to_the_code_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CELERY_BROKER_URL", "")
    launched: list[Any] = []
    monkeypatch.setattr(
        DefaultRunLauncher, "launch_run", lambda _self, context: launched.append(context)
    )
    context: Any = SimpleNamespace()
    JobRunLauncher().launch_run(context)
    assert launched == [context]


def test_terminate_asks_the_run_of_a_job_to_end_at_a_safe_point(celery: FakeCelery) -> None:
    instance = FakeInstance(is_of_a_job=True)
    assert launcher_of(instance).terminate("one")
    assert (instance.canceling, celery.terminated) == (["one"], [])


def test_terminate_ends_any_other_run_where_it_runs(celery: FakeCelery) -> None:
    instance = FakeInstance(is_of_a_job=False)
    assert launcher_of(instance).terminate("one")
    assert (instance.canceling, celery.terminated) == ([], ["one"])


def test_terminate_of_an_unknown_run_did_not_work(celery: FakeCelery) -> None:
    assert not launcher_of(FakeInstance(is_of_a_job=True)).terminate("none")
    assert celery.terminated == []


def test_a_broker_without_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CELERY_BROKER_URL", BROKER)
    monkeypatch.setattr("warehouse.extras.missing_libraries", lambda _extra: ["celery"])
    with pytest.raises(WorkerUnavailableError, match="CELERY_BROKER_URL needs the extra 'celery'"):
        JobRunLauncher()


def test_without_a_broker_no_run_waits_for_a_worker() -> None:
    instance: Any = SimpleNamespace(run_launcher=JobRunLauncher())
    assert not launchers.has_waiting_runs(instance)


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
