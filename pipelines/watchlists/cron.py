"""Cron expressions with the semantics of Debian's cron, in UTC."""

from datetime import UTC, datetime, timedelta

from cronsim import CronSim, CronSimError

from warehouse.records.errors import InvalidParameterError
from warehouse.records.watchlists import SCHEDULE_HELP

_NEXT = timedelta(minutes=1)


class CronCalendar:
    """Computes the due times of cron expressions."""

    def latest(self, cron: str, moment: datetime) -> datetime | None:
        """Return the latest due time at or before `moment`."""
        begins = moment.astimezone(UTC).replace(second=0, microsecond=0) + _NEXT
        return next(CronSim(cron, begins, reverse=True), None)

    def following(self, cron: str, moment: datetime) -> datetime | None:
        """Return the first due time after `moment`."""
        return next(CronSim(cron, moment.astimezone(UTC)), None)


def check_cron(cron: str) -> str:
    """Return the expression unchanged if it is valid and ever due.

    Raises:
        InvalidParameterError: It is invalid, or names a day that no month has.
    """
    try:
        is_ever = next(CronSim(cron, datetime(2026, 1, 1, tzinfo=UTC)), None) is not None
    except CronSimError as error:
        raise InvalidParameterError(f"`every`: {cron!r}: {error}", hint=SCHEDULE_HELP) from error
    if not is_ever:
        raise InvalidParameterError(f"`every`: {cron!r} is never due", hint=SCHEDULE_HELP)
    return cron
