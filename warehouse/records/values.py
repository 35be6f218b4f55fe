"""Plain values: rows of a query and JSON documents, whose shape only their source knows, and ids.

Code that uses a row or a document in more than one place reads it into a record first.
"""

import re
from collections.abc import Mapping
from typing import Any

type Row = dict[str, Any]  # columns and their types come from SQL, which no type checker reads
type Document = dict[str, Any]  # JSON as it is stored or sent; `api/schemas` types the answers
type ReadOnlyRow = Mapping[str, Any]  # the same, for a reader; also of the log of a table
type ReadOnlyDocument = Mapping[str, Any]

MAX_COUNT = 10**15
"""No count of the platform is near it, and sums of counts up to it fit into 64 bits."""
PLATFORM_ID = "[0-9]{5,30}"
_PLATFORM_ID = re.compile(PLATFORM_ID)
_OWN_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def is_platform_id(text: str) -> bool:
    """Return True for 5 to 30 ASCII digits."""
    return _PLATFORM_ID.fullmatch(text) is not None


def is_own_id(text: str) -> bool:
    """Return True for a UUID in lower case, as we make them."""
    return _OWN_ID.fullmatch(text) is not None
