"""What listening to one file may cost. Loaded by parent and child, so it loads nothing itself."""

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodeLimits:
    """Limits per file; `memory_mb` is the address space of a child, libraries included."""

    max_seconds: float = 60.0
    max_bytes: int = 500_000_000
    wall_s: float = 30.0
    memory_mb: int = 1_024

    def to_json(self) -> str:
        """The form in which a child is told."""
        return json.dumps(asdict(self))
