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
    "response_cut",
    "search_page_limit",
    "request_budget",
    "batch_target_reached",
    "search_candidate_limit",
]
"""Why a term ended without an upstream error; after one, the reason is its `stop_reason`."""

HARMLESS_NIL_TYPES = frozenset({"no_result", "federation_empty", "empty"})
"""Words for "no result" that mean just that. Any other one may hide a refusal, so a term that ends
with it is `empty_ambiguous`, never `exhausted`.
"""


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
    cards that are not videos (users, related words). `is_cut`: the response broke off, and the page
    holds what arrived whole.
    """

    videos: tuple[Video, ...]
    next_position: SearchPosition
    has_more: bool | None
    nil_type: str | None = None
    skipped_cards: int = 0
    is_cut: bool = False
