"""Reading the warehouse as it stood at a moment: a filter on when rows were committed.

Here: which moments can be read, and what keeps an old answer from being the same again. Not here:
the filter (`engine`), storage versions, which compaction replaces and vacuum deletes.
"""

import re
from datetime import UTC, datetime, timedelta

from warehouse.records.errors import InvalidParameterError

SETTLED_AFTER = timedelta(seconds=60)
"""A row is stamped before it is written; a moment is settled once nothing can join it any more."""

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def parse_as_of(text: str, *, now: datetime) -> datetime:
    """The moment that a date or a time names, in UTC.

    A date means the end of that day; a time without a zone is UTC.

    Raises:
        InvalidParameterError: It is neither, or not over for `SETTLED_AFTER` yet.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        if _DAY.fullmatch(text.strip()):
            moment += timedelta(days=1) - timedelta(microseconds=1)
    except (ValueError, OverflowError) as error:
        raise InvalidParameterError(
            f"{text!r} is neither a date nor a time",
            hint="for example 2026-11-01 (the end of that day) or 2026-11-01T18:00:00Z",
        ) from error
    if moment > now - SETTLED_AFTER:
        raise InvalidParameterError(
            f"{moment.isoformat()} is not over yet: rows can still join it",
            hint=f"give a moment at least {SETTLED_AFTER.seconds} seconds ago, or leave it away",
        )
    return moment
