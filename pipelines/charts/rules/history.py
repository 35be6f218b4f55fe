"""Rules of the chart history: a node every ten days, the issue of each node, the key of a song.

Holds dates, the choice of issues, the reason for an empty node. Not here: reading the chart
(`captures.chart`) or the store (`warehouse.queries.charts`), deadlines
(`api.services.reads`).
"""

import hashlib
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone

from pipelines.parameters.scan import Parameter, parameter_table
from warehouse.records.charts import SONG_LIMIT, ChartIssue, ChartSong
from warehouse.records.errors import InvalidDateRangeError

FIRST_DAY = date(2021, 1, 1)
INTERVAL_DAYS = 10
REACH_DAYS = 10
"""Maximum age of an issue relative to its node."""
LISTED_FOR_S = 600.0
"""A list of issues older than this is read again if a range goes beyond it."""
RELEASED_BY = time(10, 0)
"""Time in Shanghai by which the issue of a day is released."""
_SHANGHAI = timezone(timedelta(hours=8))

_DAY = "YYYY-MM-DD"
CHART_PARAMETERS = parameter_table(
    Parameter(
        name="start_date",
        kind=str,
        default=None,
        meaning=f"first node, {_DAY}, from {FIRST_DAY} on",
        meaning_zh=f"第一个查询节点，{_DAY}，最早 {FIRST_DAY}",
    ),
    Parameter(
        name="end_date",
        kind=str,
        default=None,
        meaning=f"no node is later, {_DAY}; beyond the latest issue it is cut to that issue",
        meaning_zh=f"查询截止日期，{_DAY}；晚于最新一期时截至最新一期",
    ),
    Parameter(
        name="interval_days",
        kind=int,
        default=INTERVAL_DAYS,
        minimum=INTERVAL_DAYS,
        maximum=INTERVAL_DAYS,
        meaning="days between two nodes; only 10",
        meaning_zh="节点间隔天数，仅支持 10",
    ),
    Parameter(
        name="limit",
        kind=int,
        default=SONG_LIMIT,
        minimum=SONG_LIMIT,
        maximum=SONG_LIMIT,
        meaning="songs per issue; only 20",
        meaning_zh="每期歌曲数，仅支持 20",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The requested days, both ends inclusive. `end` may be cut from `requested_end`."""

    start: date
    end: date
    requested_end: date

    @property
    def is_cut(self) -> bool:
        """Whether the latest issue is older than the requested end."""
        return self.end < self.requested_end

    @property
    def nodes(self) -> tuple[date, ...]:
        """The first day and every tenth day after it."""
        steps = (self.end - self.start).days // INTERVAL_DAYS
        return tuple(self.start + timedelta(days=INTERVAL_DAYS * n) for n in range(steps + 1))

    @property
    def oldest_issue(self) -> date:
        """The earliest day whose issue may belong to a node."""
        return self.start - timedelta(days=REACH_DAYS)


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryNode:
    """A requested day with its issue; None if no issue is near enough."""

    target: date
    issue: ChartIssue | None = None


def read_span(start: str, end: str) -> Span:
    """Parse the requested days, for example `read_span("2026-01-01", "2026-03-31")`.

    Raises:
        InvalidDateRangeError: A text is not a date, the order is wrong, or the start is too early.
    """
    first, last = _day("start_date", start), _day("end_date", end)
    if first < FIRST_DAY:
        raise InvalidDateRangeError(f"`start_date` {first} is before {FIRST_DAY}")
    if first > last:
        raise InvalidDateRangeError(f"`start_date` {first} is after `end_date` {last}")
    return Span(start=first, end=last, requested_end=last)


def cut_span(span: Span, *, latest: date) -> Span:
    """Cut the end of the span to the latest issue.

    Raises:
        InvalidDateRangeError: The span begins after the latest issue.
    """
    if span.start > latest:
        raise InvalidDateRangeError(
            f"`start_date` {span.start} is after the latest issue, of {latest}",
            hint=f"Give a start_date from {FIRST_DAY} to {latest}",
        )
    return Span(start=span.start, end=min(span.end, latest), requested_end=span.requested_end)


def next_issue_by(
    latest: date, *, now: datetime, scheduled_at: datetime | None = None
) -> datetime | None:
    """Return by when the next issue is released (UTC), if that is expected within a day.

    `scheduled_at` is the release time of the latest issue, if the source lists it in advance.
    None if today's issue is released or overdue, or if older ones are missing too: the chart skips
    days.
    """
    # Until an issue is released, the source serves the songs of the previous issue.
    if scheduled_at is not None and now < scheduled_at:
        return scheduled_at.astimezone(UTC)
    # An issue is dated 08:30 and released by 10:00, so the latest one may be that of yesterday.
    today = now.astimezone(_SHANGHAI).date()
    due = datetime.combine(today, RELEASED_BY, _SHANGHAI)
    is_awaited = latest == today - timedelta(days=1) and now < due
    return due.astimezone(UTC) if is_awaited else None


def list_serves_until(span: Span, *, latest: date, listed_at: datetime) -> datetime | None:
    """Return until when a list of issues serves a range; None if the range ends within it."""
    if span.requested_end <= latest:
        return None
    return listed_at + timedelta(seconds=LISTED_FOR_S)


def choose_issues(span: Span, issues: Iterable[ChartIssue]) -> tuple[HistoryNode, ...]:
    """Return for each node the newest dated issue on or before it that is near enough."""
    dated = issues_by_day(issues)
    days = sorted(dated)
    nodes = []
    for target in span.nodes:
        place = bisect_right(days, target)
        issue = None
        if place and (target - days[place - 1]).days <= REACH_DAYS:
            issue = dated[days[place - 1]]
        nodes.append(HistoryNode(target=target, issue=issue))
    return tuple(nodes)


def issues_by_day(issues: Iterable[ChartIssue]) -> dict[date, ChartIssue]:
    """Return the dated issue of each day; of several, the one with the highest id."""
    dated: dict[date, ChartIssue] = {}
    for issue in issues:
        if issue.chart_date is not None:
            same_day = dated.get(issue.chart_date, issue)
            # Ids are numbers without leading zeros, so the longer one is the higher one.
            dated[issue.chart_date] = max(
                same_day, issue, key=lambda issue: (len(issue.volid), issue.volid)
            )
    return dated


def songs_of(
    issue: ChartIssue, songs: Iterable[ChartSong], *, volid: str | None, chart_date: date | None
) -> tuple[ChartSong, ...] | None:
    """Return the first twenty songs by rank, or None if they belong to another issue.

    `volid` and `chart_date` identify the issue that the songs' own response names; each is None if
    the response does not name it.
    """
    if volid not in {None, issue.volid} or chart_date not in {None, issue.chart_date}:
        return None
    by_rank = {song.rank: song for song in songs if 1 <= song.rank <= SONG_LIMIT}
    return tuple(by_rank[rank] for rank in sorted(by_rank)) or None


def song_key(song: ChartSong) -> str:
    """Return a key that identifies a song across issues.

    It is the source's hash (`hash:…`) if the source gives one, otherwise a hash of the normalized
    title and artist (`name:…`).
    """
    # Among the source's identifiers, the hash is the only one that the oldest issues have, too.
    if song.song_hash:
        return f"hash:{song.song_hash.lower()}"
    words = f"{song.title}\x1f{song.artist or ''}"
    plain = "".join(unicodedata.normalize("NFKC", words).casefold().split())
    return f"name:{hashlib.sha256(plain.encode('utf-8', 'replace')).hexdigest()[:24]}"


def _day(name: str, text: str) -> date:
    # `fromisoformat` also accepts `20210101` and `2021-W01-1`.
    is_plain = len(text) == len(_DAY) and text[4:5] == text[7:8] == "-"
    try:
        if is_plain and text.isascii():
            return date.fromisoformat(text)
    except ValueError:
        pass
    printable = "".join(sign if sign.isprintable() else "?" for sign in text[:40])
    raise InvalidDateRangeError(f"`{name}` is not a date of the form {_DAY}: {printable!r}")
