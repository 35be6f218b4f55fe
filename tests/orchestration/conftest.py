"""The small store, for what assets publish."""

from tests.small_store import small

__all__ = ["small"]
