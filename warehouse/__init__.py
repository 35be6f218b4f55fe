"""Facts at rest: records, tables, lake, engine, queries, control store, exports and maintenance.

Analysts begin here: `from warehouse import open_warehouse`.
"""

import sys
from typing import TYPE_CHECKING

_VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"
if sys.version_info < (3, 12):  # noqa: UP036 -- later files would end in a syntax error
    raise ImportError(f"Sametrack needs Python 3.12 or newer; this is Python {_VERSION}")

if TYPE_CHECKING:
    from pathlib import Path

    from warehouse.analysis.warehouse import AsOfTime, Warehouse

__all__ = ["open_warehouse"]


def open_warehouse(
    address: "str | Path | None" = None, *, as_of: "AsOfTime | None" = None
) -> "Warehouse":
    """Open the warehouse for reading.

    Args:
        address: The home of a world (`warehouse/data/sandbox`), a lake, or `s3://bucket/prefix`
            with keys and region from the AWS_* variables. None takes the settings (`PROFILE`,
            `DATA_HOME`, `LAKE_URL`; from the environment or `.env`).
        as_of: A date (its end, in UTC) or a time at least a minute ago: only what was committed
            until then is read. None reads the current state.

    Raises:
        InvalidParameterError: Nothing is there, or `as_of` is no past time.
        WarehouseError: The lake cannot be opened.
    """
    from warehouse.analysis.warehouse import open_reading  # noqa: PLC0415 -- loads DuckDB and Delta

    return open_reading(address, as_of=as_of)
