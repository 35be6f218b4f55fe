"""What these tests share: a small warehouse with the command line over it, and a small platform."""

from tests.sandbox.conftest import platform, world
from tests.warehouse.small_store import command, small_store

__all__ = ["command", "platform", "small_store", "world"]
