"""What a guest search shows, page by page, and why it ends. Pure records.

Deciding which terms to search belongs to the scan; fetching and parsing belong to `upstream`.
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
"""Why a term ended when no upstream error ended it; else the reason is the error's `type`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPlace:
    """Where a page of a search begins: all three are passed on unchanged from the page before."""

    cursor: int = 0
    search_id: str = ""
    backtrace: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPage:
    """One page of a search, in the order shown. `nil_type` is the platform's own word for "no
    result", where it gave one; `skipped_cards` counts cards that are no works (users, words).
    """

    videos: tuple[Video, ...]
    next_place: SearchPlace
    has_more: bool | None
    nil_type: str | None = None
    skipped_cards: int = 0
