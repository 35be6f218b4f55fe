"""The time that stamps observations, and the times of birth that ids carry.

Observations are stamped by the machine's clock, shifted in the sandbox if requested. A process
works with one profile, so it has one such clock, which only `pipelines/platform/sandbox_clock.py`
sets. Leases, heartbeats, timeouts and rates use the machine's clock instead.

The upper 32 bits of a platform id are the Unix second in which it was made: a video's id is made
1 to 32 seconds before its publication, or hours before if the publication was scheduled. An
original sound gets its id while its video is processed. An implausible time is None.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

CreatedAtSource = Literal["stated", "id"]
"""`stated`: the platform named it; `id`: read from the id, or concluded from the times of ids."""

PLATFORM_START = datetime(2016, 9, 1, tzinfo=UTC)
"""No id is older than the platform: ids of other schemes give times before it."""
CLOCK_SKEW = timedelta(minutes=10)
"""How far an id's time may lie after its observation: clocks differ."""
REPORTED_DIFFERENCE_S = 86_400
"""A larger difference between the stated time and the id's is reported."""
EARLIEST_BIRTH_S, LATEST_BIRTH_S = -84, 337
"""Seconds from a video to its own sound's id, in all recorded videos with an own sound."""
END_S = 253_402_300_800
"""The year 10000: no calendar has later times, and a time in milliseconds lies beyond it."""

TICK = timedelta(milliseconds=16)
"""Unit of the moments that sorted lists are as of, as cursors hold them."""
SEQUENCES_AT_MOMENT = 1 << 10
"""A captured page at a moment is told by its sequence number modulo this, and the moment."""
_TICKS_FROM = datetime(2020, 1, 1, tzinfo=UTC)

_SECONDS_SHIFT = 32
_MAX_DIGITS = 20  # 2^64 has 20 digits


def to_ticks(at: datetime) -> int:
    """Return the number of the tick that a time lies in."""
    return -(-(at - _TICKS_FROM) // TICK)


def to_moment(ticks: int) -> datetime:
    """Return the end of a tick."""
    return _TICKS_FROM + ticks * TICK


class _ObservationClock:
    moved = timedelta()


def observed_now() -> datetime:
    """Return the time of an observation made now, in UTC."""
    return datetime.now(UTC) + _ObservationClock.moved


def shift_observed_time(*, seconds: float) -> None:
    """Shift the time of observations by this many seconds from the machine's clock."""
    _ObservationClock.moved = timedelta(seconds=seconds)


@dataclass(frozen=True, slots=True)
class Birth:
    """When something came into being, and how that is known.

    `difference_s` is the stated time minus the id's in seconds if it is more than a day, else None.
    """

    at: datetime
    source: CreatedAtSource
    difference_s: int | None = None


@dataclass(frozen=True, slots=True)
class SoundOrigin:
    """The video that an original sound was born with.

    `offset_s` is the sound's birth minus the video's, in seconds; None if the platform named the
    video and its time is unknown.
    """

    aweme_id: str
    source: CreatedAtSource
    offset_s: int | None = None


def id_time(identifier: str, *, observed_at: datetime) -> datetime | None:
    """Return the time in an id; None if it is no id, or its time is not plausible.

    Plausible are times since the platform exists and up to the observation.
    """
    if len(identifier) > _MAX_DIGITS or not (identifier.isascii() and identifier.isdigit()):
        return None
    seconds = int(identifier) >> _SECONDS_SHIFT
    if not PLATFORM_START.timestamp() <= seconds <= (observed_at + CLOCK_SKEW).timestamp():
        return None
    return datetime.fromtimestamp(seconds, UTC)


def find_birth(identifier: str, *, stated: int | None, observed_at: datetime) -> Birth | None:
    """Return the stated time of birth, else the id's; None if neither is known.

    A stated time is never replaced, whatever the id says; one that no calendar has is unknown.
    """
    made_at = id_time(identifier, observed_at=observed_at)
    if stated is None:
        return None if made_at is None else Birth(made_at, "id")
    if stated >= END_S:
        return None
    difference_s = 0 if made_at is None else stated - int(made_at.timestamp())
    is_reported = abs(difference_s) > REPORTED_DIFFERENCE_S
    return Birth(
        datetime.fromtimestamp(stated, UTC), "stated", difference_s if is_reported else None
    )


def as_utc(moment: datetime) -> datetime:
    """Return a time in UTC; one without a zone is in UTC, whatever the machine's zone."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def to_utc_text(moment: datetime, *, timespec: str = "auto") -> str:
    """Format as ISO 8601 in UTC with `Z`; fractions of a second only if there are any."""
    return as_utc(moment).replace(tzinfo=None).isoformat(timespec=timespec) + "Z"
