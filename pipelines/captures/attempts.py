"""One attempt to read a surface, and the rows of the lake that it becomes. Pure."""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import TypedDict
from uuid import uuid4

from pipelines.domain.errors import SametrackError, UpstreamError
from pipelines.domain.records import Account, Track, UnavailableVideo, Video
from pipelines.upstream.reading import PARSER_VERSION, Reading
from pipelines.upstream.trail import Trail
from warehouse.documents import pack_bytes
from warehouse.rows import account_row, track_row, video_row

Row = dict[str, object]


class Origin(TypedDict):
    """What every observation says of where it came from."""

    capture_id: str
    job_id: str | None
    data_provider: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """What was asked, what came, what was observed in it. `items` are the ids a page showed."""

    surface: str
    entity_id: str
    observed_at: datetime
    outcome: str
    request_count: int
    reason: str | None = None
    http_status: int | None = None
    payload: bytes = b""
    content_type: str | None = None
    source_path: str | None = None
    cursor_in: int | None = None
    cursor_out: int | None = None
    has_more: bool | None = None
    items: tuple[str, ...] | None = None
    videos: tuple[Video, ...] = ()
    tracks: tuple[Track, ...] = ()
    accounts: tuple[Account, ...] = ()

    @property
    def payload_sha256(self) -> str | None:
        """Hash of the body; None when nothing came."""
        return hashlib.sha256(self.payload).hexdigest() if self.payload else None


def succeeded[T](reading: Reading[T], **seen: object) -> Attempt:
    """The attempt behind a reading; `seen` are the fields that its record fills."""
    gone = reading.value if isinstance(reading.value, UnavailableVideo) else None
    return Attempt(
        surface=reading.surface,
        entity_id=reading.entity_id,
        observed_at=reading.fetched_at,
        outcome="ok" if gone is None else "unavailable",
        reason=None if gone is None else gone.filter_reason,
        request_count=reading.request_count,
        http_status=reading.http_status,
        payload=reading.payload,
        content_type=reading.content_type,
        source_path=reading.source_path,
        **seen,  # type: ignore[arg-type]  # named by the callers in this package
    )


def failed(
    error: SametrackError | None,
    trail: Trail,
    *,
    surface: str,
    entity_id: str,
    observed_at: datetime,
    cursor_in: int | None = None,
) -> Attempt:
    """The attempt behind an error, with the last body that came; no error means cancelled."""
    last = trail.last
    known = error if isinstance(error, UpstreamError) else None
    return Attempt(
        surface=known.surface if known else surface,
        entity_id=entity_id,
        observed_at=observed_at,
        outcome=error.type if error else "cancelled",
        reason=known.reason if known else None,
        request_count=trail.request_count,
        http_status=(known.status if known else None) or (last.status if last else None),
        payload=last.body if last else b"",
        content_type=last.content_type if last else None,
        source_path=last.path if last else None,
        cursor_in=cursor_in,
    )


class Batch:
    """Rows of a batch of attempts, table by table. `sequences` stand in the attempts' order."""

    def __init__(
        self,
        attempts: list[Attempt],
        sequences: list[int],
        *,
        data_provider: str,
        job_id: str | None,
    ) -> None:
        self._numbered = [
            (uuid4().hex, sequence, attempt)
            for attempt, sequence in zip(attempts, sequences, strict=True)
        ]
        self._data_provider = data_provider
        self._job_id = job_id

    def payloads(self, *, stored: set[str]) -> list[Row]:
        """Rows of `raw.payloads` for bodies that are not stored yet."""
        rows: dict[str, Row] = {}
        for _, _, attempt in self._numbered:
            sha256 = attempt.payload_sha256
            if sha256 is not None and sha256 not in stored and sha256 not in rows:
                rows[sha256] = _payload_row(sha256, attempt)
        return list(rows.values())

    def items(self) -> list[Row]:
        """Rows of `raw.capture_items`."""
        return [
            {
                "capture_id": capture_id,
                "position": position,
                "surface": attempt.surface,
                "entity_id": attempt.entity_id,
                "sequence": sequence,
                "aweme_id": aweme_id,
            }
            for capture_id, sequence, attempt in self._numbered
            for position, aweme_id in enumerate(attempt.items or ())
        ]

    def videos(self) -> list[Row]:
        """Rows of `raw.videos`."""
        return [
            video_row(video, **self._origin(capture_id))
            for capture_id, _, attempt in self._numbered
            for video in attempt.videos
        ]

    def tracks(self) -> list[Row]:
        """Rows of `raw.tracks`."""
        return [
            track_row(track, **self._origin(capture_id))
            for capture_id, _, attempt in self._numbered
            for track in attempt.tracks
        ]

    def accounts(self) -> list[Row]:
        """Rows of `raw.accounts`."""
        return [
            account_row(account, **self._origin(capture_id))
            for capture_id, _, attempt in self._numbered
            for account in attempt.accounts
        ]

    def captures(self) -> list[Row]:
        """Rows of `raw.captures`: to be written last, they make the others count."""
        return [self._capture(*numbered) for numbered in self._numbered]

    def _capture(self, capture_id: str, sequence: int, attempt: Attempt) -> Row:
        return {
            "capture_id": capture_id,
            "surface": attempt.surface,
            "entity_id": attempt.entity_id,
            "sequence": sequence,
            "outcome": attempt.outcome,
            "reason": attempt.reason,
            "http_status": attempt.http_status,
            "request_count": attempt.request_count,
            "item_count": None if attempt.items is None else len(attempt.items),
            "cursor_in": attempt.cursor_in,
            "cursor_out": attempt.cursor_out,
            "has_more": attempt.has_more,
            "payload_sha256": attempt.payload_sha256,
            "source_path": attempt.source_path,
            "parser_version": PARSER_VERSION,
            "data_provider": self._data_provider,
            "job_id": self._job_id,
            "observed_at": attempt.observed_at,
        }

    def _origin(self, capture_id: str) -> Origin:
        return {
            "capture_id": capture_id,
            "job_id": self._job_id,
            "data_provider": self._data_provider,
        }


def _payload_row(sha256: str, attempt: Attempt) -> Row:
    return {
        "sha256": sha256,
        "body": pack_bytes(attempt.payload),
        "size_bytes": len(attempt.payload),
        "content_type": attempt.content_type,
    }
