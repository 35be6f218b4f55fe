"""What the pool asks of its child processes and what they reply, without what decodes."""

import struct
from typing import Literal, TypedDict

FRAME = struct.Struct("<II")
"""Message header: length of the JSON head, length of the payload that follows it."""

Task = Literal["measure", "cut"]


class DecoderReply(TypedDict, total=False):
    """The JSON head of a reply: a failure reason, or the properties of the measured sound."""

    sha256: str | None
    reason: str
    duration_s: float
    sample_rate_hz: int
    codec: str
    cpu_ms: float
