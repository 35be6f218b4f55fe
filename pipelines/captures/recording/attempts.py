"""One attempt to read a surface: request, response and observations. Pure."""

import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from uuid import uuid4

from pipelines.captures.recording.observations import (
    CaptureRequest,
    ObservedRecords,
    to_observed_records,
)
from pipelines.platform.call_trace import CallTrace
from pipelines.platform.parsers.lists import foreign_rows_error
from pipelines.platform.reading import PARSER_VERSION, CapturedValue, Reading
from warehouse.records.errors import SametrackError, UpstreamError
from warehouse.records.videos import UnavailableVideo, VideoPage


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureAttempt:
    """Request, response, observations. `outcome`: ok, unavailable, cancelled, or an error type.

    `notice` and `detail_msg` are what the platform says of a video that it does not show.
    """

    surface: str
    entity_id: str
    observed_at: datetime
    outcome: str
    request_count: int
    question: CaptureRequest
    reason: str | None = None
    notice: str | None = None
    detail_msg: str | None = None
    http_status: int | None = None
    payload: bytes = b""
    content_type: str | None = None
    source_path: str | None = None
    parser_version: str = PARSER_VERSION
    observed: ObservedRecords = field(default_factory=ObservedRecords)
    capture_id: str = field(default_factory=lambda: uuid4().hex)

    @property
    def requested_surface(self) -> str:
        """The requested surface, even if another one answered: captures are numbered by it."""
        return self.question.surface

    @property
    def payload_sha256(self) -> str | None:
        """Hash of the body; None if there is none."""
        return hashlib.sha256(self.payload).hexdigest() if self.payload else None


def successful_attempt[T: CapturedValue](
    reading: Reading[T], question: CaptureRequest
) -> CaptureAttempt:
    """Return the attempt of a successful reading."""
    outcome, reason = outcome_of(reading.value)
    return CaptureAttempt(
        surface=reading.surface,
        entity_id=question.entity_id,
        observed_at=reading.fetched_at,
        outcome=outcome,
        reason=reason,
        notice=getattr(reading.value, "notice", None),
        detail_msg=getattr(reading.value, "detail_msg", None),
        request_count=reading.request_count,
        question=question,
        http_status=reading.http_status,
        payload=reading.payload,
        content_type=reading.content_type,
        source_path=reading.source_path,
        parser_version=reading.parser_version,
        observed=to_observed_records(reading.value),
    )


def outcome_of(value: CapturedValue) -> tuple[str, str | None]:
    """Return the outcome of a capture with this value, and its reason.

    A page with more foreign rows than others is no state of its list: its videos are observed, but
    the union of the list does not contain it.
    """
    match value:
        case UnavailableVideo():
            return "unavailable", value.filter_reason
        case VideoPage() if value.is_substituted:
            error = foreign_rows_error(value)
            return error.type, error.reason
        case _:
            return "ok", None


def failed_attempt(
    error: SametrackError | None,
    call_trace: CallTrace,
    question: CaptureRequest,
    *,
    observed_at: datetime,
) -> CaptureAttempt:
    """Return the attempt of an error, with the last body received; None means cancelled."""
    last = call_trace.last
    known = error if isinstance(error, UpstreamError) else None
    return CaptureAttempt(
        surface=known.surface if known else question.surface,
        entity_id=question.entity_id,
        observed_at=observed_at,
        outcome=error.type if error else "cancelled",
        reason=known.reason if known else None,
        request_count=call_trace.request_count,
        question=question,
        http_status=(known.status if known else None) or (last.status if last else None),
        payload=last.body if last else b"",
        content_type=last.content_type if last else None,
        source_path=last.path if last else None,
    )
