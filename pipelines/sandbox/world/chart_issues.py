"""Calendar of the music chart: date, id and number of each issue.

Issues begin on 2021-01-01 and are published daily at 08:30 in Shanghai, with gaps. What an issue
lists is in `chart.py`. Nothing here knows hosts or wire formats.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from typing import Literal

import numpy as np

from pipelines.sandbox.world.random_streams import Ints, share_of, stream

FIRST_DAY = date(2021, 1, 1)
LAST_YEAR = 2045
"""Last year of the calendar; the clock of a world is never moved this far."""
LONG_GAP_DAYS = 24
_FIRST_ID = 44_400
_ID_STEPS = (11, 54)  # one counter serves all charts, so ids move on by some thirty a day
_GAP = 0.025
_GAP_GOES_ON = 0.35
_SHANGHAI_S = 8 * 3600
_APPEARS_S = 8 * 3600 + 30 * 60
_LATEST_BY_S = 90 * 60
_DAY_S = 86_400

DateForm = Literal["both", "text", "none"]
"""Where an issue shows its date: in a time and in a text, in the text only, nowhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxIssue:
    """One issue.

    Attributes:
        place: Its position among all issues; the oldest is 0.
        volid: Its id; ids grow with the date in irregular steps.
        day: Its date.
        number: Its number within the year, from 1.
        date_form: Where guests can see the date.
    """

    place: int
    volid: int
    day: date
    number: int
    date_form: DateForm

    @property
    def name(self) -> str:
        """Name of the issue."""
        return f"{self.number}期"


class IssueCalendar:
    """All issues of a world's chart, equal for equal seeds."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        days = (date(LAST_YEAR, 12, 31) - FIRST_DAY).days + 1
        rng = stream(seed, "chart calendar")
        appears = rng.random(days) >= _GAP
        goes_on = rng.random(days) < _GAP_GOES_ON
        appears[1:] &= ~(~appears[:-1] & goes_on[1:])
        start = (date(2023, 1, 1) - FIRST_DAY).days + int(rng.integers(40, 200))
        appears[start : start + LONG_GAP_DAYS] = False
        appears[0] = True
        ids = _FIRST_ID + np.cumsum(rng.integers(*_ID_STEPS, size=days))
        self.days: Ints = np.flatnonzero(appears).astype(np.int64)
        self.volids: Ints = ids[self.days].astype(np.int64)
        forms = rng.random(self.days.size)
        self._forms = np.where(forms < 0.01, 2, np.where(forms < 0.03, 1, 0))  # noqa: PLR2004  # one and two in a hundred

    @cached_property
    def numbers(self) -> Ints:
        """Number within its year of each issue."""
        dates = np.datetime64(FIRST_DAY) + self.days
        years = dates.astype("datetime64[Y]")
        first = np.searchsorted(years, years, side="left")
        return np.arange(years.size, dtype=np.int64) - first + 1

    def count_at(self, now: int) -> int:
        """Return the number of issues published by a unix time."""
        passed = (now + _SHANGHAI_S - _APPEARS_S) // _DAY_S
        today = passed - (FIRST_DAY - date(1970, 1, 1)).days
        return int(np.searchsorted(self.days, today, side="right"))

    def released_count_at(self, now: int) -> int:
        """Return the number of issues that have appeared by a unix time if issues come late."""
        count = self.count_at(now)
        is_awaited = count > 0 and issue_release_time(self.at(count - 1)) > now
        return count - is_awaited

    def at(self, place: int) -> SandboxIssue:
        """Return the issue at a position."""
        forms: tuple[DateForm, ...] = ("both", "text", "none")
        return SandboxIssue(
            place=place, volid=int(self.volids[place]),
            day=FIRST_DAY + timedelta(days=int(self.days[place])),
            number=int(self.numbers[place]), date_form=forms[int(self._forms[place])],
        )  # fmt: skip

    def find(self, volid: str) -> SandboxIssue | None:
        """Return the issue of an id, published or not; None for an id of another chart."""
        if not (volid.isascii() and volid.isdigit() and len(volid) <= 9):  # noqa: PLR2004  # digits of an id
            return None
        place = int(np.searchsorted(self.volids, int(volid)))
        if place >= self.volids.size or int(self.volids[place]) != int(volid):
            return None
        return self.at(place)


def issue_publication_time(day: date) -> int:
    """Return the unix seconds at which the issue of a day is published."""
    midnight = datetime(day.year, day.month, day.day, tzinfo=UTC)
    return int(midnight.timestamp()) - _SHANGHAI_S + _APPEARS_S


def issue_release_time(issue: SandboxIssue) -> int:
    """Return the unix seconds at which a late issue appears: up to 10:00, though dated 08:30."""
    share = share_of(str(issue.volid), "late")
    return issue_publication_time(issue.day) + int(share * _LATEST_BY_S)
