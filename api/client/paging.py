"""Where the next page of a list begins."""

from collections.abc import Mapping
from typing import Any


def next_cursor(data: Mapping[str, Any], name: str, *, now: int) -> int | None:
    """The cursor of the page after this one; None: it was the last.

    A cursor that stays where it is ends the walk: asking again would show the same page for ever.
    """
    cursor: int = data[name]
    return cursor if data["has_more"] and cursor != now else None
