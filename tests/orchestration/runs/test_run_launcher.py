"""What "Terminate" does in Dagster, and Celery workers with `CELERY_BROKER_URL`."""

import pytest
from dagster import DagsterRun, DefaultRunLauncher

from pipelines.orchestration.runs import celery_runs
from pipelines.orchestration.runs.celery_runs import (
    DAY_S,
    CeleryJobLauncher,
    count_waiting,
    make_worker_app,
)
from pipelines.orchestration.runs.local import JobRunLauncher
from pipelines.orchestration.runs.reconciliation import ORIGIN_TAG
from warehouse.records.errors import WorkerUnavailableError

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
def broker(monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of a broker that nobody answers at."""
    monkeypatch.setenv("CELERY_BROKER_URL", BROKER)
    return BROKER


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


def test_celery_asks_the_run_of_a_job_to_end_alike(broker: str) -> None:
    launcher = CeleryJobLauncher.from_config_value(None, {})
    instance = FakeInstance(is_of_a_job=True)
    launcher.register_instance(instance)  # type: ignore[arg-type]  # what is used of one
    assert (launcher.terminate("one"), launcher.terminate("none")) == (True, False)
    assert (instance.canceling, launcher.broker) == (["one"], broker)


def test_a_broker_that_cannot_be_asked_may_have_runs_that_wait() -> None:
    assert (count_waiting(BROKER), count_waiting("memory://")) == (None, 0)


def test_a_worker_takes_one_run_at_a_time_and_only_once(broker: str) -> None:
    app = make_worker_app()
    assert "execute_job" in app.tasks
    assert (app.conf.worker_disable_prefetch, app.conf.task_acks_late) == (True, False)
    assert app.conf.broker_transport_options["visibility_timeout"] > DAY_S
    assert app.conf.broker_url == broker


def test_a_worker_without_a_broker_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CELERY_BROKER_URL", raising=False)
    with pytest.raises(WorkerUnavailableError, match="CELERY_BROKER_URL is not set"):
        _ = celery_runs.app
