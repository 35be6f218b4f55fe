"""Shape files for tests, from a folder of recorded bodies, and what the parsers read from each.

A shape is a body as small as possible, an entry of an index that says what was asked for, and the
expected values beside it, which a person reviews: they are what the parsers of today read.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, is_dataclass, replace
from datetime import datetime
from pathlib import Path

from pipelines.captures.recorded.body_forms import decode_body, minimise
from pipelines.captures.recorded.folder import RecordedBody, RecordedFolder, file_ending
from pipelines.captures.recorded.known_fields import (
    FieldKnowledge,
    completeness,
    count_records,
    known_fields,
)
from pipelines.captures.recorded.pseudonymised import BodyPseudonymiser
from pipelines.platform.refusal_table import refusal_of
from pipelines.platform.reparse import SURFACES, BodyParser
from warehouse.records.errors import SametrackError, UpstreamError
from warehouse.records.videos import UnavailableVideo

_ID_PART = re.compile(r"[^/]*[0-9A-Z][^/]*")
INDEX = "index.toml"
EXPECTED = "expected"
_PARSERS = {
    "note_page": "work_page", "slides_page": "work_page", "video_page": "work_page",
    "web_video_page": "work_page", "detail": "detail_body", "web_detail": "detail_body",
}  # fmt: skip
"""Names of the parsers in the index, where they differ from the surface's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapeReading:
    """What the parsers read from one body.

    `outcome` is `records`, `unavailable`, an error's type, or None if no parser reads the surface.
    `then` is the outcome when the body was received.
    """

    body: RecordedBody
    outcome: str | None
    row: str | None = None
    reason: str | None = None
    value: object | None = None
    record_count: int = 0
    fields: tuple[FieldKnowledge, ...] = ()

    @property
    def then(self) -> str:
        """The outcome when the body was received, in the words of `outcome`."""
        return "records" if self.body.outcome == "ok" else self.body.outcome

    @property
    def has_changed(self) -> bool:
        """True if the parsers read it differently from when it was received."""
        return self.outcome not in {None, self.then, "unavailable"}


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenShape:
    """One shape file that was written, or why it was not."""

    surface: str
    file: str | None
    size_before: int
    size: int = 0
    left_out: str | None = None


class RecordedReader:
    """Reads recorded bodies with the parsers of today."""

    def __init__(self, parser: BodyParser) -> None:
        self._parser = parser

    def read(self, kept: RecordedBody) -> ShapeReading:
        """Read one body; an error of the parser is a result."""
        if not is_readable(kept):
            return ShapeReading(body=kept, outcome=None)
        try:
            value = self._parser.read(kept)
        except SametrackError as error:
            row = refusal_of(error)
            reason = error.reason if isinstance(error, UpstreamError) else error.detail
            return ShapeReading(
                body=kept, outcome=error.type, row=row.name if row else None, reason=reason
            )
        is_gone = isinstance(value, UnavailableVideo)
        return ShapeReading(
            body=kept,
            outcome="unavailable" if is_gone else "records",
            value=value,
            record_count=count_records(value),
            fields=known_fields(value),
        )

    def result(self, kept: RecordedBody, body: bytes) -> object:
        """Return the record that another body would give, or an error as one text."""
        try:
            return self._parser.read(replace(kept, body=body))
        except SametrackError as error:
            reason = error.reason if isinstance(error, UpstreamError) else error.detail
            return f"{error.type}: {reason}"


def write_shapes(
    place: Path,
    folder: RecordedFolder,
    reader: RecordedReader,
    pseudonymiser: BodyPseudonymiser | None,
) -> list[WrittenShape]:
    """Write a shape file per body, its index entry, and its expected values.

    Without a pseudonymiser the bodies are taken as they are.

    Raises:
        OSError: The folder cannot be written.
    """
    written: list[WrittenShape] = []
    entries: list[str] = []
    for kept in folder.bodies:
        shape, entry = _write_one(place, kept, reader, pseudonymiser)
        written.append(shape)
        entries += [entry] if entry else []
    (place / INDEX).write_text("\n".join(entries), encoding="utf-8")
    return written


