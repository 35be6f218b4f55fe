"""One read of a surface as one record: the request, what came of it, and what it cost.

`recording.py` makes captures and stores their rows; the journal of a scan keeps them as JSON.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import cache
from typing import Any, Literal, TypedDict, get_args
from uuid import uuid4

from pydantic import TypeAdapter

from pipelines.platform.call_trace import CallTrace
from pipelines.platform.parsers.lists import foreign_rows_error
from pipelines.platform.sources.table import PARSER_VERSION, CapturedValue, Reading, SoundFile
from warehouse.lake import record_rows
from warehouse.lake.record_rows import pack_bytes
from warehouse.records.charts import ChartIndex, ChartPage
from warehouse.records.errors import SametrackError, UpstreamError
from warehouse.records.search import SearchPage, SearchPosition
from warehouse.records.values import Row
from warehouse.records.videos import Account, HashtagInfo, Track, Unavailability, Video, VideoPage

CaptureKind = Literal[
    "track",
    "account",
    "hashtag",
    "work",
    "list",
    "search",
    "issues",
    "songs",
    "song",
    "link",
    "sound",
]
type Verdicts = Counter[tuple[str, str, str]]
"""The planner's decisions about sources, counted by question, surface and verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureRequest:
    """A request to a surface; `kind` is the kind of its result.

    `entity_id` is the id, the term, or the issue (`latest` for the newest one); `cursor` and
    `place` are the position of a page, `begun_on` is the surface that gave the cursor.
    """

    kind: CaptureKind
    surface: str
    entity_id: str
    cursor: int | None = None
    place: SearchPosition | None = None
    volid: str | None = None
    begun_on: str | None = None

    @property
    def key(self) -> str:
        """Identity of the request, equal in all processes."""
        place = self.place or SearchPosition()
        parts = [self.surface, self.entity_id, self.cursor, place.search_id, place.backtrace]
        if self.begun_on not in {None, self.surface}:
            parts.append(self.begun_on)
        return "\x1f".join("" if part is None else str(part) for part in parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureFacts:
    """What is plain about a capture: everything but its value, its error and its body.

    Attributes:
        request: The request. Captures are numbered by its surface, even if another one answered.
        surface: The surface that answered or refused.
        observed_at: When it answered, or when it was asked if it refused.
        outcome: ok, unavailable, cancelled, or the type of an error.
        reason: Of a refusal or an unavailable video, as the platform or the parser names it.
        notice: What the platform says of a video that it does not show; so does `detail_msg`.
        request_count: Requests made, with retries, redirects and failed alternatives.
        is_fallback: Demo data replaced a refused response; it is served as `mock`, never stored.
        is_shared: Another process, or an earlier run of the job, read it.
        file: A downloaded sound.
    """

    request: CaptureRequest
    surface: str
    observed_at: datetime
    outcome: str = "ok"
    reason: str | None = None
    notice: str | None = None
    detail_msg: str | None = None
    request_count: int = 0
    http_status: int | None = None
    content_type: str | None = None
    source_path: str | None = None
    parser_version: str = PARSER_VERSION
    is_fallback: bool = False
    is_shared: bool = False
    file: SoundFile | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture[T](CaptureFacts):
    """One read of a surface, from the request to what is stored of it.

    Attributes:
        value: The parsed record, None if there is none.
        error: The refusal, None if there was an answer.
        payload: The body, empty if there is none or if it must not be stored.
        verdicts: What became of each source that could answer.
        capture_id: Its id in the lake; None if it is not stored, because the lake has it already.
    """

    value: T | None = None
    error: SametrackError | None = None
    payload: bytes = b""
    verdicts: Verdicts = field(default_factory=Counter)
    capture_id: str | None = field(default_factory=lambda: uuid4().hex)

    @property
    def payload_sha256(self) -> str | None:
        """Hash of the body; None if there is none."""
        return hashlib.sha256(self.payload).hexdigest() if self.payload else None

    @property
    def result(self) -> T:
        """The value of a read that was answered."""
        assert self.value is not None
        return self.value


def answered_capture[T: CapturedValue](
    reading: Reading[T], request: CaptureRequest, call_trace: CallTrace
) -> Capture[T]:
    """Return the capture of a reading. Behind demo data is the refusal that it replaces."""
    if reading.instead_of is not None:
        return refused_capture(
            reading.instead_of,
            request,
            call_trace,
            observed_at=reading.fetched_at,
            fallback=reading.value,
        )
    outcome, reason = outcome_of(reading.value)
    return Capture(
        request=request,
        surface=reading.surface,
        observed_at=reading.fetched_at,
        outcome=outcome,
        reason=reason,
        notice=getattr(reading.value, "notice", None),
        detail_msg=getattr(reading.value, "detail_msg", None),
        request_count=call_trace.request_count,
        http_status=reading.http_status,
        content_type=reading.content_type,
        source_path=reading.source_path,
        parser_version=reading.parser_version,
        value=reading.value,
        payload=reading.payload,
        verdicts=Counter(call_trace.verdicts),
    )


def refused_capture[T: CapturedValue](
    error: SametrackError | None,
    request: CaptureRequest,
    call_trace: CallTrace,
    *,
    observed_at: datetime,
    fallback: T | None = None,
) -> Capture[T]:
    """Return the capture of an error, with the last body received.

    Args:
        error: The refusal; None if the call was cancelled.
        request: The request.
        call_trace: What the call requested.
        observed_at: When it was asked.
        fallback: Demo data that is served instead.
    """
    last = call_trace.last
    refusal = error if isinstance(error, UpstreamError) else None
    status = None if refusal is None else refusal.status
    return Capture(
        request=request,
        surface=refusal.surface if refusal else request.surface,
        observed_at=observed_at,
        outcome=error.type if error else "cancelled",
        reason=refusal.reason if refusal else None,
        request_count=call_trace.request_count,
        http_status=status or (last.status if last else None),
        content_type=last.content_type if last else None,
        source_path=last.path if last else None,
        is_fallback=fallback is not None,
        value=fallback,
        error=error if fallback is None else None,
        payload=last.body if last else b"",
        verdicts=Counter(call_trace.verdicts),
    )


def outcome_of(value: CapturedValue) -> tuple[str, str | None]:
    """Return the outcome of a capture with this value, and its reason.

    A page with more foreign rows than others is no state of its list: its videos are observed, but
    the union of the list does not contain it.
    """
    match value:
        case Unavailability():
            return "unavailable", value.filter_reason
        case VideoPage() if value.is_substituted:
            error = foreign_rows_error(value)
            return error.type, error.reason
        case _:
            return "ok", None


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
class _CaptureDocument(CaptureFacts):
    """A capture as JSON. Its body and its id are columns of the journal."""

    revision: str
    verdict_counts: list[tuple[str, str, str, int]]
    value_type: str | None
    value: Any
    error: _ErrorDocument | None


_FACTS = tuple(fact.name for fact in fields(CaptureFacts))


def pack_capture(capture: Capture[Any]) -> bytes:
    """Serialise a capture to JSON, without its body and its id."""
    value_type = None if capture.value is None else type(capture.value).__name__
    document = _CaptureDocument(
        **{name: getattr(capture, name) for name in _FACTS},
        revision=_revision(),
        verdict_counts=[(*names, count) for names, count in capture.verdicts.items()],
        value_type=value_type,
        value=None
        if value_type is None
        else _value_types()[value_type].dump_python(capture.value, mode="json"),
        error=None if capture.error is None else _error_document(capture.error),
    )
    return _documents().dump_json(document)


def unpack_capture(document: bytes, *, body: bytes | None, capture_id: str | None) -> Capture[Any]:
    """Return the capture of a document, equal to the one that was packed.

    Raises:
        ValueError: The document is of another schema.
    """
    packed = _documents().validate_json(document)
    # Data of another schema may parse by chance, and then mean something else.
    if packed.revision != _revision():
        raise ValueError("the journal holds a capture of another schema")
    return Capture(
        **{name: getattr(packed, name) for name in _FACTS},
        value=None
        if packed.value_type is None
        else _value_types()[packed.value_type].validate_python(packed.value),
        error=None if packed.error is None else _error_of(packed.error),
        payload=body or b"",
        verdicts=Counter(
            {
                (question, surface, verdict): count
                for question, surface, verdict, count in packed.verdict_counts
            }
        ),
        capture_id=capture_id,
    )


@cache
def _documents() -> TypeAdapter[_CaptureDocument]:
    return TypeAdapter(_CaptureDocument)


@cache
def _value_types() -> dict[str, TypeAdapter[Any]]:
    return {kind.__name__: TypeAdapter(kind) for kind in get_args(CapturedValue.__value__)}


@cache
def _revision() -> str:
    """Return a hash of all schemas: a capture of another release is not read."""
    schemas = [adapter.json_schema() for adapter in (_documents(), *_value_types().values())]
    return hashlib.sha256(repr(schemas).encode()).hexdigest()[:16]


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


def _error_of(document: _ErrorDocument) -> SametrackError:
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


@cache
def _error_types() -> dict[str, type[SametrackError]]:
    return {kind.__name__: kind for kind in _subclasses(SametrackError)}


def _subclasses(kind: type[SametrackError]) -> Iterator[type[SametrackError]]:
    for subclass in kind.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)


