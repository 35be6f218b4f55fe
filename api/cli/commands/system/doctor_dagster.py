"""The check of `sametrack doctor` for Dagster: its storage and its daemons.

Loads Dagster: import it late.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager

from dagster import DagsterInstance

from pipelines.doctor.check_results import CheckResult
from pipelines.doctor.checks.machine import START_ADVICE

_SERVER_ADVICE = "check DAGSTER_STORAGE_URL and its server"
_FOLDER_ADVICE = (
    "check the folder `dagster` in the data home; deleting it also deletes its run history"
)

type OpenInstance = Callable[[], AbstractContextManager[DagsterInstance]]


def check_orchestrator(open_instance: OpenInstance, *, has_server: bool = False) -> CheckResult:
    """Check that the storage opens and that the daemons send heartbeats.

    Args:
        open_instance: Opens Dagster's instance.
        has_server: Whether the storage is in PostgreSQL instead of the data home.
    """
    try:
        with open_instance() as instance:
            runs = instance.get_runs_count()
            statuses = instance.get_daemon_statuses(instance.get_required_daemon_types())
    except Exception as error:  # noqa: BLE001  # Dagster passes on any error of its storage
        advice = _SERVER_ADVICE if has_server else _FOLDER_ADVICE
        return CheckResult("dagster", "fail", f"does not open ({type(error).__name__})", advice)
    silent = sorted(name.lower() for name, status in statuses.items() if not status.healthy)
    if silent:
        return CheckResult(
            "dagster", "warn", f"opens, {runs:,} runs; daemons send no heartbeat", START_ADVICE
        )
    return CheckResult("dagster", "ok", f"opens, {runs:,} runs; {len(statuses)} daemons alive")
