"""The control store: jobs, leases, host budgets, circuits and links, in SQLite or PostgreSQL."""

from warehouse.control.records import (
    CircuitState,
    Grant,
    Handover,
    Link,
    NewJob,
    Passage,
    Remembered,
    RobotsDecision,
    RobotsFile,
    Turn,
    Wanted,
)
from warehouse.control.store import ControlStore, open_control

__all__ = [
    "CircuitState",
    "ControlStore",
    "Grant",
    "Handover",
    "Link",
    "NewJob",
    "Passage",
    "Remembered",
    "RobotsDecision",
    "RobotsFile",
    "Turn",
    "Wanted",
    "open_control",
]
