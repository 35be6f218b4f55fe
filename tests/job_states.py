"""The states of a job and the moves between them: what tests judge by.

Not the product's own table: a test that asked it would find every move legal that it allows.
"""

from warehouse.records.jobs import JobStatus

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
