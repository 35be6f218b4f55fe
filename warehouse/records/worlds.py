"""Names of providers and worlds: the data of one profile, or of a provider with its own data."""

from typing import Literal

DataProvider = Literal["vidplat-public", "browser-public", "mock", "file", "vidplat-web"]
MusicProvider = Literal["public-graph", "mobileapp-guest", "browser-public"]
OWN_WORLDS = frozenset({"mock", "file"})
"""Providers whose data is in a world of their name, whatever the profile."""
_REAL = frozenset({"public", "file"})


def is_demo_world(world: str) -> bool:
    """Return True unless the data comes from the public platform or from the user's own files."""
    return world not in _REAL
