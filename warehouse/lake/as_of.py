"""Parsing of `as of` times: reads of the warehouse as it was at a past time.

Reads filter on the time rows were committed (`engine`), not on Delta versions, which compaction
replaces and vacuum deletes.
"""

import re
from datetime import UTC, datetime, timedelta

from warehouse.records.errors import InvalidParameterError

SETTLED_AFTER = timedelta(seconds=60)
"""A row is stamped before it is written; after this time no more rows of that time can appear."""

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def parse_as_of(text: str, *, now: datetime) -> datetime:
    """Parse a date or a time; returns UTC.

    A date means the end of that day; a time without a zone is UTC.

    Raises:
        InvalidParameterError: It is neither, or less than `SETTLED_AFTER` ago.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        if _DAY.fullmatch(text.strip()):
            # The last microsecond of the day: the finest time that the tables store.
            moment += timedelta(days=1) - timedelta(microseconds=1)
    except (ValueError, OverflowError) as error:
        raise InvalidParameterError(
            f"{text!r} is neither a date nor a time",
            hint="for example 2026-11-01 (the end of that day) or 2026-11-01T18:00:00Z",
        ) from error
    if moment > now - SETTLED_AFTER:
        raise InvalidParameterError(
            f"{moment.isoformat()} is too recent: rows may still be added",
            hint=f"use a time at least {SETTLED_AFTER.seconds} seconds ago, or omit it",
        )
    return moment
