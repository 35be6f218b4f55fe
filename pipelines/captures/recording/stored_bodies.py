"""Archived bodies by hash, for conditional requests."""

from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.packing import unpack_bytes
from warehouse.queries.captures import read_payload


class PayloadArchive:
    """The bodies of one lake."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def read_body(self, sha256: str) -> bytes | None:
        """Return a body; None if it is not stored (yet, or any more)."""
        packed = read_payload(self._engine, sha256)
        return None if packed is None else unpack_bytes(packed)
