"""The control store: job rows, leases, host budgets, links, outbox; SQLite or PostgreSQL."""

from warehouse.control.records import Grant, Link, NewJob, OutboxLine
from warehouse.control.store import ControlStore, open_control

__all__ = ["ControlStore", "Grant", "Link", "NewJob", "OutboxLine", "open_control"]
