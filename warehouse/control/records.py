"""What goes into the control store and comes out of it, besides `warehouse.records.jobs.Job`."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

from warehouse.records.jobs import Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    """A job to create. `target` is the music id where the input shows it, else the input.

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
class Grant:
    """The answer to a wish for one request: wait `wait_s` seconds, then make it.

    `spent`: the daily budget is used up, no request was granted, and `wait_s` is the time until
    the next day (UTC).
    """

    wait_s: float
    spent: bool


class Link(NamedTuple):
    """What a remembered link leads to."""

    kind: str
    target: str


class CaptureLine(NamedTuple):
    """What another process should hear of a capture: the entity it is about, and the news."""

    entity: str
    document: dict[str, object]


class OutboxLine(NamedTuple):
    """Something to tell another process."""

    kind: str
    document: dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """Whether a surface may be asked now. `is_probe`: this request decides whether it is left
    alone further; `cause` is the error type that opened the circuit, `wait_s` how long it stays
    open. `is_clean`: nothing went wrong lately, and that it works was noted a moment ago.
    """

    is_allowed: bool
    is_probe: bool = False
    is_clean: bool = False
    wait_s: float = 0.0
    cause: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CircuitState:
    """What is known of a surface at a host. `open_until` None: it may be asked."""

    host: str
    surface: str
    failures: int
    cause: str | None
    open_until: datetime | None
    failed_at: datetime | None
    worked_at: datetime | None


class Turn(NamedTuple):
    """The answer to a wish to capture: `is_ours`, or `owner` captures and is to be waited for."""

    is_ours: bool
    owner: str


class Handover(NamedTuple):
    """What became of somebody else's capture: over or not, and the row it left, if it left one."""

    is_over: bool
    capture_id: str | None


class Remembered(NamedTuple):
    """What a server gave to ask again with, and the hash of the body it belongs to."""

    etag: str | None
    last_modified: str | None
    payload_sha256: str


class RobotsFile(NamedTuple):
    """A host's robots file: `status` None: nothing came; `body` is empty where there is none."""

    status: int | None
    body: str
    fetched_at: datetime


class Wanted(NamedTuple):
    """A capture that was left for later: what is needed to make it, and the tries until now."""

    entity_id: str
    document: dict[str, object]
    tries: int


RobotsVerdict = Literal["allowed", "disallowed", "unknown"]


class RobotsDecision(NamedTuple):
    """What a host's robots file says of a surface."""

    host: str
    surface: str
    decision: RobotsVerdict
    reason: str
    decided_at: datetime
