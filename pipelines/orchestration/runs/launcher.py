"""How the orchestrator's UI ends the run of a job: it asks, and the scan ends at a safe point.

Named in `dagster.yaml`, so every process of the orchestrator loads it. Runs of jobs are executed
by the worker's own processes or by a code server; ending them by force would lose their reason.
"""

from typing import override

from dagster._core.launcher import DefaultRunLauncher

ORIGIN_TAG = "sametrack/origin"
"""On the run of every job; its value is where the job came from."""


class JobRunLauncher(DefaultRunLauncher):
    """Launches as Dagster does. "Terminate" marks the run of a job; its worker sees the mark."""

    @override
    def terminate(self, run_id: str) -> bool:
        """True when the run has been asked to end, or could be ended at once."""
        run = self._instance.get_run_by_id(run_id)
        if run is None or run.is_finished or ORIGIN_TAG not in run.tags:
            return bool(super().terminate(run_id))  # type: ignore[no-untyped-call]  # Dagster's own
        self._instance.report_run_canceling(run)
        return True
