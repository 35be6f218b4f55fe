"""Records and rules of a chart back-fill: progress, result, gaps.

Not here: reading (`charts/backfill.py`), the nodes of a history response (`history.py`).
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from typing import Literal

from warehouse.records.values import Document

BackfillEnding = Literal["completed", "refused", "cancelled"]
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Gap:
    """Consecutive days (both ends inclusive) without a chart issue."""

    first: date
    last: date

    @property
    def day_count(self) -> int:
        """Number of days."""
        return (self.last - self.first).days + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedIssue:
    """An issue that could not be read, with the type of the error."""

    volid: str
    chart_date: date | None
    error_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BackfillProgress:
    """Progress of a back-fill: processed issues of those that were missing."""

    done_count: int
    missing_count: int
    requests_used: int
    chart_date: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BackfillResult:
    """The result of a back-fill.

    Attributes:
        first: First requested day.
        last: Last requested day, cut to the latest issue.
        requested_last: Last requested day before the cut.
        latest: Day of the latest issue that the chart lists.
        issue_count: Issues that the chart lists for these days.
        known_count: Of them, already in the lake or read by another process meanwhile.
        new_count: Of them, read by this run.
        unreleased_count: Of them, those that are listed before their release, and not read.
        refused: Of them, those that could not be read.
        gaps: Days without an issue.
        undated_count: Issues without a date, which belong to no range.
        was_listed: Whether the list of issues was read again.
        requests_used: Requests made, including the list and retries.
        ending: Why the run ended.
        error: The refusal that ended the whole run, or that of a newer list of issues, if any.
    """

    first: date
    last: date
    requested_last: date
    latest: date
    issue_count: int
    known_count: int
    new_count: int
    unreleased_count: int
    refused: tuple[RefusedIssue, ...]
    gaps: tuple[Gap, ...]
    undated_count: int
    was_listed: bool
    requests_used: int
    ending: BackfillEnding
    error: Document | None = None

    @property
    def is_cut(self) -> bool:
        """Whether the request goes beyond the latest issue."""
        return self.last < self.requested_last

    @property
    def left_count(self) -> int:
        """Number of released issues left for another run."""
        return self.issue_count - self.known_count - self.new_count - self.unreleased_count

    def to_document(self) -> Document:
        """Return plain JSON values, for the command line."""
        return {
            "first_day": self.first.isoformat(),
            "last_day": self.last.isoformat(),
            "requested_last_day": self.requested_last.isoformat(),
            "is_cut": self.is_cut,
            "latest_chart_date": self.latest.isoformat(),
            "issue_count": self.issue_count,
            "known_count": self.known_count,
            "new_count": self.new_count,
            "unreleased_count": self.unreleased_count,
            "left_count": self.left_count,
            "refused": [
                {**asdict(issue), "chart_date": issue.chart_date and issue.chart_date.isoformat()}
                for issue in self.refused
            ],
            "gaps": [
                {
                    "first_day": gap.first.isoformat(),
                    "last_day": gap.last.isoformat(),
                    "day_count": gap.day_count,
                }
                for gap in self.gaps
            ],
            "gap_day_count": sum(gap.day_count for gap in self.gaps),
            "undated_count": self.undated_count,
            "was_listed": self.was_listed,
            "requests_used": self.requests_used,
            "ending": self.ending,
            "error": self.error,
        }


def find_gaps(days: Iterable[date], *, first: date, last: date) -> tuple[Gap, ...]:
    """Return the gaps of a range without dated issues, oldest first."""
    gaps: list[Gap] = []
    expected = first
    for day in sorted(day for day in set(days) if first <= day <= last):
        if day > expected:
            gaps.append(Gap(expected, day - _DAY))
        expected = day + _DAY
    if expected <= last:
        gaps.append(Gap(expected, last))
    return tuple(gaps)
