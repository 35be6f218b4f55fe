"""What goes into the control store and comes out of it, besides `pipelines.domain.jobs.Job`."""

from dataclasses import dataclass
from typing import NamedTuple

from pipelines.domain.jobs import Origin


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


class OutboxLine(NamedTuple):
    """Something to tell another process."""

    kind: str
    document: dict[str, object]
