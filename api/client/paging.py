"""Cursor of the next page of a list."""

from collections.abc import Mapping
from typing import Any


def next_cursor(data: Mapping[str, Any], name: str, *, now: int) -> int | None:
    """Return the cursor of the next page; None after the last one.

    An unchanged cursor also ends the list: it would return the same page forever.
    """
    cursor: int = data[name]
    return cursor if data["has_more"] and cursor != now else None
