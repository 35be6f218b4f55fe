"""Where errors of the storage libraries become ours.

Here: which library error is which `WarehouseError`. Nothing of a library's message goes into
`detail`, because messages carry paths and addresses; the cause stays attached for the log.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import duckdb
import pyarrow as pa
from deltalake.exceptions import DeltaError
from sqlalchemy.exc import SQLAlchemyError

from pipelines.domain.errors import WarehouseError, WarehouseUnavailableError

_HINT = "check that the store is in reach, that the disk has room and who owns the files"
_MISTAKES = (
    duckdb.ProgrammingError,  # syntax, unknown names, wrong arguments
    duckdb.DataError,  # values that do not convert
    duckdb.NotSupportedError,
)


@contextmanager
def storage_errors(what: str) -> Iterator[None]:
    """Translate what Delta, Arrow, SQLAlchemy and the disk raise while doing `what`.

    Raises:
        WarehouseUnavailableError: In place of any of them.
    """
    try:
        yield
    except (DeltaError, pa.ArrowException, SQLAlchemyError, OSError) as error:
        raise WarehouseUnavailableError(
            f"{what} failed ({type(error).__name__})", hint=_HINT
        ) from error


@contextmanager
def query_errors() -> Iterator[None]:
    """Translate what DuckDB raises: a mistake in the question, or a warehouse out of reach.

    Raises:
        WarehouseError: The query itself is wrong.
        WarehouseUnavailableError: The files or the memory for it are missing.
    """
    try:
        yield
    except _MISTAKES as error:
        raise WarehouseError(f"the query is not answerable ({type(error).__name__})") from error
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        raise WarehouseUnavailableError(
            f"reading the lake failed ({type(error).__name__})", hint=_HINT
        ) from error
