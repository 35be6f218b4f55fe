"""The control store: jobs, leases, host budgets, circuits and links, in SQLite or PostgreSQL."""

from warehouse.control.database import RESTART_S
from warehouse.control.records import (
    BacklogItem,
    CachedLink,
    CacheValidators,
    CaptureClaim,
    CircuitState,
    NewJob,
    RobotsDecision,
    TokenGrant,
)
from warehouse.control.scan_journal import StoredPreview
from warehouse.control.store import ControlStore, open_control

__all__ = [
    "RESTART_S",
    "BacklogItem",
    "CacheValidators",
    "CachedLink",
    "CaptureClaim",
    "CircuitState",
    "ControlStore",
    "NewJob",
    "RobotsDecision",
    "StoredPreview",
    "TokenGrant",
    "open_control",
]
