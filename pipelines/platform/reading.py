"""Results of a provider: a record or a file, with its provenance."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from warehouse.records import videos
from warehouse.records.charts import ChartIndex, ChartPage
from warehouse.records.errors import UpstreamError
from warehouse.records.search import SearchPage

PARSER_VERSION = "vidplat-5"
"""Increase it whenever a parser reads the same payload differently."""

type CapturedValue = (
    videos.Track
    | videos.Account
    | videos.HashtagInfo
    | videos.VideoDetail
    | videos.UnavailableVideo
    | videos.VideoPage
    | SearchPage
    | ChartIndex
    | ChartPage
    | videos.ServiceSong
    | videos.ServiceSongList
)
"""Every value that a surface can return."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading[T]:
    """One successful read of one surface.

    `payload` is the body that `value` was parsed from; `request_count` includes retries, redirects
    and failed alternatives. `instead_of` is set when the source refused and demo data replaces its
    response; such a value is shown as demo data and never stored.
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
    parser_version: str = PARSER_VERSION
    instead_of: UpstreamError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SoundFile:
    """A downloaded sound. The file is named by its hash; the caller removes it."""

    path: Path
    sha256: str
    size_bytes: int
    content_type: str | None
    request_count: int
