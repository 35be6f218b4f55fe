"""The run launcher: where Dagster's runs are executed, and what "Terminate" does.

Configured in `dagster.yaml`, so every Dagster process loads it. Runs are executed by the code
server, or by Celery workers with `CELERY_BROKER_URL`. Ending a scan's process would lose the reason
of its end, so "Terminate" requests its end at a safe point.
"""

from typing import override

from dagster import DagsterInstance, DefaultRunLauncher

from pipelines.orchestration.dagster_compat import (
    ConfigurableClassData,
    LaunchRunContext,
    RunLauncher,
)
from pipelines.orchestration.runs.run_identity import ORIGIN_TAG
from pipelines.settings import Settings
from warehouse.extras import need_extra
from warehouse.records.errors import WorkerUnavailableError


class JobRunLauncher(DefaultRunLauncher):
    """Dagster's default launcher, or Celery; "Terminate" marks a job's run as canceling."""

    def __init__(self, inst_data: ConfigurableClassData | None = None) -> None:
        super().__init__(inst_data)
        self._celery = _open_celery()

    @override
    def register_instance(self, instance: DagsterInstance) -> None:
        """Give the instance to both launchers."""
        super().register_instance(instance)
        if self._celery is not None:
            self._celery.register_instance(instance)

    @override
    def launch_run(self, context: LaunchRunContext) -> None:
        """Send a run to its executor."""
        if self._celery is None:
            super().launch_run(context)
        else:
            self._celery.launch_run(context)

    @override
    def terminate(self, run_id: str) -> bool:
        """Request the end of a job's run, or terminate another run; return whether that worked."""
        run = self._instance.get_run_by_id(run_id)
        if run is None or run.is_finished:
            return False
        if ORIGIN_TAG in run.tags:
            self._instance.report_run_canceling(run)
            return True
        if self._celery is None:
            return bool(super().terminate(run_id))  # type: ignore[no-untyped-call]  # Dagster's own
        return bool(self._celery.terminate(run_id))

    def has_waiting_runs(self) -> bool:
        """Whether runs wait for a Celery worker; also if the broker cannot say so at the moment."""
        broker = Settings().celery_broker_url
        if self._celery is None or broker is None:
            return False
        from pipelines.orchestration.runs.celery_runs import count_waiting  # noqa: PLC0415  # an extra

        return count_waiting(broker.get_secret_value()) != 0


def has_waiting_runs(instance: DagsterInstance) -> bool:
    """Whether launched runs wait for an executor. Dagster's other launchers start them at once."""
    launcher = instance.run_launcher
    return isinstance(launcher, JobRunLauncher) and launcher.has_waiting_runs()


def _open_celery() -> RunLauncher | None:
    """Return the launcher of `CELERY_BROKER_URL`, or None without one.

    Raises:
        WorkerUnavailableError: The extra `celery` is missing.
    """
    broker = Settings().celery_broker_url
    if broker is None:
        return None
    need_extra("celery", "CELERY_BROKER_URL", error=WorkerUnavailableError)
    from pipelines.orchestration.runs.celery_runs import open_celery_launcher  # noqa: PLC0415  # an extra

    return open_celery_launcher(broker.get_secret_value())