def _write_one(
    place: Path,
    kept: RecordedBody,
    reader: RecordedReader,
    pseudonymiser: BodyPseudonymiser | None,
) -> tuple[WrittenShape, str | None]:
    size, surface = len(kept.body), kept.surface
    is_read = is_readable(kept)
    hidden = pseudonymised(kept, pseudonymiser) if pseudonymiser and is_read else kept
    if not is_read or hidden is None:
        why = "a name could not be removed" if is_read else "no parser reads it"
        return WrittenShape(surface=surface, file=None, size_before=size, left_out=why), None
    small = replace(hidden, body=_minimised(hidden, reader))
    found = reader.read(small)
    name = f"{surface}/recorded_{kept.observed_at:%Y%m%dT%H%M%S}{file_ending(small.body)}"
    _write(place / name, small.body)
    expected = json.dumps(_plain(found), ensure_ascii=False, indent=2) + "\n"
    _write((place / EXPECTED / name).with_suffix(".json"), expected.encode())
    shape = WrittenShape(surface=surface, file=name, size_before=size, size=len(small.body))
    return shape, _index_entry(name, small, found)


def is_readable(kept: RecordedBody) -> bool:
    """Return True if a parser reads such a body: not a redirect, and of a surface with a parser."""
    return kept.surface in SURFACES and kept.location is None


def pseudonymised(kept: RecordedBody, pseudonymiser: BodyPseudonymiser) -> RecordedBody | None:
    """Return a body with pseudonyms, also in what was asked for; None if a name would stay."""
    body = pseudonymiser.body(kept.body)
    if body is None:
        return None
    entity_id = pseudonymiser.entity(kept.surface, kept.entity_id)
    path = kept.path.replace(kept.entity_id, entity_id) if kept.entity_id else kept.path
    if kept.surface == "short_link":
        path = "/"  # it is a code that leads to whom the body must not name
    location = None if kept.location is None else _without_ids(kept.location.partition("?")[0])
    return replace(kept, body=body, entity_id=entity_id, path=path, location=location)


def _without_ids(address: str) -> str:
    """Return a path or a URL with a dot for each part of its path that may be an id or a code."""
    scheme, separator, rest = address.rpartition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{separator}{host}{slash}{_ID_PART.sub('·', path)}"


def _minimised(kept: RecordedBody, reader: RecordedReader) -> bytes:
    decoded = decode_body(kept.body)
    if decoded is None:
        return kept.body
    return minimise(decoded.payload, decoded.encode, lambda body: reader.result(kept, body))


def _index_entry(name: str, kept: RecordedBody, found: ShapeReading) -> str:
    facts: dict[str, str | int | None] = {
        "file": name,
        "parser": _PARSERS.get(kept.surface, kept.surface),
        "asked": kept.entity_id,
        "status": kept.status,
        "outcome": found.outcome,
        "row": found.row,
        "location": kept.location,
        "source": f"recorded by a guest on {kept.observed_at:%Y-%m-%d}; pseudonymised, minimised",
    }
    lines = [f"{key} = {json.dumps(value)}" for key, value in facts.items() if value is not None]
    return "\n".join(["[[shape]]", *lines, ""])


def to_document(found: ShapeReading) -> dict[str, object]:
    """Return plain JSON values of a reading, without the records."""
    share = completeness(found.fields)
    return {
        "surface": found.body.surface,
        "entity_id": found.body.entity_id,
        "status": found.body.status,
        "then": found.then,
        "now": found.outcome,
        "has_changed": found.has_changed,
        "reason": found.reason,
        "records": found.record_count,
        "completeness": None if share is None else round(share, 3),
        "fields": {one.field: [one.known, one.total] for one in found.fields},
    }


def summarise(found: Sequence[ShapeReading]) -> str:
    """Return one sentence about a folder."""
    read = sum(one.outcome in {"records", "unavailable"} for one in found)
    changed = sum(one.has_changed for one in found)
    tail = "all as received" if not changed else f"{changed} differently from when received"
    return f"{read} of {len(found)} bodies give records; {tail}"


def _plain(found: ShapeReading) -> dict[str, object]:
    value = found.value
    records = asdict(value) if is_dataclass(value) and not isinstance(value, type) else None
    return {
        "outcome": found.outcome,
        "reason": found.reason,
        "records": json.loads(json.dumps(records, default=_text)),
    }


def _text(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _write(path: Path, body: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(body)
