"""Watchlists: what is scanned repeatedly, its runs and the check of each entry. Times are UTC.

Schedules, runs and the comparison of two runs are in `pipelines/watchlists`.
"""

import re
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Literal, get_args

from warehouse.records.errors import InvalidParameterError
from warehouse.records.jobs import Origin
from warehouse.records.values import Document, ReadOnlyDocument

WatchlistEntryKind = Literal["track", "account", "hashtag"]
ENTRY_KINDS: tuple[WatchlistEntryKind, ...] = get_args(WatchlistEntryKind)
RunStatus = Literal["due", "waiting", "completed", "failed", "skipped"]
EntryCheckStatus = Literal["due", "waiting", "completed", "failed"]
ENDED_RUN_STATUSES: frozenset[RunStatus] = frozenset({"completed", "failed", "skipped"})
ENDED_CHECK_STATUSES: frozenset[EntryCheckStatus] = frozenset({"completed", "failed"})

NAME_PATTERN = r"^[a-z0-9][a-z0-9_-]{0,63}$"
MAX_ENTRIES = 50
OVERLAP_OUTCOME = "the previous run had not finished"
_NAME = re.compile(NAME_PATTERN)
_SHOWN_CHARS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchlistEntry:
    """One item of a watchlist: its kind, and the id or link as given."""

    kind: WatchlistEntryKind
    input: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestThresholds:
    """Smallest changes that a digest reports; None: never report.

    `velocity`: gain of hot score per day of a video. `rank_change`: positions gained or lost within
    the Top N. `new_music_id`: another music id carries the same recording. `likes`: likes that a
    video reaches. `creator_followers`: followers of a creator who is new to the track.
    `disappeared`: the platform itself answers that it no longer shows a video. `usage_growth`:
    percent per day by which the platform's own count of the videos with a sound grows.
    """

    velocity: float | None = 1000.0
    rank_change: int | None = 3
    new_music_id: bool = True
    likes: int | None = 10_000
    creator_followers: int | None = 100_000
    disappeared: bool = True
    usage_growth: float | None = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchlistPlan:
    """A watchlist as its user defines it. `parameters` are those given for its scans."""

    name: str
    every: str
    entries: tuple[WatchlistEntry, ...]
    thresholds: DigestThresholds = field(default_factory=DigestThresholds)
    parameters: ReadOnlyDocument = field(default_factory=dict)
    enabled: bool = True

    def to_document(self) -> Document:
        """Return plain JSON values, in the order of the fields."""
        # `asdict` leaves a tuple as it is; in JSON it is a list.
        return {**asdict(self), "entries": [asdict(entry) for entry in self.entries]}


def parse_plan(document: ReadOnlyDocument) -> WatchlistPlan:
    """Parse a document made by `WatchlistPlan.to_document`; what it omits takes its default."""
    entries = tuple(WatchlistEntry(**entry) for entry in document["entries"])
    thresholds = DigestThresholds(**document.get("thresholds", {}))
    return WatchlistPlan(**{**document, "entries": entries, "thresholds": thresholds})


@dataclass(frozen=True, slots=True, kw_only=True)
class Watchlist:
    """A stored plan. Due times up to `considered_until` have been handled."""

    plan: WatchlistPlan
    cron: str
    created_at: datetime
    updated_at: datetime
    considered_until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DueRun:
    """A run that is due, and how many earlier runs were missed. Missed runs are not made up for."""

    due_at: datetime
    missed_count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchlistRun:
    """One run of a watchlist, with the plan as it was when the run became due.

    `tries` counts how often a process started it; `outcome` says why it ended as it did; `told` is
    the result of the webhook, or None if none is set.
    """

    run_id: str
    watchlist: str
    plan: WatchlistPlan
    due_at: datetime
    origin: Origin
    status: RunStatus
    missed_count: int
    tries: int
    began_at: datetime | None
    ended_at: datetime | None
    outcome: str | None
    digest: Document | None
    told: Document | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryCheck:
    """The check of one entry in a run: the job of a track, or what a page showed."""

    run_id: str
    position: int
    watchlist: str
    entry: WatchlistEntry
    status: EntryCheckStatus
    subject: str | None = None
    job_id: str | None = None
    error: Document | None = None
    observation: Document | None = None


def check_name(name: str, *, of: str = "watchlist") -> str:
    """Return the name unchanged if it can be used in file names and URLs; `of`: what it names.

    Raises:
        InvalidParameterError: It cannot.
    """
    if _NAME.fullmatch(name):
        return name
    raise InvalidParameterError(
        f"`name`: {name[:_SHOWN_CHARS]!a} is not a valid {of} name",
        hint="Use 1 to 64 lower-case letters, digits, - and _, starting with a letter or digit",
    )
