"""Checkpoints of a scan in `raw.scan_checkpoints`: write one, continue from the last one.

A checkpoint is appended after everything that its scan wrote before. Rows that a killed run wrote
after it are deleted when the next run begins, so that a repeated stage writes its rows once.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import structlog

from pipelines.scan.runtime import Runtime
from pipelines.scan.state.scan_state import ScanState, pack_state, state_revision, unpack_state
from warehouse.control import scan_journal
from warehouse.queries.results import read_checkpoints, read_marts_of_job
from warehouse.records.errors import WarehouseUnavailableError
from warehouse.records.jobs import Job
from warehouse.records.values import Row

CHECKPOINTS = "raw.scan_checkpoints"
log = structlog.get_logger("scan")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumedScan:
    """The state that a run begins with, and the stage and round of its checkpoint."""

    state: ScanState
    stage: str | None = None
    round_number: int | None = None


def resume_scan(runtime: Runtime, job: Job, *, fresh: ScanState) -> ResumedScan:
    """Return the state of the last checkpoint of a job; delete the rows that were written after it.

    The first run of a job begins with `fresh`. A later one without a usable checkpoint begins again
    from nothing: another release may have other stages, rules or versions, and a wrong state would
    be worse than the repeated requests.
    """
    if job.run_number <= 1:
        return ResumedScan(state=fresh)
    runtime.engine.refresh()
    row = next(iter(read_checkpoints(runtime.engine, job.job_id)), None)
    state = None if row is None else unpack_checkpoint(row)
    if row is not None and state is None:
        log.warning("checkpoint of another revision; the scan begins again", job_id=job.job_id)
        delete_checkpoints(runtime, job.job_id)
    # The checkpoint lists the marts whose rows were written before it; all later rows go.
    kept = set() if state is None else state.written
    for noun in read_marts_of_job(runtime.engine, job.job_id):
        if noun not in kept:
            runtime.lake.delete(f"marts.{noun}", "job_id", [job.job_id])
    if row is None or state is None:
        return ResumedScan(state=ScanState())
    round_number = None if row["round"] is None else row["round"] + 1
    return ResumedScan(state=state, stage=row["stage"], round_number=round_number)


def checkpoint_row(
    job: Job, state: ScanState, *, stage: str, round_number: int | None
) -> dict[str, object]:
    """Return the row of `raw.scan_checkpoints` for the present state."""
    return {
        "job_id": job.job_id,
        "number": state.checkpoint,
        "run_number": job.run_number,
        "stage": stage,
        "round": None if round_number is None else round_number - 1,  # from 0, as in the marts
        "revision": state_revision(),
        "state": pack_state(state),
    }


def find_state(
    runtime: Runtime,
    job_ids: Sequence[str],
    *,
    finished: Collection[str],
    unfinished: Collection[str],
    repeated: str | None = None,
) -> ScanState | None:
    """Return the newest stored state from which a new job can begin, of the first job that has one.

    Args:
        runtime: The open stores.
        job_ids: The jobs whose checkpoints may be used, the preferred one first.
        finished: Steps that must be finished in the state.
        unfinished: Steps that must not be finished in it.
        repeated: The job that the new one continues where it stopped. Only its states between two
            rounds can be used, and only if it has not ended its rounds: any other state between
            rounds contains comparisons that the new job must make again.
    """
    runtime.engine.refresh()
    for job_id in job_ids:
        continues = job_id == repeated
        for row in read_checkpoints(runtime.engine, job_id):
            state = unpack_checkpoint(row)
            if state is None:
                continue
            done = state.steps.keys()
            if not done.isdisjoint(unfinished):
                # Rows are newest first: this job ended its rounds after all that follow.
                continues = False
            elif done >= set(finished) and (continues or not state.is_between_rounds):
                return state
    return None


def delete_checkpoints(runtime: Runtime, job_id: str) -> None:
    """Delete the checkpoints and the journal of a job."""
    runtime.lake.delete(CHECKPOINTS, "job_id", [job_id])
    scan_journal.drop(runtime.control, job_id)


def unpack_checkpoint(row: Row) -> ScanState | None:
    """Return the state of a row of `raw.scan_checkpoints`; None if it is of another revision."""
    if row["revision"] != state_revision():
        return None
    try:
        return unpack_state(row["state"])
    except (ValueError, WarehouseUnavailableError):
        return None
