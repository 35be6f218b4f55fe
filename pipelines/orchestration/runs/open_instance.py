"""Open Dagster's instance of a home."""

import fcntl
import os

from dagster import DagsterInstance

from pipelines.orchestration.instance import dagster_environment
from pipelines.settings import Settings
from warehouse.home import Home


def open_instance(home: Home) -> DagsterInstance:
    """Open the Dagster instance of a home, as the settings choose it.

    Raises:
        WarehouseUnavailableError: `DAGSTER_STORAGE_URL` cannot be used.
        WorkerUnavailableError: `CELERY_BROKER_URL` is set without the extra `celery`.
    """
    environment = dagster_environment(Settings(), home)
    os.environ.update(environment)  # for the programs that this one starts
    # Programs that create the tables of a new home at the same time would hit a locked database.
    with (home.dagster_dir / "opening.lock").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        return DagsterInstance.from_config(environment["DAGSTER_HOME"])
