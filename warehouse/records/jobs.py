"""Jobs: their statuses, allowed transitions, stages and progress.

Stored by the control store and driven by the worker.
"""

import hashlib
import unicodedata
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from typing import Any, Literal

import orjson

JobStatus = Literal["queued", "running", "completed", "failed", "cancelled"]
Origin = Literal["api", "cli", "console", "schedule", "launchpad"]
WaitingFor = Literal["worker", "processor", "host_pause", "budget", "disk", "lease"]
"""What a job waits for: a worker to claim it, a process to begin it, a host that asked for a pause,
the daily budget of a host, space on the disk, or an equal job that already runs."""

MAX_ATTEMPTS = 3
"""A job that lost its worker so often fails: whatever it does may be what kills them."""

LONGEST_WAIT_S = 600.0
"""A job that waits for a resource is tried again at the latest after so long: a budget may have
been raised, a pause withdrawn."""

SCAN, KEYWORD_SEARCH, DISCOVERY = "scan", "keyword_search", "discovery"
JOB_KINDS = (SCAN, KEYWORD_SEARCH, DISCOVERY)
"""Kinds of job: scan a track, search for a song's name alone, discover related videos."""

PRIORITY_INTERACTIVE = 100
PRIORITY_SCHEDULED = 10

FINAL_STATUSES: frozenset[JobStatus] = frozenset({"completed", "failed", "cancelled"})
TRANSITIONS: dict[JobStatus, frozenset[JobStatus]] = {
    "queued": frozenset({"running", "completed", "failed", "cancelled"}),
    "running": frozenset({"queued", "completed", "failed", "cancelled"}),
    "completed": frozenset(),
    "failed": frozenset(),
    "cancelled": frozenset(),
}
STAGES: tuple[str, ...] = (
    "resolving",
    "track",
    "music_first_screen",
    "author_first_screens",
    "hashtag_first_screens",
    "search_pages",
    "candidates",
    "video_details",
    "confirmed_videos",
    "account_profiles",
    "rankings",
    "job_results",
)


def keyword_subject(keyword: str) -> str:
    """Return the subject of a search by name, the same for equal names: `keyword:<hash>`."""
    name = unicodedata.normalize("NFKC", keyword).casefold().strip()
    return f"keyword:{hashlib.sha256(name.encode()).hexdigest()[:16]}"


def can_transition(before: JobStatus, after: JobStatus) -> bool:
    """Return True if a job may change from status `before` to status `after`."""
    return after in TRANSITIONS[before]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressRecord:
    """Progress of a job. Counts only grow; `eta_s` and its bounds are None if there is no estimate.

    `continued_from` is the stage whose checkpoint the present run began with, `continued_round` the
    round of listening if it was within that stage; both None for a run from the beginning.
    """

    stage: str = "resolving"
    stage_index: int = 0
    stage_count: int = len(STAGES)
    candidate_pool_count: int = 0
    confirmed_count: int = 0
    detail_checked_count: int = 0
    audio_checked_count: int = 0
    search_page_count: int = 0
    account_profile_count: int = 0
    requests_used: int = 0
    eta_s: float | None = None
    eta_range_s: tuple[float, float] | None = None
    updated_at: str | None = None
    waiting_for: WaitingFor | None = None
    continued_from: str | None = None
    continued_round: int | None = None

    def to_document(self) -> dict[str, object]:
        """Return plain JSON values, in the order of the fields."""
        return asdict(self)

    def at(self, stage: str) -> "ProgressRecord":
        """Return the same counts at another stage."""
        return replace(self, stage=stage, stage_index=STAGES.index(stage))


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One job row. Times are UTC. `target` is the music id once known, else the input as given.

    `error` is the error document of the API (`type`, `detail`, `hint`, `retry_after`, `upstream`);
    None unless the job failed. `run_number` counts the runs of the job; a run that holds an older
    number has lost the job and writes nothing. `attempt` is one more than the runs that were lost:
    a worker that is stopped hands its job back, which costs no attempt.
    """

    job_id: str
    kind: str
    status: JobStatus
    input: str
    target: str
    music_id: str | None
    parameters: dict[str, object]
    fingerprint: str
    scan_key: str | None
    origin: Origin
    priority: int
    progress: ProgressRecord
    error: dict[str, object] | None
    cancel_requested: bool
    worker_id: str | None
    heartbeat_at: datetime | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    expires_at: datetime | None
    attempt: int = 1
    run_number: int = 0

    @classmethod
    def from_columns(cls, columns: Mapping[str, Any]) -> "Job":  # of the columns' types
        """Build a job from its row in the control store: times in Unix seconds, documents as JSON.

        Fields of progress that this release does not know are dropped: another one may have written
        the job.
        """
        values = dict(columns)
        for name in _TIMES:
            if values[name] is not None:
                values[name] = datetime.fromtimestamp(values[name], UTC)
        for name in _DOCUMENTS:
            if values[name] is not None:
                values[name] = orjson.loads(values[name])
        progress = values["progress"]
        eta_range_s = progress.get("eta_range_s")
        progress["eta_range_s"] = None if eta_range_s is None else tuple(eta_range_s)
        values["progress"] = ProgressRecord(
            **{name: value for name, value in progress.items() if name in _PROGRESS_FIELDS}
        )
        values["cancel_requested"] = bool(values["cancel_requested"])
        return cls(**values)


_TIMES = ("heartbeat_at", "created_at", "started_at", "finished_at", "expires_at")
_DOCUMENTS = ("parameters", "progress", "error")
_PROGRESS_FIELDS = frozenset(field.name for field in fields(ProgressRecord))
