"""A call as the journal of a scan keeps it: its value, file or error, its cost, its attempt.

Conversion only. A value or an error comes back equal to what the scan was given.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from functools import cache
from typing import Any, get_args

from pydantic import TypeAdapter

from pipelines.captures.recording.attempts import CaptureAttempt
from pipelines.captures.recording.observations import (
    CaptureRequest,
    ObservedRecords,
    to_observed_records,
)
from pipelines.platform.call_trace import CallTrace
from pipelines.platform.reading import CapturedValue, SoundFile
from warehouse.records.errors import SametrackError, UpstreamError

type Verdicts = Counter[tuple[str, str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCall:
    """One call and what came of it: a value, a file or an error."""

    observed_at: datetime
    request_count: int = 0
    verdicts: Verdicts = field(default_factory=Counter)
    is_fallback: bool = False
    is_shared: bool = False
    surface: str | None = None
    value: CapturedValue | None = None
    file: SoundFile | None = None
    error: SametrackError | None = None
    attempt: CaptureAttempt | None = None

    def with_cost(self, call_trace: CallTrace) -> "RecordedCall":
        """Return the call with what its trace has counted."""
        return replace(
            self,
            request_count=call_trace.request_count,
            verdicts=Counter(call_trace.verdicts),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _ErrorDocument:
    name: str
    detail: str
    hint: str | None
    retry_after: float | None
    surface: str | None = None
    reason: str | None = None
    status: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _AttemptDocument:
    """A `CaptureAttempt` without its id, its body, and what follows from the value."""

    surface: str
    entity_id: str
    observed_at: datetime
    outcome: str
    request_count: int
    question: CaptureRequest
    reason: str | None
    notice: str | None
    detail_msg: str | None
    http_status: int | None
    content_type: str | None
    source_path: str | None
    parser_version: str
    has_observed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _CallDocument:
    revision: str
    observed_at: datetime
    request_count: int
    verdicts: list[tuple[str, str, str, int]]
    is_fallback: bool
    is_shared: bool
    surface: str | None
    value_type: str | None
    value: Any
    file: SoundFile | None
    error: _ErrorDocument | None
    attempt: _AttemptDocument | None


_COPIED = ("observed_at", "request_count", "is_fallback", "is_shared", "surface", "file")
"""Fields that a document has as its call has them."""


def pack_call(call: RecordedCall) -> bytes:
    """Serialise a call to JSON; the body of its attempt is kept beside it."""
    kind = None if call.value is None else type(call.value).__name__
    value = None if kind is None else _value_types()[kind].dump_python(call.value, mode="json")
    document = _CallDocument(
        **{name: getattr(call, name) for name in _COPIED},
        revision=_revision(),
        verdicts=[(*name, count) for name, count in call.verdicts.items()],
        value_type=kind,
        value=value,
        error=None if call.error is None else _error_document(call.error),
        attempt=None if call.attempt is None else _attempt_document(call.attempt),
    )
    return _documents().dump_json(document)


def unpack_call(document: bytes, *, body: bytes | None, capture_id: str | None) -> RecordedCall:
    """Return the call of a document; its attempt gets this body and id.

    Raises:
        ValueError: The document is of another schema.
    """
    read = _documents().validate_json(document)
    # Data of another schema may parse by chance, and then mean something else.
    if read.revision != _revision():
        raise ValueError("the journal holds a call of another schema")
    value: CapturedValue | None = None
    if read.value_type is not None:
        value = _value_types()[read.value_type].validate_python(read.value)
    return RecordedCall(
        **{name: getattr(read, name) for name in _COPIED},
        verdicts=Counter({(one, two, three): n for one, two, three, n in read.verdicts}),
        value=value,
        error=None if read.error is None else _to_error(read.error),
        attempt=_to_attempt(read.attempt, value, body=body, capture_id=capture_id),
    )


@cache
def _documents() -> TypeAdapter[_CallDocument]:
    return TypeAdapter(_CallDocument)


@cache
def _revision() -> str:
    """Return a hash of all schemas: a call of another release is not read."""
    schemas = [one.json_schema() for one in (_documents(), *_value_types().values())]
    return hashlib.sha256(repr(schemas).encode()).hexdigest()[:16]


@cache
def _value_types() -> dict[str, TypeAdapter[Any]]:
    return {kind.__name__: TypeAdapter(kind) for kind in get_args(CapturedValue.__value__)}


@cache
def _error_types() -> dict[str, type[SametrackError]]:
    return {kind.__name__: kind for kind in _below(SametrackError)}


def _below(kind: type[SametrackError]) -> Iterator[type[SametrackError]]:
    for one in kind.__subclasses__():
        yield one
        yield from _below(one)


def _error_document(error: SametrackError) -> _ErrorDocument:
    return _ErrorDocument(
        name=type(error).__name__,
        detail=error.detail,
        hint=error.hint,
        retry_after=error.retry_after,
        # of upstream errors alone
        surface=getattr(error, "surface", None),
        reason=getattr(error, "reason", None),
        status=getattr(error, "status", None),
    )


def _to_error(document: _ErrorDocument) -> SametrackError:
    kind = _error_types()[document.name]
    if not issubclass(kind, UpstreamError):
        return kind(document.detail, hint=document.hint, retry_after=document.retry_after)
    return kind(
        document.detail,
        surface=document.surface or "",
        reason=document.reason,
        status=document.status,
        hint=document.hint,
        retry_after=document.retry_after,
    )


def _attempt_document(attempt: CaptureAttempt) -> _AttemptDocument:
    names = {one.name for one in fields(_AttemptDocument)} - {"has_observed"}
    return _AttemptDocument(
        **{name: getattr(attempt, name) for name in names},
        has_observed=attempt.observed != ObservedRecords(),
    )


def _to_attempt(
    document: _AttemptDocument | None,
    value: CapturedValue | None,
    *,
    body: bytes | None,
    capture_id: str | None,
) -> CaptureAttempt | None:
    if document is None or capture_id is None:
        return None
    has_observed = document.has_observed and value is not None
    names = {one.name for one in fields(_AttemptDocument)} - {"has_observed"}
    return CaptureAttempt(
        **{name: getattr(document, name) for name in names},
        payload=body or b"",
        observed=to_observed_records(value) if has_observed and value else ObservedRecords(),
        capture_id=capture_id,
    )
