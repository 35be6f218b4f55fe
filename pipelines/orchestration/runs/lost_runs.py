"""Runs that are no scans and have lost their process: watchlists, maintenance, reports.

Not here: runs of jobs, which workers reconcile (`reconciliation`).
"""

from socket import AF_UNIX, socket

import orjson
from dagster import DagsterInstance, DagsterRun, DagsterRunStatus, RunsFilter

from pipelines.orchestration.dagster_compat import GRPC_INFO_TAG
from pipelines.orchestration.runs.reconciliation import PROCESS_GONE
from pipelines.orchestration.runs.run_identity import ORIGIN_TAG

_UNDER_WAY = (DagsterRunStatus.STARTING, DagsterRunStatus.STARTED, DagsterRunStatus.CANCELING)


def end_unserved_runs(instance: DagsterInstance) -> list[str]:
    """End the runs under way whose code server is gone, and their process with it; return the ids.

    Nobody else reports their end: Dagster would show them as running for ever, and a watchlist
    would wait for its own. Code servers are known by the file of their socket, so only those of
    this machine.
    """
    under_way = instance.get_runs(RunsFilter(statuses=list(_UNDER_WAY)))
    lost = [run for run in under_way if ORIGIN_TAG not in run.tags and _is_unserved(run)]
    for run in lost:
        instance.report_run_failed(run, message=PROCESS_GONE)
    return [run.run_id for run in lost]


def _is_unserved(run: DagsterRun) -> bool:
    """Whether a code server launched the run and nobody listens to its socket any more."""
    path = orjson.loads(run.tags.get(GRPC_INFO_TAG, "{}")).get("socket")
    if path is None:
        return False
    with socket(AF_UNIX) as connection:
        try:
            connection.connect(path)
        except OSError:
            return True
    return False