# Converts a batch of captures to rows of the lake, table by table. Pure.
#
# Shared by captures and the replay of the archive, so that both store the same rows.

TABLES = (
    "raw.payloads",
    "raw.capture_items",
    "raw.videos",
    "raw.tracks",
    "raw.accounts",
    "raw.hashtags",
    "raw.search_pages",
    "raw.chart_issues",
    "raw.chart_songs",
    "raw.captures",
)
"""In the order of writing: payloads first; the rows that make the others visible last."""

_KINDS = (
    ("music_", "music"),
    ("trends_", "music"),
    ("user_", "user"),
    ("hashtag_", "hashtag"),
    ("search_", "search"),
    ("chart_", "chart"),
    ("short_link", "link"),
)
"""By prefix of the surface's name; every other surface shows videos."""


class Origin(TypedDict):
    """Columns of every observation that say where it comes from."""

    capture_id: str | None
    job_id: str | None
    data_provider: str


def entity_key(surface: str, entity_id: str) -> str:
    """Return the key of a capture's entity for generation counters: `music:<id>` and the like."""
    kind = next((kind for prefix, kind in _KINDS if surface.startswith(prefix)), "video")
    return f"{kind}:{entity_id}"


def capture_tables(
    captures: Sequence[Capture[Any]],
    sequences: Sequence[int],
    *,
    data_provider: str,
    job_id: str | None,
    stored: Iterable[str] = (),
) -> dict[str, list[Row]]:
    """Return rows by table, in the order of `TABLES`.

    Args:
        captures: The captures of a batch.
        sequences: Their numbers, in the same order.
        data_provider: Name of the source.
        job_id: The job that they belong to.
        stored: Hashes of bodies that the lake has, which are left out.
    """
    tables: dict[str, list[Row]] = {name: [] for name in TABLES}
    known_bodies = set(stored)
    for capture, sequence in zip(captures, sequences, strict=True):
        origin = Origin(capture_id=capture.capture_id, job_id=job_id, data_provider=data_provider)
        sha256 = capture.payload_sha256
        if sha256 is not None and sha256 not in known_bodies:
            known_bodies.add(sha256)
            tables["raw.payloads"].append(
                {
                    "sha256": sha256,
                    "body": pack_bytes(capture.payload),
                    "size_bytes": len(capture.payload),
                    "content_type": capture.content_type,
                }
            )
        place = {
            "surface": capture.surface,
            "entity_id": capture.request.entity_id,
            "sequence": sequence,
        }
        # Demo data is no observation of the platform.
        observed = None if capture.is_fallback else capture.value
        if isinstance(observed, VideoPage | SearchPage):
            tables["raw.capture_items"] += [
                {
                    "capture_id": capture.capture_id,
                    "position": position,
                    "aweme_id": video.aweme_id,
                    **place,
                }
                for position, video in enumerate(observed.videos)
            ]
        for table, row in _observation_rows(observed, capture, origin):
            tables[table].append(row)
        tables["raw.captures"].append(
            {
                **place,
                "outcome": capture.outcome,
                "reason": capture.reason,
                "notice": capture.notice,
                "detail_msg": capture.detail_msg,
                "http_status": capture.http_status,
                "request_count": capture.request_count,
                "cursor_in": capture.request.cursor,
                **_page_columns(observed),
                "payload_sha256": sha256,
                "source_path": capture.source_path,
                "parser_version": capture.parser_version,
                "observed_at": capture.observed_at,
                **origin,
            }
        )
    return tables


