"""The run launcher: "Terminate" in Dagster's UI requests a scan's end at a safe point.

Configured in `dagster.yaml`, so every Dagster process loads it. The worker's processes or a code
server execute the runs of jobs; killing them would lose the reason of their end.
"""

from typing import override

from dagster import DefaultRunLauncher

from pipelines.orchestration.runs.run_identity import ORIGIN_TAG


class JobRunLauncher(DefaultRunLauncher):
    """Dagster's default launcher, except that "Terminate" marks a job's run as canceling."""

    @override
    def terminate(self, run_id: str) -> bool:
        """Request the end of a job's run, or terminate another run; return whether that worked."""
        run = self._instance.get_run_by_id(run_id)
        if run is None or run.is_finished or ORIGIN_TAG not in run.tags:
            return bool(super().terminate(run_id))  # type: ignore[no-untyped-call]  # Dagster's own
        self._instance.report_run_canceling(run)
        return True
