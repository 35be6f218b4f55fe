"""Runs on Celery workers (`CELERY_BROKER_URL`), with the extra `celery`.

Start a worker on each machine with

    celery -A pipelines.orchestration.runs.celery_runs worker --concurrency 1

It executes whole Dagster runs, one after the other; its processes stay warm between them. A run
writes its own heartbeats and its own end, so no result backend is needed.
"""

from collections.abc import Mapping
from typing import Any, override

from celery import Celery, signals
from dagster import DagsterInstance
from dagster_celery.launcher import CeleryRunLauncher
from dagster_celery.make_app import make_app
from dagster_celery.tasks import create_execute_job_task
from kombu.exceptions import ChannelError, OperationalError

from pipelines.logs import configure_process_logging
from pipelines.orchestration.runs.local import request_end
from pipelines.settings import Settings
from warehouse.records.errors import WorkerUnavailableError

QUEUE = "dagster"
"""The queue of Dagster's tasks; `dagster-celery` declares it."""
DAY_S = 24 * 3600
OPTIONS = {
    "broker_connection_retry_on_startup": True,
    # Redis gives a message to another worker after this time, but a run must be taken only once.
    "broker_transport_options": {"visibility_timeout": 7 * DAY_S},
    # A worker that is busy must not hold the next run back from an idle one.
    "worker_prefetch_multiplier": 1,
    "worker_disable_prefetch": True,
    # Leave logs on stderr as they are: JSON, one object a line.
    "worker_hijack_root_logger": False,
    "worker_redirect_stdouts": False,
    "task_ignore_result": True,
    "task_default_queue": QUEUE,
}


def configure_logs(**_options: object) -> None:
    """Log as all other programs do: a receiver of this signal replaces Celery's own setup."""
    configure_process_logging()


signals.setup_logging.connect(configure_logs)


class CeleryJobLauncher(CeleryRunLauncher):
    """Dagster's launcher for Celery, with the broker of the settings.

    "Terminate" requests the end of a job's run, as in `JobRunLauncher`.
    """

    @classmethod
    @override
    def config_type(cls) -> dict[str, Any]:
        """Return the configuration schema: `dagster.yaml` sets nothing."""
        return {}

    @classmethod
    @override
    def from_config_value(
        cls, inst_data: Any, config_value: Mapping[str, Any]
    ) -> "CeleryJobLauncher":
        """Build the launcher from `dagster.yaml`."""
        return cls(
            default_queue=QUEUE,
            broker=read_broker(),
            config_source=dict(OPTIONS),
            inst_data=inst_data,
        )

    @override
    def terminate(self, run_id: str) -> bool:
        """Request the end of a job's run, or terminate another run; return whether that worked."""
        is_requested = request_end(self._instance, run_id)
        return bool(super().terminate(run_id)) if is_requested is None else is_requested


def has_waiting_runs(instance: DagsterInstance) -> bool:
    """Whether runs wait for a Celery worker; True also if the broker cannot be reached."""
    is_celery = isinstance(instance.run_launcher, CeleryJobLauncher)
    return is_celery and count_waiting(read_broker()) != 0


def count_waiting(broker: str) -> int | None:
    """Return the number of runs that no worker has taken; None if the broker cannot be reached."""
    celery_app: Celery = make_app(  # type: ignore[no-untyped-call]  # Dagster's own
        {"broker": broker, "config_source": dict(OPTIONS)}
    )
    try:
        with celery_app.connection_for_read() as connection:
            connection.ensure_connection(max_retries=1)
            queue = connection.channel().queue_declare(queue=QUEUE, passive=True)
    except ChannelError:  # the broker forgets an empty queue
        return 0
    except OperationalError:
        return None
    return int(queue.message_count)


def read_broker() -> str:
    """Return the address of Celery's broker.

    Raises:
        WorkerUnavailableError: CELERY_BROKER_URL is not set.
    """
    broker = Settings().celery_broker_url
    if broker is None:
        raise WorkerUnavailableError(
            "CELERY_BROKER_URL is not set", hint="CELERY_BROKER_URL is redis://<host>:6379/0"
        )
    return broker.get_secret_value()


def make_worker_app() -> Celery:
    """Return the application of a Celery worker.

    Raises:
        WorkerUnavailableError: CELERY_BROKER_URL is not set.
    """
    celery_app: Celery = make_app(  # type: ignore[no-untyped-call]  # Dagster's own
        {"broker": read_broker(), "config_source": dict(OPTIONS)}
    )
    create_execute_job_task(celery_app)
    return celery_app


def __getattr__(name: str) -> Celery:
    """Make `app` when Celery's command asks for it: only a worker needs one."""
    if name == "app":
        return make_worker_app()
    raise AttributeError(name)
