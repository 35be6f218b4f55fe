"""Trace of one provider call: requests made and the last response, failures included.

A successful reading carries both itself. A failure is an exception without a body, so the client
also records each exchange on the trace of the current call, if there is one.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import urlsplit

_NOT_MODIFIED = 304


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpResponse:
    """One HTTP response.

    `location` is set when a redirect itself is the answer; `retry_after` is the unparsed header.
    `is_unchanged`: the server answered 304; `status` and `body` are then those of the stored
    response. `validators` are headers for a later conditional request.
    """

    surface: str
    url: str
    status: int
    content_type: str | None
    body: bytes
    fetched_at: datetime
    location: str | None = None
    retry_after: str | None = None
    is_unchanged: bool = False
    validators: Mapping[str, str] = field(default_factory=dict)

    @property
    def wire_status(self) -> int:
        """The status as received (304 for an unchanged body)."""
        return _NOT_MODIFIED if self.is_unchanged else self.status

    @property
    def path(self) -> str:
        """Path of the URL, without host and query."""
        return urlsplit(self.url).path


@dataclass(slots=True)
class CallTrace:
    """Requests made, the last response and the planner's verdicts within one call.

    `verdicts` counts them by question, surface and verdict.
    """

    request_count: int = 0
    last: HttpResponse | None = None
    verdicts: Counter[tuple[str, str, str]] = field(default_factory=Counter)


_OPEN: ContextVar[CallTrace | None] = ContextVar("trail", default=None)


@contextmanager
def open_call_trace() -> Iterator[CallTrace]:
    """Record every exchange of this task, and of the tasks it starts, on one trace.

    A nested trace adds its requests to the outer one when it closes.
    """
    outer, call_trace = _OPEN.get(), CallTrace()
    token = _OPEN.set(call_trace)
    try:
        yield call_trace
    finally:
        _OPEN.reset(token)
        if outer is not None:
            outer.request_count += call_trace.request_count
            outer.last = call_trace.last or outer.last
            outer.verdicts.update(call_trace.verdicts)


def record_request() -> None:
    """Count one request."""
    call_trace = _OPEN.get()
    if call_trace is not None:
        call_trace.request_count += 1


def record_response(answer: HttpResponse) -> None:
    """Record a response."""
    call_trace = _OPEN.get()
    if call_trace is not None:
        call_trace.last = answer


def record_verdict(question: str, surface: str, verdict: str) -> None:
    """Count what became of a source in a question."""
    call_trace = _OPEN.get()
    if call_trace is not None:
        call_trace.verdicts[(question, surface, verdict)] += 1


_ITEM_SEEN: ContextVar[Callable[[str], None] | None] = ContextVar("item_seen", default=None)


@contextmanager
def watch_items(seen: Callable[[str], None]) -> Iterator[None]:
    """Report each item of a page as it is read, where a source reads them one by one."""
    token = _ITEM_SEEN.set(seen)
    try:
        yield
    finally:
        _ITEM_SEEN.reset(token)


def note_item(item_id: str) -> None:
    """One more item of a page was read."""
    seen = _ITEM_SEEN.get()
    if seen is not None:
        seen(item_id)


_PAUSE_SEEN: ContextVar[Callable[[int], None] | None] = ContextVar("pause_seen", default=None)


def watch_pauses(seen: Callable[[int], None]) -> None:
    """Report in this context each request that begins (+1) or ends (-1) to wait for a paused host.

    Unlike the other watches it lasts as long as its context, which is that of a whole scan.
    """
    _PAUSE_SEEN.set(seen)


@contextmanager
def waiting_for_host() -> Iterator[None]:
    """Report that a request waits for the end of a host's pause."""
    seen = _PAUSE_SEEN.get() or (lambda _: None)
    seen(+1)
    try:
        yield
    finally:
        seen(-1)
