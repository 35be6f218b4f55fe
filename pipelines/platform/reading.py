"""What a provider hands over: a record, and everything needed to keep where it came from."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from warehouse.records.errors import UpstreamError

PARSER_VERSION = "vidplat-2"
"""Raised whenever a parser reads the same payload differently."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading[T]:
    """One successful look at one surface. `payload` is the body that `value` was read from;
    `request_count` includes repeats, redirects and the source that gave nothing. `instead_of`: the
    source refused and demo data stands in for its answer, to be shown as such and never kept.
    """

    surface: str
    entity_id: str
    value: T
    payload: bytes
    content_type: str | None
    http_status: int
    source_path: str
    fetched_at: datetime
    request_count: int
    parser_version: str
    instead_of: UpstreamError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SoundFile:
    """A downloaded sound. The file is named by its hash and belongs to the caller."""

    path: Path
    sha256: str
    size_bytes: int
    content_type: str | None
    request_count: int
