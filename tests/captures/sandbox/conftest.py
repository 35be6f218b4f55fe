"""Captures over the running sandbox."""

from tests.stand_in_platform import (
    book,
    client,
    clock,
    faults,
    start,
    stores,
    switches,
    track,
    wire,
    wire_profile,
)

__all__ = [
    "book",
    "client",
    "clock",
    "faults",
    "start",
    "stores",
    "switches",
    "track",
    "wire",
    "wire_profile",
]
