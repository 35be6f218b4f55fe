"""Records of the control store, besides `warehouse.records.jobs.Job`."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

from warehouse.records.jobs import Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    """A job to create. `target` is the music id if the input contains it, else the input.

    `job_id` None: a fresh UUID.
    """

    kind: str
    input: str
    target: str
    music_id: str | None
    parameters: dict[str, object]
    fingerprint: str
    scan_key: str | None
    origin: Origin
    priority: int
    job_id: str | None = None


@dataclass(frozen=True, slots=True)
class TokenGrant:
    """Permission for one request: wait `wait_s` seconds, then send it.

    `spent`: the daily budget is used up, no request is granted, and `wait_s` is the time until the
    next day (UTC).
    """

    wait_s: float
    spent: bool


class CachedLink(NamedTuple):
    """Cached target of a link."""

    kind: str
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CircuitDecision:
    """Whether a surface may be requested now.

    `is_probe`: this request decides whether the circuit closes; `cause` is the error type that
    opened it, `wait_s` how long it stays open. `is_clean`: no recent failure, and a success was
    recorded a moment ago.
    """

    is_allowed: bool
    is_probe: bool = False
    is_clean: bool = False
    wait_s: float = 0.0
    cause: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CircuitState:
    """State of the circuit of a surface at a host. `open_until` None: closed."""

    host: str
    surface: str
    failures: int
    cause: str | None
    open_until: datetime | None
    failed_at: datetime | None
    worked_at: datetime | None


class CaptureClaim(NamedTuple):
    """Result of claiming a capture: it `is_ours`, or `owner` is reading it and we wait."""

    is_ours: bool
    owner: str


class ClaimedCaptureState(NamedTuple):
    """State of another caller's capture: finished or not, and the capture it left, if any."""

    is_over: bool
    capture_id: str | None


class CacheValidators(NamedTuple):
    """Cache validators of a response, and the hash of its body."""

    etag: str | None
    last_modified: str | None
    payload_sha256: str


class StoredRobotsFile(NamedTuple):
    """The robots file of a host. `status` None: no response; `body` is empty if there is none."""

    status: int | None
    body: str
    fetched_at: datetime


class BacklogItem(NamedTuple):
    """A capture in the backlog: the document needed to make it, and the tries so far."""

    entity_id: str
    document: dict[str, object]
    tries: int


RobotsVerdict = Literal["allowed", "disallowed", "unknown"]


class RobotsDecision(NamedTuple):
    """What the robots file of a host says about a surface."""

    host: str
    surface: str
    decision: RobotsVerdict
    reason: str
    decided_at: datetime
