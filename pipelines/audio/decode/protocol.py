"""What the decoder pool and its child processes exchange: limits, requests and replies.

Imported by parent and child, so it loads no decoder. Not here: the processes (`decoder_pool.py`,
`decoder_process.py`).
"""

import json
import struct
from dataclasses import asdict, dataclass
from typing import Literal, TypedDict

MAX_SECONDS = 60.0
"""Longest part of a sound that is decoded, in scans too."""
FRAME = struct.Struct("<II")
"""Message header: length of the JSON head, length of the payload that follows it."""

Task = Literal["measure", "cut"]


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


class DecoderRequest(TypedDict):
    """One request: what to do with a file. `stretch` is the start and duration to cut."""

    path: str
    task: Task
    stretch: list[float] | None


class DecoderReply(TypedDict, total=False):
    """The JSON head of a reply: a failure reason, or the properties of the measured sound."""

    sha256: str | None
    reason: str
    duration_s: float
    sample_rate_hz: int
    codec: str
    cpu_ms: float
