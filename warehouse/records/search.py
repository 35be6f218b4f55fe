"""Records of guest search: pages, positions, and why a search term ended.

Choosing the terms is part of the scan; fetching and parsing are in `pipelines/platform`.
"""

from dataclasses import dataclass
from typing import Literal

from warehouse.records.videos import Video

SearchStop = Literal[
    "exhausted",
    "cursor_stalled",
    "no_new_items",
    "empty_ambiguous",
    "page_limit",
    "request_budget",
    "batch_target_reached",
    "candidate_limit",
]
"""Why a term ended without an upstream error; otherwise the reason is the error's `type`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPosition:
    """Position where a search page begins; all three values come unchanged from the page before."""

    cursor: int = 0
    search_id: str = ""
    backtrace: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPage:
    """One page of a search, in display order.

    `nil_type` is the platform's own word for "no result", where it gave one; `skipped_cards` counts
    cards that are not videos (users, related words).
    """

    videos: tuple[Video, ...]
    next_position: SearchPosition
    has_more: bool | None
    nil_type: str | None = None
    skipped_cards: int = 0
