"""The states of a job and the moves between them: what tests judge by. And a running job.

Not the product's own table: a test that asked it would find every move legal that it allows.
"""

from datetime import UTC, datetime

from warehouse.records.jobs import Job, JobStatus, ProgressRecord

STATES: tuple[JobStatus, ...] = ("queued", "running", "completed", "failed", "cancelled")
ATTEMPTS = 3
FINAL: frozenset[JobStatus] = frozenset({"completed", "failed", "cancelled"})
LEGAL_MOVES: dict[JobStatus, frozenset[JobStatus]] = {
    # a job that waits may end, too: it is cancelled, no worker can take it, or it waits again
    # although its result is there already
    "queued": frozenset({"running", "completed", "failed", "cancelled"}),
    # a job whose worker is gone or was stopped goes back into the queue
    "running": frozenset({"queued", "completed", "failed", "cancelled"}),
    "completed": frozenset(),
    "failed": frozenset(),
    "cancelled": frozenset(),
}

NOW = datetime(2026, 11, 22, tzinfo=UTC)
JOB = Job(
    job_id="j",
    kind="scan",
    status="running",
    input="x",
    target="x",
    music_id=None,
    parameters={},
    fingerprint="f",
    scan_key=None,
    origin="api",
    priority=100,
    progress=ProgressRecord(),
    error=None,
    cancel_requested=False,
    worker_id="w",
    heartbeat_at=NOW,
    created_at=NOW,
    started_at=NOW,
    finished_at=None,
    expires_at=None,
)
