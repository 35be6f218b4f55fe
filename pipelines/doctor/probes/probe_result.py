"""Runs one probe within its time, and judges the result: outcome, reason, HTTP status."""

import asyncio
import re
import time
from collections.abc import Awaitable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import orjson

from pipelines.doctor.probes.table import Probe
from pipelines.platform.call_trace import CallTrace, HttpResponse, open_call_trace
from pipelines.platform.http.circuit_breaker import DISALLOWED, OPEN_REASON
from pipelines.platform.parsers.pages import parse_container
from pipelines.platform.parsers.search import read_stream
from warehouse.records import errors
from warehouse.records.health import ProbeOutcome, SurfaceHealth, outcome_of
from warehouse.records.videos import Unavailability, VideoPage

# The JSON in a body, its shape as key paths, and its difference from earlier good payloads. Pure.
#
# A path is written `aweme_list[].statistics.digg_count`; names that are numbers become `*`. A path
# that ends in `?` exists but is empty (null, an empty list or object), so its children are
# unknown.

MAX_LIST_ENTRIES = 30  # entries inspected per list; a page has about twenty
MAX_PAYLOAD_DEPTH = 10
MAX_PATHS = 800
STABLE_AFTER = 3
"""A key is stable once this many good payloads in a row had it."""
_NUMBER = re.compile(r"[0-9]{3,}")
_SONGS = re.compile(rb"global\.features\s*=\s*(\[.*?\]);", re.DOTALL)
_FRAMED = re.compile(rb"\s*[0-9A-Fa-f]{1,8}\r?\n")


@dataclass(frozen=True, slots=True)
class ShapeChange:
    """New and missing key paths. `is_loss`: a stable one is missing."""

    came: tuple[str, ...] = ()
    went: tuple[str, ...] = ()
    is_loss: bool = False


def decode_payload(body: bytes, *, surface: str) -> object:
    """Decode the JSON in a body: plain, framed, or in the container of a page; None without JSON.

    The documents of a framed body are returned as one list.
    """
    try:
        if body.lstrip()[:1] == b"<":
            # The page of a chart has its songs in a variable, other pages have a container.
            songs = _SONGS.search(body)
            if songs:
                return orjson.loads(songs[1])
            return parse_container(body, surface=surface).values
        if _FRAMED.match(body):
            return [document.values for document in read_stream(body, surface=surface).documents]
        return orjson.loads(body)
    except (orjson.JSONDecodeError, errors.UpstreamError):
        return None


def key_paths(payload: object) -> tuple[str, ...]:
    """Return the sorted key paths of a decoded JSON payload; empty if it has no keys."""
    paths: set[str] = set()
    for path in _walk(payload, "", 0):
        paths.add(path)
        if len(paths) >= MAX_PATHS:
            break
    # Of `music` and `music?`, which two items of a list may have, only one is true: the second if
    # no item has children below it.
    kept = []
    for path in sorted(paths):
        key = path.rstrip("?")
        has_children = any(other.startswith((f"{key}.", f"{key}[]")) for other in paths)
        if not (has_children if path.endswith("?") else f"{path}?" in paths and not has_children):
            kept.append(path)
    return tuple(kept)


def change_since(now: Sequence[str], good: Sequence[Sequence[str]]) -> ShapeChange:
    """Compare key paths with those of good payloads, newest first.

    A key is new if no good payload had it, and missing if every good payload had it. Children of an
    empty key are not compared.
    """
    if not good or not now:
        return ShapeChange()
    earlier = [_names(paths) for paths in good]
    current, empty = _names(now), _empty_keys(now)
    once_empty = set().union(*map(_empty_keys, good))
    came = current - set().union(*earlier)
    went = set.intersection(*earlier) - current
    lost = _tops(path for path in went if not _is_below(path, empty))
    return ShapeChange(
        came=_tops(path for path in came if not _is_below(path, once_empty)),
        went=lost,
        is_loss=bool(lost) and len(good) >= STABLE_AFTER,
    )


def _walk(value: object, path: str, depth: int) -> Iterator[str]:
    if depth > MAX_PAYLOAD_DEPTH:
        return
    if isinstance(value, dict) and value:
        for key, child in value.items():
            name = "*" if _NUMBER.fullmatch(key) else key
            step = f"{path}.{name}" if path else name
            yield step
            yield from _walk(child, step, depth + 1)
    elif isinstance(value, list) and value:
        for child in value[:MAX_LIST_ENTRIES]:
            yield from _walk(child, f"{path}[]", depth + 1)
    elif path and not path.endswith("[]") and (value is None or isinstance(value, list | dict)):
        yield f"{path}?"


def _names(paths: Iterable[str]) -> set[str]:
    return {path.rstrip("?") for path in paths}


def _empty_keys(paths: Iterable[str]) -> set[str]:
    return {path.rstrip("?") for path in paths if path.endswith("?")}


