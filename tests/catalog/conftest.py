"""The small store, for reports of a catalogue."""

from tests.small_store import small

__all__ = ["small"]
