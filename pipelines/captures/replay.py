"""Replays the archive with the current parsers and reports what would be observed differently.

Nothing is fetched. `Replay.run` compares the stored rows with what the current parsers return for
the same bodies. With `is_written` it appends the differences: a new capture row with the current
parser version, no request, time and sequence of the old one and `reason` "replay of <capture_id>",
with the observations under it. Existing rows stay, but only the newest reading of a capture counts.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from http import HTTPStatus
from typing import Any, Literal, get_args
from uuid import uuid4

from pipelines.captures.capture import Capture, CaptureRequest, capture_tables, outcome_of
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.reparse import SURFACES, ArchivedBody, BodyParser
from warehouse.engine.duckdb_engine import Engine
from warehouse.engine.sql import REPLAY_OF
from warehouse.lake.record_rows import unpack_bytes
from warehouse.lake.store import Lake
from warehouse.lake.video_index import VideoIndex
from warehouse.queries.captures import (
    OBSERVATION_TABLES,
    ObservationTable,
    count_archive,
    read_archive,
    read_observations,
    read_payloads,
)
from warehouse.records.errors import SametrackError
from warehouse.records.search import SearchPosition
from warehouse.records.times import observed_now
from warehouse.records.values import ReadOnlyRow, Row

ReplayOutcomeKind = Literal[
    "same", "changed", "new_error", "now_parsed", "still_refused", "other_refusal", "not_read"
]
REPLAY_OUTCOME_KINDS: tuple[ReplayOutcomeKind, ...] = get_args(ReplayOutcomeKind)
DIFFERENCE_KINDS = frozenset[ReplayOutcomeKind](
    {"changed", "new_error", "now_parsed", "other_refusal"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayExample:
    """One capture that is parsed differently now."""

    kind: ReplayOutcomeKind
    capture_id: str
    entity_id: str
    what: str


@dataclass(slots=True)
class SurfaceReplay:
    """Replay of one surface. `fields` counts records by differing field.

    A record that was added or removed counts as `+record` or `-record`.
    """

    surface: str
    kinds: Counter[ReplayOutcomeKind] = field(default_factory=Counter)
    fields: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    examples: list[ReplayExample] = field(default_factory=list)

    def to_document(self) -> dict[str, object]:
        """Return plain JSON values."""
        return {
            "surface": self.surface,
            "captures": self.kinds.total(),
            **{kind: self.kinds[kind] for kind in REPLAY_OUTCOME_KINDS},
            "fields": dict(self.fields.most_common()),
            "errors": dict(self.errors.most_common()),
            "examples": [asdict(example) for example in self.examples],
        }


EXAMPLES = 3
_PLACE = ("cursor", "search_id", "backtrace")
_GOOD = frozenset({"ok", "unavailable"})
_REDIRECTS = frozenset(range(300, 400)) - {HTTPStatus.NOT_MODIFIED}
_ORIGIN = frozenset({"capture_id", "job_id", "data_provider", "committed_at"})
_KEYS = {
    "videos": "aweme_id",
    "tracks": "music_id",
    "accounts": "sec_uid",
    "hashtags": "ch_id",
    "search_pages": "term",
    "chart_issues": "volid",
    "chart_songs": "rank",
}

type StoredCapture = ReadOnlyRow
type StoredObservations = Mapping[ObservationTable, list[Row]]


@dataclass(frozen=True, slots=True)
class _Outcome:
    kind: ReplayOutcomeKind
    what: str = ""
    fields: tuple[str, ...] = ()
    error: str | None = None
    reading: Capture[Any] | None = None


class Replay:
    """Replays the archive of one lake."""

    def __init__(self, *, lake: Lake, engine: Engine, profile: PlatformProfile) -> None:
        self._lake = lake
        self._engine = engine
        self._replayer = BodyParser(profile)

    def run(
        self,
        *,
        since: datetime | None = None,
        surfaces: tuple[str, ...] = (),
        is_written: bool = False,
        on_step: Callable[[int, int], object] = lambda _done, _total: None,
    ) -> list[SurfaceReplay]:
        """Compare, and write if requested; return the report by surface.

        `on_step` is called with the number of captures done and their total.

        Raises:
            WarehouseError: The archive cannot be read, or the differences cannot be written.
        """
        replays: dict[str, SurfaceReplay] = {}
        began = observed_now()
        total = count_archive(self._engine, until=began, since=since, surfaces=surfaces)
        done = 0
        for captures in read_archive(self._engine, until=began, since=since, surfaces=surfaces):
            outcomes = list(self._outcomes(captures))
            for capture, outcome in zip(captures, outcomes, strict=True):
                surface = capture["surface"]
                _add(replays.setdefault(surface, SurfaceReplay(surface)), capture, outcome)
            if is_written:
                self._write(captures, outcomes)
            done += len(captures)
            on_step(done, total)
        return [replays[surface] for surface in sorted(replays)]

    def _outcomes(self, captures: list[Row]) -> Iterator[_Outcome]:
        bodies = read_payloads(
            self._engine, sorted({capture["payload_sha256"] for capture in captures})
        )
        ids = [capture["capture_id"] for capture in captures]
        stored = {
            table: read_observations(self._engine, table, ids) for table in OBSERVATION_TABLES
        }
        for capture in captures:
            rows = {
                table: stored[table].get(capture["capture_id"], []) for table in OBSERVATION_TABLES
            }
            body = bodies.get(capture["payload_sha256"])
            yield self._outcome(capture, rows, body)

    def _outcome(
        self, capture: StoredCapture, stored: StoredObservations, body: bytes | None
    ) -> _Outcome:
        status = capture["http_status"] or 200
        if body is None or capture["surface"] not in SURFACES or status in _REDIRECTS:
            return _Outcome("not_read")
        pages = stored["search_pages"]
        place = SearchPosition(**{n: pages[0][n] for n in _PLACE}) if pages else None
        kept = _archived_body(capture, unpack_bytes(body), place)
        was_good = capture["outcome"] in _GOOD
        try:
            value = self._replayer.read(kept)
        except SametrackError as error:
            return _refused(capture, error, was_good=was_good)
        outcome, reason = outcome_of(value)
        reading: Capture[Any] = Capture(
            capture_id=capture["capture_id"],
            request=_capture_request(kept),
            surface=kept.surface,
            observed_at=kept.observed_at,
            outcome=outcome,
            reason=reason,
            notice=getattr(value, "notice", None),
            detail_msg=getattr(value, "detail_msg", None),
            http_status=capture["http_status"],
            payload=kept.body,
            content_type=kept.content_type,
            source_path=kept.path,
            value=value,
        )
        if not was_good and outcome != capture["outcome"]:
            return _Outcome(
                "now_parsed", f"was {capture['outcome']}, is {outcome}", reading=reading
            )
        return _compared(capture, stored, reading)

    def _write(self, captures: list[Row], outcomes: list[_Outcome]) -> None:
        is_written = False
        for capture, outcome in zip(captures, outcomes, strict=True):
            if outcome.reading is None or outcome.kind not in {"changed", "now_parsed"}:
                continue
            for name, rows in _rewritten(capture, outcome.reading).items():
                # items of a page stay with the old capture if it had any
                if name != "raw.capture_items" or outcome.kind == "now_parsed":
                    self._lake.append(name, rows, job_id=capture["job_id"])
            is_written = True
        if is_written:
            VideoIndex(self._lake).drop()  # it cannot see that some of its rows count no longer


def _archived_body(
    capture: StoredCapture, body: bytes, place: SearchPosition | None
) -> ArchivedBody:
    return ArchivedBody(
        surface=capture["surface"],
        entity_id=capture["entity_id"],
        observed_at=capture["observed_at"],
        body=body,
        status=capture["http_status"] or 200,
        content_type=None,
        path=capture["source_path"] or "/",
        cursor=capture["cursor_in"],
        place=place,
    )


def _capture_request(kept: ArchivedBody) -> CaptureRequest:
    is_issue = kept.surface.startswith("chart_") and kept.entity_id.isdigit()
    return CaptureRequest(
        kind="list",  # the kind matters only to processes that wait for a capture; none does
        surface=kept.surface,
        entity_id=kept.entity_id,
        cursor=kept.cursor,
        place=kept.place or SearchPosition(cursor=kept.cursor or 0),
        volid=kept.entity_id if is_issue else None,
    )


def _refused(capture: StoredCapture, error: SametrackError, *, was_good: bool) -> _Outcome:
    reason = getattr(error, "reason", None)
    what = f"{error.type}: {reason}" if reason else error.type
    if was_good:
        return _Outcome("new_error", what, error=error.type)
    if error.type == capture["outcome"]:
        return _Outcome("still_refused")
    return _Outcome("other_refusal", f"was {capture['outcome']}, is {what}", error=error.type)


def _compared(
    capture: StoredCapture, stored: StoredObservations, reading: Capture[Any]
) -> _Outcome:
    today = capture_tables([reading], [capture["sequence"]], data_provider="", job_id=None)
    differing: list[str] = []
    if reading.outcome != capture["outcome"]:
        differing.append("outcome")
    for table in OBSERVATION_TABLES:
        differing += _differences(table, stored[table], today[f"raw.{table}"])
    if not differing:
        return _Outcome("same")
    fields = ", ".join(f"{name} ({n})" for name, n in Counter(differing).most_common(5))
    return _Outcome("changed", fields, tuple(differing), reading=reading)


def _differences(table: str, before: list[Row], after: list[dict[str, object]]) -> list[str]:
    """Return the names of differing fields, once per record."""
    key = _KEYS[table]
    old = {row[key]: row for row in before}
    new = {row[key]: row for row in after}
    names = ["-record"] * len(old.keys() - new.keys()) + ["+record"] * len(new.keys() - old.keys())
    for record in old.keys() & new.keys():
        names += [
            name
            for name, value in new[record].items()
            if name not in _ORIGIN and value != old[record][name]
        ]
    return names


def _rewritten(capture: StoredCapture, reading: Capture[Any]) -> dict[str, list[Row]]:
    again = replace(reading, capture_id=uuid4().hex, reason=REPLAY_OF + capture["capture_id"])
    return capture_tables(
        [again],
        [capture["sequence"]],
        data_provider=capture["data_provider"],
        job_id=capture["job_id"],
        stored={capture["payload_sha256"]},
    )


def _add(replay: SurfaceReplay, capture: StoredCapture, outcome: _Outcome) -> None:
    replay.kinds[outcome.kind] += 1
    replay.fields.update(outcome.fields)
    if outcome.error is not None:
        replay.errors[outcome.error] += 1
    example_count = sum(example.kind == outcome.kind for example in replay.examples)
    if outcome.kind in DIFFERENCE_KINDS and example_count < EXAMPLES:
        replay.examples.append(
            ReplayExample(
                kind=outcome.kind,
                capture_id=capture["capture_id"],
                entity_id=capture["entity_id"],
                what=outcome.what,
            )
        )
