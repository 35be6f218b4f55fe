"""Run maintenance outside Dagster: in a thread of the worker, or from the command line.

Holds opening the stores and the thread. Not here: the maintenance itself (`maintenance.py`).
"""

import threading
from contextlib import ExitStack
from dataclasses import asdict

import structlog

from pipelines.open_stores import open_chosen_home
from pipelines.orchestration.runs.open_instance import open_instance
from pipelines.orchestration.worker.maintenance import (
    MaintenanceReport,
    StoreMaintainer,
    open_maintainer,
)
from pipelines.settings import Settings

MAINTENANCE_EVERY_S = 600.0
MAINTENANCE_RETRY_S = 10.0
FIRST_MAINTENANCE_S = 60.0
log = structlog.get_logger(__name__)


def maintain_once(settings: Settings) -> MaintenanceReport:
    """Run all maintenance on newly opened stores.

    Raises:
        ProfileNotChosenError: No platform profile is selected.
        WarehouseError: A store cannot be opened, read or written.
    """
    with ExitStack() as stack:
        return _open(settings, stack).maintain()


def delete_expired_once(settings: Settings) -> MaintenanceReport:
    """Delete a bounded part of the expired data of newly opened stores, for a background thread."""
    with ExitStack() as stack:
        return _open(settings, stack).delete_expired()


def _open(settings: Settings, stack: ExitStack) -> StoreMaintainer:
    home = open_chosen_home(settings)
    return open_maintainer(settings, home, stack.enter_context(open_instance(home)), stack)


def run_maintenance(settings: Settings, stop: threading.Event) -> None:
    """Delete expired data now and then, a bounded part each time, until the event is set."""
    pause_s = FIRST_MAINTENANCE_S
    while not stop.wait(pause_s):
        pause_s = MAINTENANCE_EVERY_S
        try:
            report = delete_expired_once(settings)
        except Exception:
            log.exception("clean-up failed")
            continue
        log.info("expired data deleted", **asdict(report))
        pause_s = MAINTENANCE_RETRY_S if report.is_more else MAINTENANCE_EVERY_S
