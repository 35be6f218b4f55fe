"""Converts a batch of attempts to rows of the lake, table by table. Pure."""

from collections.abc import Callable, Iterable
from typing import TypedDict

from pipelines.captures.recording.reads import Attempt
from warehouse.lake.packing import pack_bytes
from warehouse.lake.page_rows import chart_issue_rows, chart_song_rows, search_page_row
from warehouse.lake.record_rows import account_row, hashtag_row, track_row, video_row
from warehouse.records.search import SearchPlace

Row = dict[str, object]


class Origin(TypedDict):
    """Provenance columns of every observation."""

    capture_id: str
    job_id: str | None
    data_provider: str


class Batch:
    """Rows of a batch of attempts. `sequences` are in the attempts' order."""

    def __init__(
        self,
        attempts: list[Attempt],
        sequences: list[int],
        *,
        data_provider: str,
        job_id: str | None,
    ) -> None:
        self._numbered = list(zip(sequences, attempts, strict=True))
        self._data_provider = data_provider
        self._job_id = job_id

    def tables(self, *, stored: set[str]) -> dict[str, list[Row]]:
        """Return rows by table in the order of writing.

        Payloads come first; the `raw.captures` rows, which make the others visible, come last.
        `stored` bodies are left out.
        """
        return {
            "raw.payloads": self._payloads(stored),
            "raw.capture_items": self._items(),
            "raw.videos": self._rows(lambda one, at: _each(video_row, one.observed.videos, at)),
            "raw.tracks": self._rows(lambda one, at: _each(track_row, one.observed.tracks, at)),
            "raw.accounts": self._rows(
                lambda one, at: _each(account_row, one.observed.accounts, at)
            ),
            "raw.hashtags": self._rows(
                lambda one, at: _each(hashtag_row, one.observed.hashtags, at)
            ),
            "raw.search_pages": self._rows(_search_rows),
            "raw.chart_issues": self._rows(_issue_rows),
            "raw.chart_songs": self._rows(_song_rows),
            "raw.captures": self._captures(),
        }

    def entities(self) -> set[str]:
        """Return the entities of these captures."""
        return {entity_of(attempt.surface, attempt.entity_id) for _, attempt in self._numbered}

    def _payloads(self, stored: set[str]) -> list[Row]:
        rows: dict[str, Row] = {}
        for _, attempt in self._numbered:
            sha256 = attempt.payload_sha256
            if sha256 is not None and sha256 not in stored and sha256 not in rows:
                rows[sha256] = _payload_row(sha256, attempt)
        return list(rows.values())

    def _items(self) -> list[Row]:
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

    def _rows(self, rows_of: Callable[[Attempt, Origin], Iterable[Row]]) -> list[Row]:
        return [
            row
            for _, attempt in self._numbered
            for row in rows_of(attempt, self._origin(attempt.capture_id))
        ]

    def _captures(self) -> list[Row]:
        return [self._capture(*numbered) for numbered in self._numbered]

    def _capture(self, sequence: int, attempt: Attempt) -> Row:
        observed, question = attempt.observed, attempt.question
        return {
            "surface": attempt.surface,
            "entity_id": attempt.entity_id,
            "sequence": sequence,
            "outcome": attempt.outcome,
            "reason": attempt.reason,
            "http_status": attempt.http_status,
            "request_count": attempt.request_count,
            "item_count": observed.item_count,
            "cursor_in": None if question is None else question.cursor,
            "cursor_out": observed.cursor_out,
            "has_more": observed.has_more,
            "payload_sha256": attempt.payload_sha256,
            "source_path": attempt.source_path,
            "parser_version": attempt.parser_version,
            "observed_at": attempt.observed_at,
            **self._origin(attempt.capture_id),
        }

    def _origin(self, capture_id: str) -> Origin:
        return {
            "capture_id": capture_id,
            "job_id": self._job_id,
            "data_provider": self._data_provider,
        }


def entity_of(surface: str, entity_id: str) -> str:
    """Return the key of a capture's entity for generation counters: `music:<id>` and the like."""
    kind = next((kind for word, kind in _KINDS if surface.startswith(word)), "video")
    return f"{kind}:{entity_id}"


_KINDS = (
    ("music_", "music"),
    ("user_", "user"),
    ("hashtag_", "hashtag"),
    ("search_", "search"),
    ("chart_", "chart"),
    ("short_link", "link"),
)
"""By prefix of the surface's name; every other surface shows videos."""


def _each[T](to_row: Callable[..., Row], records: tuple[T, ...], origin: Origin) -> list[Row]:
    return [to_row(record, **origin) for record in records]


def _search_rows(attempt: Attempt, origin: Origin) -> list[Row]:
    page = attempt.observed.search
    if page is None:
        return []
    place = attempt.question.place if attempt.question else None
    row = search_page_row(page, term=attempt.entity_id, place=place or SearchPlace())
    return [{**row, "surface": attempt.surface, "observed_at": attempt.observed_at, **origin}]


def _issue_rows(attempt: Attempt, origin: Origin) -> list[Row]:
    index = attempt.observed.index
    return [] if index is None else [{**row, **origin} for row in chart_issue_rows(index)]


def _song_rows(attempt: Attempt, origin: Origin) -> list[Row]:
    page = attempt.observed.chart
    if page is None:
        return []
    volid = attempt.question.volid if attempt.question else None
    return [{**row, **origin} for row in chart_song_rows(page, volid=volid)]


def _payload_row(sha256: str, attempt: Attempt) -> Row:
    return {
        "sha256": sha256,
        "body": pack_bytes(attempt.payload),
        "size_bytes": len(attempt.payload),
        "content_type": attempt.content_type,
    }
