"""The small store, for what assets publish."""

from tests.warehouse.small_store import small_store

__all__ = ["small_store"]
