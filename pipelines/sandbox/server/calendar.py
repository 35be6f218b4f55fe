"""The calendar of a sandbox: when its world starts, and how far it has grown when the server does.

What belongs here: the two calendars. `fixed` depends on the seed alone, so that equal seeds give
equal worlds on every day; `today` ends now, so that posts, digests and the chart show life.
"""

from typing import Literal, get_args

from pipelines.sandbox.world.growth import DAY_S, HORIZON_DAYS

Calendar = Literal["fixed", "today"]
CALENDARS: tuple[str, ...] = get_args(Calendar)
PERIOD_DAYS = 30
"""A calendar that ends today starts anew after this many days. Within them, ids stay the same."""
_GROWN_DAYS = HORIZON_DAYS - PERIOD_DAYS
_HOUR_S = 3600


def span_of(calendar: str, *, now: float) -> tuple[int | None, int]:
    """Return the start of a world in unix seconds, and the seconds that have passed since.

    Args:
        calendar: One of `CALENDARS`.
        now: The machine's time in unix seconds.

    Raises:
        ValueError: There is no such calendar.
    """
    if calendar not in CALENDARS:
        raise ValueError(f"unknown calendar {calendar!r}; known are {', '.join(CALENDARS)}")
    if calendar == "fixed":
        return None, 0
    full_hour = int(now) // _HOUR_S * _HOUR_S
    period = full_hour // (PERIOD_DAYS * DAY_S)
    start = (period * PERIOD_DAYS - _GROWN_DAYS) * DAY_S
    return start, full_hour - start
