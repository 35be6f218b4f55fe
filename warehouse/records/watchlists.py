"""Watchlists: what is scanned repeatedly, on which schedule, and which run is due.

The caller provides the `CronEvaluator` that reads cron expressions; plain phrases become cron
here. All
times are UTC. Starting runs is in `pipelines/watchlists`, comparing them in its `changes.py`.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Literal, Protocol, get_args

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
MAX_MISSED_COUNT = 1000
"""Missed runs are counted up to this number; after a long stop the exact count is of no use."""

OVERLAP_OUTCOME = "the previous run had not finished"
_NAME = re.compile(NAME_PATTERN)
_FIELDS = 5
_HOUR_MIN, _DAY_H = 60, 24
_DAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
_PHRASES = {
    "every minute": "* * * * *",
    "hourly": "0 * * * *",
    "daily": "0 0 * * *",
    "nightly": "0 3 * * *",
    "weekdays": "0 0 * * 1-5",
    "weekly": "0 0 * * 1",
    "monthly": "0 0 1 * *",
}
_SYNONYMS = {
    "every hour": "hourly", "every day": "daily", "every night": "nightly",
    "every weekday": "weekdays", "every week": "weekly", "every month": "monthly",
}  # fmt: skip
_EVERY = re.compile(r"every ([1-9][0-9]{0,3}) (minute|hour|day|week)s?")
_DAY = re.compile(rf"(?:every|weekly on) ({'|'.join(_DAYS)})s?")
_CLOCK = re.compile(r"(.+?) at ([01]?[0-9]|2[0-3]):([0-5][0-9])")
SCHEDULE_HELP = (
    "Use hourly, daily, weekdays, weekly, monthly, every N minutes, every N hours, every monday, "
    "with `at HH:MM` for daily and longer, or a cron expression of five fields; UTC"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchlistEntry:
    """One item of a watchlist: its kind, and the id or link as given."""

    kind: WatchlistEntryKind
    input: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestThresholds:
    """Smallest changes that a digest reports; None: never report.

    `velocity`: gain of hot score per day of a video. `rank_change`: positions gained or lost within
    the Top N. `new_music_id`: another music id carries the same recording.
    """

    velocity: float | None = 1000.0
    rank_change: int | None = 3
    new_music_id: bool = True


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
        return {
            "name": self.name,
            "every": self.every,
            "entries": [asdict(entry) for entry in self.entries],
            "thresholds": asdict(self.thresholds),
            "parameters": dict(self.parameters),
            "enabled": self.enabled,
        }


def parse_plan(document: ReadOnlyDocument) -> WatchlistPlan:
    """Parse a document made by `Plan.to_document`."""
    return WatchlistPlan(
        name=document["name"],
        every=document["every"],
        entries=tuple(WatchlistEntry(**entry) for entry in document["entries"]),
        thresholds=DigestThresholds(**document["thresholds"]),
        parameters=dict(document["parameters"]),
        enabled=document["enabled"],
    )


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


class CronEvaluator(Protocol):
    """Evaluates cron expressions of five fields, in UTC."""

    def latest(self, cron: str, moment: datetime) -> datetime | None:
        """Return the newest time at or before `moment`."""

    def following(self, cron: str, moment: datetime) -> datetime | None:
        """Return the first time after `moment`."""


def to_cron(every: str) -> str:
    """Convert a plain phrase to a cron expression; a cron expression of five fields is kept.

    Raises:
        InvalidParameterError: The phrase is unknown, or cron cannot express it evenly.
    """
    words = " ".join(every.casefold().split())
    clock = _CLOCK.fullmatch(words)
    if clock is not None:
        return _at_time(clock[1], int(clock[2]), int(clock[3]), given=every)
    cron = _without_clock(words)
    if cron is not None:
        return cron
    if len(words.split()) == _FIELDS and not words[0].isalpha():
        return words
    raise InvalidParameterError(f"`every`: {_short(every)} is not understood", hint=SCHEDULE_HELP)


def check_name(name: str) -> str:
    """Return the name unchanged if it can be used in file names and URLs.

    Raises:
        InvalidParameterError: It cannot.
    """
    if _NAME.fullmatch(name):
        return name
    raise InvalidParameterError(
        f"`name`: {_short(name)} is not a valid watchlist name",
        hint="Use 1 to 64 lower-case letters, digits, - and _, starting with a letter or digit",
    )


def find_due_run(cron: str, *, considered_until: datetime, now: datetime, calendar:
CronEvaluator) -> (
    DueRun | None
):  # fmt: skip
    """Return the newest time after `considered_until` up to `now`, or None if nothing is due.

    After a stop, one run stands for all missed times: what was not read then cannot be read any
    more, and ten scans at once would give the same result ten times.
    """
    latest = calendar.latest(cron, now)
    if latest is None or latest <= considered_until:
        return None
    missed, moment = 0, calendar.following(cron, considered_until)
    while moment is not None and moment < latest and missed < MAX_MISSED_COUNT:
        missed, moment = missed + 1, calendar.following(cron, moment)
    return DueRun(due_at=latest, missed_count=missed)


def _without_clock(words: str) -> str | None:
    words = _SYNONYMS.get(words, words)
    if words in _PHRASES:
        return _PHRASES[words]
    day = _DAY.fullmatch(words)
    if day is not None:
        return f"0 0 * * {_DAYS.index(day[1])}"
    every = _EVERY.fullmatch(words)
    return None if every is None else _STEPS[every[2]](int(every[1]))


def _at_time(words: str, hour: int, minute: int, *, given: str) -> str:
    cron = _without_clock(words)
    if cron is None or cron.split()[1].startswith("*"):
        raise InvalidParameterError(f"`every`: {_short(given)} names no day", hint=SCHEDULE_HELP)
    return " ".join([str(minute), str(hour), *cron.split()[2:]])


def _minutes(step: int) -> str:
    if step == 1:
        return _PHRASES["every minute"]
    if step == _HOUR_MIN:
        return _PHRASES["hourly"]
    _check_even(step, _HOUR_MIN, "minutes")
    return f"*/{step} * * * *"


def _hours(step: int) -> str:
    if step == 1:
        return _PHRASES["hourly"]
    if step == _DAY_H:
        return _PHRASES["daily"]
    _check_even(step, _DAY_H, "hours")
    return f"0 */{step} * * *"


def _days(step: int) -> str:
    if step in {1, len(_DAYS)}:
        return _PHRASES["daily" if step == 1 else "weekly"]
    raise InvalidParameterError(
        f"`every`: {step} days do not divide a month evenly", hint=SCHEDULE_HELP
    )


def _weeks(step: int) -> str:
    return _days(step * len(_DAYS))


_STEPS: Mapping[str, Callable[[int], str]] = {
    "minute": _minutes, "hour": _hours, "day": _days, "week": _weeks,
}  # fmt: skip


def _check_even(step: int, whole: int, unit: str) -> None:
    """Cron restarts at each hour and day: a step of 7 minutes would be 4 at the full hour."""
    if step > whole or whole % step:
        even = ", ".join(str(number) for number in range(1, whole + 1) if whole % number == 0)
        raise InvalidParameterError(
            f"`every`: {step} {unit} do not divide {whole} evenly", hint=f"Take one of {even}"
        )


def _short(text: str) -> str:
    shown = "".join(sign if sign.isprintable() else "?" for sign in text)
    return repr(shown if len(shown) <= _HOUR_MIN else f"{shown[:_HOUR_MIN]}...")
