"""Converts a batch of attempts to rows of the lake, table by table. Pure."""

from collections.abc import Callable, Iterable
from typing import TypedDict

from pipelines.captures.recording.attempts import CaptureAttempt
from warehouse.lake.packing import pack_bytes
from warehouse.lake.record_rows import (
    chart_issue_rows,
    chart_song_rows,
    observation_row,
    search_page_row,
    video_row,
)
from warehouse.records.search import SearchPosition

CaptureRow = dict[str, object]


class RowProvenance(TypedDict):
    """Provenance columns of every observation."""

    capture_id: str
    job_id: str | None
    data_provider: str


class CaptureBatch:
    """Rows of a batch of attempts. `sequences` are in the attempts' order."""

    def __init__(
        self,
        attempts: list[CaptureAttempt],
        sequences: list[int],
        *,
        data_provider: str,
        job_id: str | None,
    ) -> None:
        self._numbered = list(zip(sequences, attempts, strict=True))
        self._data_provider = data_provider
        self._job_id = job_id

    def tables(self, *, stored: set[str]) -> dict[str, list[CaptureRow]]:
        """Return rows by table in the order of writing.

        Payloads come first; the `raw.captures` rows, which make the others visible, come last.
        `stored` bodies are left out.
        """
        return {
            "raw.payloads": self._payloads(stored),
            "raw.capture_items": self._items(),
            "raw.videos": self._rows(lambda one, at: _each(video_row, one.observed.videos, at)),
            "raw.tracks": self._rows(
                lambda one, at: _each(observation_row, one.observed.tracks, at)
            ),
            "raw.accounts": self._rows(
                lambda one, at: _each(observation_row, one.observed.accounts, at)
            ),
            "raw.hashtags": self._rows(
                lambda one, at: _each(observation_row, one.observed.hashtags, at)
            ),
            "raw.search_pages": self._rows(_search_rows),
            "raw.chart_issues": self._rows(_issue_rows),
            "raw.chart_songs": self._rows(_song_rows),
            "raw.captures": self._captures(),
        }

    def entities(self) -> set[str]:
        """Return the entities of these captures."""
        return {entity_key(attempt.surface, attempt.entity_id) for _, attempt in self._numbered}

    def _payloads(self, stored: set[str]) -> list[CaptureRow]:
        rows: dict[str, CaptureRow] = {}
        for _, attempt in self._numbered:
            sha256 = attempt.payload_sha256
            if sha256 is not None and sha256 not in stored and sha256 not in rows:
                rows[sha256] = _payload_row(sha256, attempt)
        return list(rows.values())

    def _items(self) -> list[CaptureRow]:
        return [
            {
                "capture_id": attempt.capture_id,
                "position": position,
                "surface": attempt.surface,
                "entity_id": attempt.entity_id,
                "sequence": sequence,
                "aweme_id": aweme_id,
            }
            for sequence, attempt in self._numbered
            for position, aweme_id in enumerate(attempt.observed.items or ())
        ]

    def _rows(
        self, rows_of: Callable[[CaptureAttempt, RowProvenance], Iterable[CaptureRow]]
    ) -> list[CaptureRow]:
        return [
            row
            for _, attempt in self._numbered
            for row in rows_of(attempt, self._origin(attempt.capture_id))
        ]

    def _captures(self) -> list[CaptureRow]:
        return [self._capture(*numbered) for numbered in self._numbered]

    def _capture(self, sequence: int, attempt: CaptureAttempt) -> CaptureRow:
        observed, question = attempt.observed, attempt.question
        return {
            "surface": attempt.surface,
            "entity_id": attempt.entity_id,
            "sequence": sequence,
            "outcome": attempt.outcome,
            "reason": attempt.reason,
            "notice": attempt.notice,
            "detail_msg": attempt.detail_msg,
            "http_status": attempt.http_status,
            "request_count": attempt.request_count,
            "item_count": observed.item_count,
            "cursor_in": question.cursor,
            "cursor_out": observed.cursor_out,
            "has_more": observed.has_more,
            "payload_sha256": attempt.payload_sha256,
            "source_path": attempt.source_path,
            "parser_version": attempt.parser_version,
            "observed_at": attempt.observed_at,
            **self._origin(attempt.capture_id),
        }

    def _origin(self, capture_id: str) -> RowProvenance:
        return {
            "capture_id": capture_id,
            "job_id": self._job_id,
            "data_provider": self._data_provider,
        }


def entity_key(surface: str, entity_id: str) -> str:
    """Return the key of a capture's entity for generation counters: `music:<id>` and the like."""
    kind = next((kind for word, kind in _KINDS if surface.startswith(word)), "video")
    return f"{kind}:{entity_id}"


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


def _each[T](
    to_row: Callable[..., CaptureRow], records: tuple[T, ...], origin: RowProvenance
) -> list[CaptureRow]:
    return [to_row(record, **origin) for record in records]


def _search_rows(attempt: CaptureAttempt, origin: RowProvenance) -> list[CaptureRow]:
    page = attempt.observed.search
    if page is None:
        return []
    place = attempt.question.place or SearchPosition()
    row = search_page_row(page, term=attempt.entity_id, place=place)
    return [{**row, "surface": attempt.surface, "observed_at": attempt.observed_at, **origin}]


def _issue_rows(attempt: CaptureAttempt, origin: RowProvenance) -> list[CaptureRow]:
    index = attempt.observed.index
    return [] if index is None else [{**row, **origin} for row in chart_issue_rows(index)]


def _song_rows(attempt: CaptureAttempt, origin: RowProvenance) -> list[CaptureRow]:
    page = attempt.observed.chart
    if page is None:
        return []
    rows = chart_song_rows(page, volid=attempt.question.volid)
    return [{**row, **origin} for row in rows]


def _payload_row(sha256: str, attempt: CaptureAttempt) -> CaptureRow:
    return {
        "sha256": sha256,
        "body": pack_bytes(attempt.payload),
        "size_bytes": len(attempt.payload),
        "content_type": attempt.content_type,
    }
