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


_OPEN: ContextVar[CallTrace | None] = ContextVar("call_trace", default=None)


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


def current_trace() -> CallTrace:
    """Return the open trace; without one, a trace that nobody reads."""
    return _OPEN.get() or CallTrace()


_ON_ITEM: ContextVar[Callable[[str], None] | None] = ContextVar("on_item", default=None)


@contextmanager
def watch_items(on_item: Callable[[str], None]) -> Iterator[None]:
    """Call `on_item` for each item of a page as it is read, if a source reads them one by one."""
    token = _ON_ITEM.set(on_item)
    try:
        yield
    finally:
        _ON_ITEM.reset(token)


def note_item(item_id: str) -> None:
    """Report an item of a page that was read."""
    on_item = _ON_ITEM.get()
    if on_item is not None:
        on_item(item_id)


_ON_PAUSE: ContextVar[Callable[[int], None] | None] = ContextVar("on_pause", default=None)


def watch_pauses(on_pause: Callable[[int], None]) -> None:
    """Call `on_pause` when a request begins (+1) or ends (-1) to wait for a paused host.

    Unlike `watch_items` it lasts as long as its context, which is that of a whole scan.
    """
    _ON_PAUSE.set(on_pause)


@contextmanager
def waiting_for_host() -> Iterator[None]:
    """Report that a request waits for the end of a host's pause."""
    on_pause = _ON_PAUSE.get() or (lambda _: None)
    on_pause(+1)
    try:
        yield
    finally:
        on_pause(-1)
