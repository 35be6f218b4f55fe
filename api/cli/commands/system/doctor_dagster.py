"""The look of `sametrack doctor` at Dagster: its storage and, through it, its daemons.

Loads Dagster, so only the command line imports it, and late.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager

from dagster import DagsterInstance

from pipelines.doctor.checks.code_server import START
from pipelines.doctor.findings import Finding

type OpenInstance = Callable[[], AbstractContextManager[DagsterInstance]]


def check_orchestrator(open_instance: OpenInstance) -> Finding:
    """Its storage opens, and its daemons have been heard of."""
    try:
        with open_instance() as instance:
            runs = instance.get_runs_count()
            statuses = instance.get_daemon_statuses(instance.get_required_daemon_types())
    except Exception as error:  # noqa: BLE001  # Dagster raises what its storage raises
        advice = "look at the folder `dagster` of the data home; it may be removed: runs go with it"
        return Finding("dagster", "fail", f"does not open ({type(error).__name__})", advice)
    silent = sorted(name.lower() for name, status in statuses.items() if not status.healthy)
    if silent:
        return Finding("dagster", "warn", f"opens, {runs:,} runs; daemons are silent", START)
    return Finding("dagster", "ok", f"opens, {runs:,} runs; {len(statuses)} daemons alive")
