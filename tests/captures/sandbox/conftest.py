"""Captures over the running sandbox."""

from tests.platform.sandbox_platform import (
    client,
    clock,
    control_store,
    faults,
    scripted_profile,
    scripted_server,
    start,
    stores,
    switches,
    track,
)

__all__ = [
    "client",
    "clock",
    "control_store",
    "faults",
    "scripted_profile",
    "scripted_server",
    "start",
    "stores",
    "switches",
    "track",
]