def _is_below(path: str, tops: AbstractSet[str]) -> bool:
    return any(path.startswith((f"{top}.", f"{top}[]")) for top in tops)


def _tops(paths: Iterable[str]) -> tuple[str, ...]:
    """Drop paths below another path of the list: one lost object is one line."""
    all_paths = set(paths)
    return tuple(path for path in sorted(all_paths) if not _is_below(path, all_paths - {path}))


TIME_IS_UP = "time_is_up"
RESTING = frozenset({"paused", OPEN_REASON})
"""Reasons of our own: the host or the surface is paused, so no request was made."""
_OURS = RESTING | {TIME_IS_UP, DISALLOWED, errors.SURFACE_OFF, "crowded"}
"""Reasons of our own: no request was made, or none was refused."""
_REASON_CHARS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """What a probe read, or the error that was raised instead, and the health of the surface.

    `response` is the last one that arrived.
    """

    value: object
    error: errors.SametrackError | None
    response: HttpResponse | None
    health: SurfaceHealth

    @property
    def is_about_id(self) -> bool:
        """True if the result concerns the id rather than the surface."""
        is_empty = isinstance(self.value, VideoPage) and self.error is not None
        is_withheld = isinstance(self.error, errors.PageWithoutDataError | errors.InputError)
        return isinstance(self.value, Unavailability) or is_empty or is_withheld


async def run_probe(
    probe: Probe,
    entity_id: str,
    reading: Awaitable[object],
    *,
    within_s: float,
    asked_by: str,
) -> ProbeResult:
    """Await what a surface responds for at most `within_s` seconds, and judge it.

    Args:
        probe: The probe.
        entity_id: The id that it requests.
        reading: Reads the surface.
        within_s: Time limit in seconds.
        asked_by: Who runs the probe: `cli`, or the scheduled job.
    """
    # The trace counts the requests and keeps the last response, also of a reading that fails.
    began = time.monotonic()
    with open_call_trace() as call_trace:
        value, error = await _read(within_s, reading, probe.surface, call_trace)
    reason, now = probe_reason(value, error), datetime.now(UTC)
    status = None if call_trace.last is None else call_trace.last.status
    rests_until = None
    if isinstance(error, errors.UpstreamError):
        status = status if error.status is None else error.status
        # A paused surface is requested again after a while.
        if error.reason in RESTING and error.retry_after is not None:
            rests_until = now + timedelta(seconds=error.retry_after)
    health = SurfaceHealth(
        surface=probe.surface,
        outcome=probe_outcome(error, reason),
        observed_at=now,
        entity_id=None if probe.needs == "sound" else entity_id,  # its URL expires
        error_type=None if error is None else error.type,
        reason=reason,
        http_status=status,
        request_count=call_trace.request_count,
        duration_ms=round((time.monotonic() - began) * 1000),
        asked_by=asked_by,
        rests_until=rests_until,
    )
    return ProbeResult(value=value, error=error, response=call_trace.last, health=health)


async def _read(
    within_s: float, reading: Awaitable[object], surface: str, call_trace: CallTrace
) -> tuple[object, errors.SametrackError | None]:
    """Return what was read, and the error if nothing was read or the list is empty."""
    try:
        async with asyncio.timeout(within_s):
            value = await reading
    except TimeoutError:
        # Without a request, the time was spent waiting for the rate limit.
        reason = "no_answer" if call_trace.request_count else TIME_IS_UP
        return None, errors.UnreachableError(
            f"no answer within {within_s:.0f} s", surface=surface, reason=reason
        )
    except errors.SametrackError as error:
        return None, error
    except Exception as error:  # noqa: BLE001  # our own failure is a line of the report, too
        fault = errors.SametrackError(f"{type(error).__name__}: {error}")
        fault.__cause__ = error
        return None, fault
    return value, empty_list_error(value, surface)


def empty_list_error(value: object, surface: str) -> errors.SametrackError | None:
    """Return an error for an empty list: known ids have videos, so the surface withholds them."""
    if not isinstance(value, VideoPage) or value.videos:
        return None
    return errors.EmptyAnswerError("the list has no entries", surface=surface, reason="empty_list")


def probe_outcome(error: errors.SametrackError | None, reason: str | None) -> ProbeOutcome:
    """Return the outcome of a probe that ended with an error, or without."""
    if error is None:
        return "works"
    # Our own refusal to send a request says nothing about the surface.
    return "not_asked" if reason in _OURS else outcome_of(error.type)


def probe_reason(value: object, error: errors.SametrackError | None) -> str | None:
    """Return the platform's reason, or ours; shortened, because it may quote the response."""
    if isinstance(value, Unavailability):
        return "canary_unavailable"
    if isinstance(error, errors.InputError):
        return "unknown_id"
    if isinstance(error, errors.UpstreamError):
        return (error.reason or error.detail)[:_REASON_CHARS]
    return None if error is None else error.detail[:_REASON_CHARS]
