"""Resource limits for decoding one file. Imported by parent and child, so it stays light."""

import json
from dataclasses import asdict, dataclass

MAX_SECONDS = 60.0
"""Of every sound, in scans too, no more is decoded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodeLimits:
    """Limits per file; `memory_mb` is the child's address space, including libraries."""

    max_seconds: float = MAX_SECONDS
    max_bytes: int = 500_000_000
    wall_s: float = 30.0
    memory_mb: int = 1_024

    def to_json(self) -> str:
        """Serialize for the command line of a decoder process."""
        return json.dumps(asdict(self))
