"""Bodies of the archive by their hash, for whoever asks a server whether one still holds."""

from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.packing import unpack_bytes
from warehouse.queries.captures import read_payload


class StoredBodies:
    """The bodies of one lake."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def read_body(self, sha256: str) -> bytes | None:
        """A body; None when it is not kept (any more, or yet)."""
        packed = read_payload(self._engine, sha256)
        return None if packed is None else unpack_bytes(packed)
