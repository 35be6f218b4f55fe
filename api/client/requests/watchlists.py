"""What is sent for watchlists: their operations, and the shapes of what one says of a list.

The service's own operations. As in `asking.py`, nothing is sent here.
"""

from collections.abc import Sequence
from typing import Literal, TypedDict
from urllib.parse import quote

from ..types.extensions import (
    WatchDigestsData,
    WatchlistData,
    WatchlistDeletedData,
    WatchlistsData,
    WatchRunData,
    WatchRunsData,
)
from .operations import Ask, ScanOptions

LISTS = "/api/v1/sametrack/watchlists"


class WatchEntryGiven(TypedDict):
    """One thing to look at: its kind, and its id or a link."""

    kind: Literal["track", "account", "hashtag"]
    input: str


class WatchThresholdsGiven(TypedDict, total=False):
    """From which change on a digest names it; None: never. What is left out takes the default."""

    velocity: float | None
    rank_change: int | None
    new_music_id: bool


class WatchlistChanges(TypedDict, total=False):
    """What may be said of a watchlist beside its name; what is left out stays as it is."""

    every: str
    entries: Sequence[WatchEntryGiven]
    thresholds: WatchThresholdsGiven
    parameters: ScanOptions
    enabled: bool


class WatchlistOptions(TypedDict, total=False):
    """What a new watchlist need not say."""

    thresholds: WatchThresholdsGiven
    parameters: ScanOptions
    enabled: bool


def watchlists() -> Ask[WatchlistsData]:
    """All lists."""
    return Ask("GET", LISTS)


def create_watchlist(
    name: str, every: str, entries: Sequence[WatchEntryGiven], options: WatchlistOptions
) -> Ask[WatchlistData]:
    """A new list."""
    body = {"name": name, "every": every, "entries": list(entries), **options}
    return Ask("POST", LISTS, body=body, is_safe=False)


def watchlist(name: str) -> Ask[WatchlistData]:
    """One list."""
    return Ask("GET", _path(name))


def change_watchlist(name: str, changes: WatchlistChanges) -> Ask[WatchlistData]:
    """Other words for a list. Said twice they change nothing."""
    return Ask("PATCH", _path(name), body=dict(changes))


def delete_watchlist(name: str) -> Ask[WatchlistDeletedData]:
    """No list any more."""
    return Ask("DELETE", _path(name), is_safe=False)


def run_watchlist(name: str) -> Ask[WatchRunData]:
    """A run at once."""
    return Ask("POST", f"{_path(name)}/runs", is_safe=False)


def watchlist_runs(name: str, limit: int | None) -> Ask[WatchRunsData]:
    """The newest runs."""
    return Ask("GET", f"{_path(name)}/runs", {"limit": limit})


def watchlist_run(name: str, run_id: str) -> Ask[WatchRunData]:
    """One run."""
    return Ask("GET", f"{_path(name)}/runs/{quote(run_id, safe='')}")


def watchlist_digests(name: str, limit: int | None) -> Ask[WatchDigestsData]:
    """The newest digests."""
    return Ask("GET", f"{_path(name)}/digests", {"limit": limit})


def _path(name: str) -> str:
    return f"{LISTS}/{quote(name, safe='')}"