def _observation_rows(
    observed: CapturedValue | None, capture: Capture[Any], origin: Origin
) -> Iterator[tuple[str, Row]]:
    """Yield the table and the row of each record that a capture observed."""
    match observed:
        case VideoPage(videos=videos, foreign=foreign):
            # Foreign rows are observed, too; they are no items of the list.
            yield from _video_rows((*videos, *foreign), origin)
        case SearchPage() as page:
            yield from _video_rows(page.videos, origin)
            place = capture.request.place or SearchPosition()
            row = record_rows.search_page_row(page, term=capture.request.entity_id, place=place)
            row |= {"surface": capture.surface, "observed_at": capture.observed_at}
            yield "raw.search_pages", {**row, **origin}
        case Video() as video:
            yield from _video_rows((video,), origin)
        case Track() as track:
            yield "raw.tracks", record_rows.observation_row(track, **origin)
        case Account() as account:
            yield "raw.accounts", record_rows.observation_row(account, **origin)
        case HashtagInfo() as hashtag:
            yield "raw.hashtags", record_rows.observation_row(hashtag, **origin)
        case ChartIndex() as index:
            for row in record_rows.chart_issue_rows(index):
                yield "raw.chart_issues", {**row, **origin}
        case ChartPage() as page:
            for row in record_rows.chart_song_rows(page, volid=capture.request.volid):
                yield "raw.chart_songs", {**row, **origin}
        case _:  # a video that is not shown; pages of the music service are archived as bodies
            return


def _video_rows(videos: Iterable[Video], origin: Origin) -> Iterator[tuple[str, Row]]:
    """Yield each video of a page once; where it stood is in `raw.capture_items`."""
    seen: set[str] = set()
    for video in videos:
        if video.aweme_id not in seen:
            seen.add(video.aweme_id)
            yield "raw.videos", record_rows.video_row(video, **origin)


def _page_columns(value: CapturedValue | None) -> Row:
    """Return what a page says of itself; null for what is no page."""
    item_count = cursor_out = has_more = None
    match value:
        case VideoPage():
            item_count = len(value.videos) + len(value.foreign)
            cursor_out, has_more = value.cursor, value.has_more
        case SearchPage():
            item_count = len(value.videos)
            cursor_out, has_more = value.next_position.cursor, value.has_more
        case ChartIndex():
            item_count = len(value.issues)
        case ChartPage():
            item_count = len(value.songs)
        case _:
            pass
    return {"item_count": item_count, "cursor_out": cursor_out, "has_more": has_more}
