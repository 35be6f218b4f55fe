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
from .operations import ApiRequest, ScanOptions

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


def watchlists() -> ApiRequest[WatchlistsData]:
    """List watchlists."""
    return ApiRequest("GET", LISTS)


def create_watchlist(
    name: str, every: str, entries: Sequence[WatchEntryGiven], options: WatchlistOptions
) -> ApiRequest[WatchlistData]:
    """Create a watchlist."""
    body = {"name": name, "every": every, "entries": list(entries), **options}
    return ApiRequest("POST", LISTS, body=body, is_safe=False)


def watchlist(name: str) -> ApiRequest[WatchlistData]:
    """Read a watchlist."""
    return ApiRequest("GET", _path(name))


def change_watchlist(name: str, changes: WatchlistChanges) -> ApiRequest[WatchlistData]:
    """Change a watchlist. Idempotent."""
    return ApiRequest("PATCH", _path(name), body=dict(changes))


def delete_watchlist(name: str) -> ApiRequest[WatchlistDeletedData]:
    """Delete a watchlist."""
    return ApiRequest("DELETE", _path(name), is_safe=False)


def run_watchlist(name: str) -> ApiRequest[WatchRunData]:
    """Start a run now."""
    return ApiRequest("POST", f"{_path(name)}/runs", is_safe=False)


def watchlist_runs(name: str, limit: int | None) -> ApiRequest[WatchRunsData]:
    """List the newest runs."""
    return ApiRequest("GET", f"{_path(name)}/runs", {"limit": limit})


def watchlist_run(name: str, run_id: str) -> ApiRequest[WatchRunData]:
    """Read a run."""
    return ApiRequest("GET", f"{_path(name)}/runs/{quote(run_id, safe='')}")


def watchlist_digests(name: str, limit: int | None) -> ApiRequest[WatchDigestsData]:
    """List the newest digests."""
    return ApiRequest("GET", f"{_path(name)}/digests", {"limit": limit})


def _path(name: str) -> str:
    return f"{LISTS}/{quote(name, safe='')}"
