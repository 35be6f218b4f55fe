"""Which errors say that a store is away: the control store, or Dagster's.

A SQLite file that is locked, full or read-only counts, too: a later attempt may succeed.
"""

from sqlalchemy.exc import InterfaceError, OperationalError

from warehouse.records.errors import WarehouseUnavailableError


def is_outage(error: BaseException | None) -> bool:
    """Whether a store could not be reached, as the error or one of its causes says."""
    while error is not None:
        if isinstance(error, OperationalError | InterfaceError):
            return True
        if isinstance(error, WarehouseUnavailableError) and error.retry_after is not None:
            return True
        error = error.__cause__ or error.__context__
    return False
