"""What the result of a probe means: its outcome, its reason, its HTTP status. Pure."""

from pipelines.platform.call_trace import CallTrace
from pipelines.platform.http.robots import DISALLOWED
from warehouse.records.errors import (
    SURFACE_OFF,
    EmptyAnswerError,
    InputError,
    SametrackError,
    UpstreamError,
)
from warehouse.records.health import ProbeOutcome, outcome_of
from warehouse.records.videos import UnavailableVideo, VideoPage

TIME_IS_UP = "time_is_up"
_OURS = frozenset({TIME_IS_UP, DISALLOWED, SURFACE_OFF, "crowded"})
"""Reasons of our own: no request was made, or none was refused."""
_REASON_CHARS = 200


def empty_list_error(seen: object, surface: str) -> SametrackError | None:
    """Return an error for an empty list: known ids have videos, so the surface withholds them."""
    if not isinstance(seen, VideoPage) or seen.videos:
        return None
    return EmptyAnswerError("the list has no entries", surface=surface, reason="empty_list")


def probe_outcome(error: SametrackError | None, reason: str | None) -> ProbeOutcome:
    """Return the outcome of a probe that ended with an error, or without."""
    if error is None:
        return "works"
    return "not_asked" if reason in _OURS else outcome_of(error.type)


def probe_reason(seen: object, error: SametrackError | None) -> str | None:
    """Return the platform's reason, or ours; shortened, because it may quote the response."""
    if isinstance(seen, UnavailableVideo):
        return "canary_unavailable"
    if isinstance(error, InputError):
        return "unknown_id"
    if isinstance(error, UpstreamError):
        return (error.reason or error.detail)[:_REASON_CHARS]
    return None if error is None else error.detail[:_REASON_CHARS]


def probe_status(error: SametrackError | None, call_trace: CallTrace) -> int | None:
    """Return the HTTP status of a probe; None if there was no response."""
    if isinstance(error, UpstreamError) and error.status is not None:
        return error.status
    return None if call_trace.last is None else call_trace.last.status
