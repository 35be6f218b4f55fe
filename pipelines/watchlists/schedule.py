"""The schedule of a watchlist: plain phrases, cron expressions, and which run is due.

All times are UTC; a cron expression means what it means to Debian's cron.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from cronsim import CronSim, CronSimError

from warehouse.records.errors import InvalidParameterError
from warehouse.records.watchlists import DueRun

MAX_MISSED_COUNT = 1000
"""Missed runs are counted up to this number; after a long stop the exact count is of no use."""

_MINUTE = timedelta(minutes=1)
_FIELDS = 5
_SHOWN_CHARS = 60
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
    "every hour": "hourly",
    "every day": "daily",
    "every night": "nightly",
    "every weekday": "weekdays",
    "every week": "weekly",
    "every month": "monthly",
}
_NAMED_STEPS: Mapping[str, Mapping[int, str]] = {
    "minute": {1: "every minute", 60: "hourly"},
    "hour": {1: "hourly", 24: "daily"},
    "day": {1: "daily", len(_DAYS): "weekly"},
}
_CHINESE: Mapping[str, str] = {
    "每小时": "hourly",
    "每天": "daily",
    "每日": "daily",
    "每晚": "nightly",
    "工作日": "weekdays",
    "每个工作日": "weekdays",
    "每周": "weekly",
    "每月": "monthly",
    **{
        f"每{week}{day}": f"every {name}"
        for week in ("周", "星期")
        for days, name in zip(["日天", *"一二三四五六"], _DAYS, strict=True)
        for day in days
    },
}
_CHINESE_UNITS = {"分钟": "minutes", "小时": "hours", "天": "days", "周": "weeks"}
_CHINESE_EVERY = re.compile(r"每 ?([1-9][0-9]{0,3}) ?个?(分钟|小时|天|周)")
_CHINESE_CLOCK = re.compile(r"(每?[^0-9 ]+?) ?([01]?[0-9]|2[0-3])[:：]([0-5][0-9])")
_EVERY = re.compile(r"every ([1-9][0-9]{0,3}) (minute|hour|day|week)s?")
_DAY = re.compile(rf"(?:every|weekly on) ({'|'.join(_DAYS)})s?")
_CLOCK = re.compile(r"(.+?) at ([01]?[0-9]|2[0-3]):([0-5][0-9])")
SCHEDULE_HELP = (
    "Use hourly, daily, weekdays, weekly, monthly, every N minutes, every N hours, every monday, "
    "with `at HH:MM` for daily and longer, or a cron expression of five fields; UTC"
)


def to_cron(every: str) -> str:
    """Convert a plain phrase to a cron expression; a cron expression of five fields is kept.

    A phrase is English or Chinese, such as `every monday at 08:00` or `每周一 08:00`.

    Raises:
        InvalidParameterError: The phrase is unknown, cron cannot express it evenly, or the
            expression is invalid or never due.
    """
    words = _from_chinese(" ".join(every.casefold().split()))
    clock = _CLOCK.fullmatch(words)
    if clock is not None:
        return _at_time(clock[1], int(clock[2]), int(clock[3]), given=every)
    cron = _without_clock(words)
    if cron is not None:
        return cron
    if len(words.split()) == _FIELDS and not words[0].isalpha():
        return _checked(words)
    raise InvalidParameterError(f"`every`: {_short(every)} is not understood", hint=SCHEDULE_HELP)


def _from_chinese(words: str) -> str:
    """Return the English phrase of a Chinese one; other text unchanged."""
    clock = _CHINESE_CLOCK.fullmatch(words)
    if clock is not None and clock[1] in _CHINESE:
        return f"{_CHINESE[clock[1]]} at {clock[2]}:{clock[3]}"
    step = _CHINESE_EVERY.fullmatch(words)
    if step is not None:
        return f"every {step[1]} {_CHINESE_UNITS[step[2]]}"
    return _CHINESE.get(words, words)


def latest_time(cron: str, moment: datetime) -> datetime | None:
    """Return the latest due time at or before `moment`."""
    # Backwards, CronSim yields times before its start: one minute later, the present one counts.
    begins = moment.astimezone(UTC).replace(second=0, microsecond=0) + _MINUTE
    return next(CronSim(cron, begins, reverse=True), None)


def next_time(cron: str, moment: datetime) -> datetime | None:
    """Return the first due time after `moment`."""
    return next(CronSim(cron, moment.astimezone(UTC)), None)


def find_due_run(cron: str, *, considered_until: datetime, now: datetime) -> DueRun | None:
    """Return the newest time after `considered_until` up to `now`, or None if nothing is due.

    After a stop, one run stands for all missed times: what was not read then cannot be read any
    more, and ten scans at once would give the same result ten times.
    """
    latest = latest_time(cron, now)
    if latest is None or latest <= considered_until:
        return None
    missed, moment = 0, next_time(cron, considered_until)
    while moment is not None and moment < latest and missed < MAX_MISSED_COUNT:
        missed, moment = missed + 1, next_time(cron, moment)
    return DueRun(due_at=latest, missed_count=missed)


def _checked(cron: str) -> str:
    try:
        is_ever = next(CronSim(cron, datetime(2026, 1, 1, tzinfo=UTC)), None) is not None
    except CronSimError as error:
        raise InvalidParameterError(f"`every`: {cron!r}: {error}", hint=SCHEDULE_HELP) from error
    if not is_ever:  # it names a day that no month has
        raise InvalidParameterError(f"`every`: {cron!r} is never due", hint=SCHEDULE_HELP)
    return cron


def _without_clock(words: str) -> str | None:
    words = _SYNONYMS.get(words, words)
    if words in _PHRASES:
        return _PHRASES[words]
    day = _DAY.fullmatch(words)
    if day is not None:
        return f"0 0 * * {_DAYS.index(day[1])}"
    every = _EVERY.fullmatch(words)
    return None if every is None else _step(int(every[1]), every[2])


def _at_time(words: str, hour: int, minute: int, *, given: str) -> str:
    cron = _without_clock(words)
    # A phrase that is due in every hour, or every few hours, has no one time of the day.
    if cron is None or cron.split()[1].startswith("*"):
        raise InvalidParameterError(f"`every`: {_short(given)} names no day", hint=SCHEDULE_HELP)
    return " ".join([str(minute), str(hour), *cron.split()[2:]])


def _step(number: int, unit: str) -> str:
    """Return the cron expression for every so many minutes, hours, days or weeks."""
    if unit == "week":
        number, unit = number * len(_DAYS), "day"
    named = _NAMED_STEPS[unit]
    if number in named:
        return _PHRASES[named[number]]
    if unit == "day":
        raise InvalidParameterError(
            f"`every`: {number} days do not divide a month evenly", hint=SCHEDULE_HELP
        )
    _check_even(number, max(named), f"{unit}s")
    return f"*/{number} * * * *" if unit == "minute" else f"0 */{number} * * *"


def _check_even(step: int, whole: int, unit: str) -> None:
    """Cron restarts at each hour and day: a step of 7 minutes would be 4 at the full hour."""
    if step > whole or whole % step:
        even = ", ".join(str(number) for number in range(1, whole + 1) if whole % number == 0)
        raise InvalidParameterError(
            f"`every`: {step} {unit} do not divide {whole} evenly", hint=f"Take one of {even}"
        )


def _short(text: str) -> str:
    printable = "".join(sign if sign.isprintable() else "?" for sign in text)
    return repr(printable if len(printable) <= _SHOWN_CHARS else f"{printable[:_SHOWN_CHARS]}...")
