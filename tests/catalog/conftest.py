"""The small store, for reports of a catalogue."""

from tests.warehouse.small_store import small_store

__all__ = ["small_store"]
