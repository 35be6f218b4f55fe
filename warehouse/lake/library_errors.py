"""Where errors of the storage libraries become ours; each store names its own libraries' errors.

Here: what a storage error says. Nothing of a library's message goes into `detail`, because
messages carry paths and addresses; the cause stays attached for the log.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from warehouse.records.errors import WarehouseUnavailableError

_HINT = "check that the store is in reach, that the disk has room and who owns the files"


@contextmanager
def translated(what: str, *causes: type[Exception]) -> Iterator[None]:
    """Turn `causes`, raised while doing `what`, into ours.

    Raises:
        WarehouseUnavailableError: In place of any of them.
    """
    try:
        yield
    except causes as error:
        raise WarehouseUnavailableError(
            f"{what} failed ({type(error).__name__})", hint=_HINT
        ) from error
