"""Requests for watchlists, and the types of their bodies."""

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
    """An entry: its kind, and its id or a link."""

    kind: Literal["track", "account", "hashtag"]
    input: str


class WatchThresholdsGiven(TypedDict, total=False):
    """Smallest changes that a digest reports; None: never. Omitted ones use the default."""

    velocity: float | None
    rank_change: int | None
    new_music_id: bool


class WatchlistChanges(TypedDict, total=False):
    """Changes to a watchlist; omitted fields stay unchanged."""

    every: str
    entries: Sequence[WatchEntryGiven]
    thresholds: WatchThresholdsGiven
    parameters: ScanOptions
    enabled: bool


class WatchlistOptions(TypedDict, total=False):
    """Optional fields of a new watchlist."""

    thresholds: WatchThresholdsGiven
    parameters: ScanOptions
    enabled: bool


def watchlists() -> Ask[WatchlistsData]:
    """List watchlists."""
    return Ask("GET", LISTS)


def create_watchlist(
    name: str, every: str, entries: Sequence[WatchEntryGiven], options: WatchlistOptions
) -> Ask[WatchlistData]:
    """Create a watchlist."""
    body = {"name": name, "every": every, "entries": list(entries), **options}
    return Ask("POST", LISTS, body=body, is_safe=False)


def watchlist(name: str) -> Ask[WatchlistData]:
    """Read a watchlist."""
    return Ask("GET", _path(name))


def change_watchlist(name: str, changes: WatchlistChanges) -> Ask[WatchlistData]:
    """Change a watchlist. Idempotent."""
    return Ask("PATCH", _path(name), body=dict(changes))


def delete_watchlist(name: str) -> Ask[WatchlistDeletedData]:
    """Delete a watchlist."""
    return Ask("DELETE", _path(name), is_safe=False)


def run_watchlist(name: str) -> Ask[WatchRunData]:
    """Start a run now."""
    return Ask("POST", f"{_path(name)}/runs", is_safe=False)


def watchlist_runs(name: str, limit: int | None) -> Ask[WatchRunsData]:
    """List the newest runs."""
    return Ask("GET", f"{_path(name)}/runs", {"limit": limit})


def watchlist_run(name: str, run_id: str) -> Ask[WatchRunData]:
    """Read a run."""
    return Ask("GET", f"{_path(name)}/runs/{quote(run_id, safe='')}")


def watchlist_digests(name: str, limit: int | None) -> Ask[WatchDigestsData]:
    """List the newest digests."""
    return Ask("GET", f"{_path(name)}/digests", {"limit": limit})


def _path(name: str) -> str:
    return f"{LISTS}/{quote(name, safe='')}"
