"""Tell errors after which a job waits for a resource, and outages of a store, from other errors.

A resource is space on a disk, a host that asked for a pause, a host's budget of the day, or a store
that cannot be reached. Waiting for one never costs a job an attempt.
"""

import errno
from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy.exc import InterfaceError, OperationalError

from warehouse.records import errors
from warehouse.records.jobs import LONGEST_WAIT_S, WaitingFor

DISK_WAIT_S = 15.0
STORE_WAIT_S = 5.0
_DISK_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS})
_DISK_TEXTS = (
    "no space left on device",
    "quota exceeded",
    "read-only file system",
    "disk is full",
    "readonly database",
    "disk i/o error",
)
"""Messages of the system and of SQLite, for errors without a number, such as those of the lake."""


@dataclass(frozen=True, slots=True)
class ResourceWait:
    """What a job waits for, and the seconds before it is claimed again."""

    resource: WaitingFor
    seconds: float


def awaited_resource(error: BaseException | None) -> ResourceWait | None:
    """Return what a job that ended with this error waits for; None if the job itself has failed.

    Example: an `OSError` with `ENOSPC` returns `ResourceWait("disk", 15.0)`.
    """
    if isinstance(error, errors.BudgetSpentError | errors.RateLimitedError):
        resource: WaitingFor = (
            "budget" if isinstance(error, errors.BudgetSpentError) else "host_pause"
        )
        seconds = max(STORE_WAIT_S, error.retry_after or 0.0)
        return ResourceWait(resource, min(seconds, LONGEST_WAIT_S))
    if any(_is_disk_error(cause) for cause in _causes(error)):
        return ResourceWait("disk", DISK_WAIT_S)
    return ResourceWait("worker", STORE_WAIT_S) if is_outage(error) else None


def is_outage(error: BaseException | None) -> bool:
    """Whether the error or one of its causes says that a store could not be reached."""
    # A SQLite file that is locked, full or read-only counts, too: a later attempt may succeed.
    return any(
        isinstance(cause, OperationalError | InterfaceError)
        or (isinstance(cause, errors.WarehouseUnavailableError) and cause.retry_after is not None)
        for cause in _causes(error)
    )


def _is_disk_error(error: BaseException) -> bool:
    if isinstance(error, errors.CapacityExhaustedError):
        return True
    if isinstance(error, OSError) and error.errno in _DISK_ERRORS:
        return True
    return any(text in str(error).lower() for text in _DISK_TEXTS)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
