"""The launcher of runs in Dagster's code server, with our own "Terminate".

`dagster.yaml` configures it, so every Dagster process loads it. Killing a scan's process would lose
the reason of its end, so "Terminate" requests its end at a safe point.
"""

from typing import override

from dagster import DagsterInstance, DefaultRunLauncher

from pipelines.orchestration.runs.run_identity import ORIGIN_TAG


class JobRunLauncher(DefaultRunLauncher):
    """Dagster's default launcher; "Terminate" marks the run of a job as canceling."""

    @override
    def terminate(self, run_id: str) -> bool:
        """Request the end of a job's run, or terminate another run; return whether that worked."""
        is_requested = request_end(self._instance, run_id)
        return bool(super().terminate(run_id)) if is_requested is None else is_requested  # type: ignore[no-untyped-call]  # Dagster's own


def request_end(instance: DagsterInstance, run_id: str) -> bool | None:
    """Mark the run of a job as canceling, which its heartbeat notices.

    Returns:
        True if it was marked, False if the run has ended or is unknown, None if it is not the run
        of a job and nothing was done.
    """
    run = instance.get_run_by_id(run_id)
    if run is None or run.is_finished:
        return False
    if ORIGIN_TAG not in run.tags:
        return None
    instance.report_run_canceling(run)
    return True
