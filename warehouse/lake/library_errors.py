"""Translation of storage library errors.

A library's message never goes into `detail`, because it can contain paths and URLs; the cause stays
attached for the log.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from warehouse.records.errors import WarehouseUnavailableError

_HINT = "check that the store is reachable, the free disk space and the owner of the files"


@contextmanager
def translate_errors(what: str, *causes: type[Exception]) -> Iterator[None]:
    """Translate `causes`, raised while doing `what`.

    Raises:
        WarehouseUnavailableError: In place of any of them.
    """
    try:
        yield
    except causes as error:
        raise WarehouseUnavailableError(
            f"{what} failed ({type(error).__name__})", hint=_HINT
        ) from error
