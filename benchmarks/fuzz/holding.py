"""What must hold of a parser's answer: records that fit the lake and invent nothing, or an error
with a name. Raising something else, or inventing, is a `BrokenError`.
"""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from typing import Any

from benchmarks.fuzz.containers import DUPLICATE
from benchmarks.fuzz.mutating import Case, places
from pipelines.platform.parsers.fields import parse_count
from pipelines.platform.parsers.videos import ParseContext
from tests.platform.shape_answers import parse_as
from warehouse.lake.record_rows import (
    chart_issue_rows,
    chart_song_rows,
    observation_row,
    search_page_row,
    video_row,
)
from warehouse.records.charts import ChartIndex, ChartPage
from warehouse.records.errors import SametrackError
from warehouse.records.search import SearchPage, SearchPosition
from warehouse.records.videos import (
    COUNTS,
    Account,
    HashtagInfo,
    Track,
    Unavailability,
    Video,
    VideoPage,
)
from warehouse.tables import BY_NAME
from warehouse.tables.column import to_arrow

NOW = datetime(2026, 11, 20, tzinfo=UTC)
SEEN = ParseContext(surface="any", observed_at=NOW, link_of=str)
ORIGIN: Any = {"capture_id": "c", "job_id": None, "data_provider": "public-graph"}
_COUNTED_BY_US = {"images_count", "skipped_cards"}
_MAY_BE_EMPTY = {"desc", "signature", "search_id", "backtrace"}
_WRITTEN_AS = {"cursor": {"cursor", "max_cursor", "maxCursor"}}

type Rows = list[tuple[str, dict[str, object]]]


class BrokenError(AssertionError):
    """What must hold does not."""


def outcome(case: Case) -> str:
    """`records`, `unavailable`, or the type of the named error.

    Raises:
        BrokenError: Neither, or the records say what the body does not.
    """
    try:
        value = parse_as(case.shape, case.body, SEEN)
    except SametrackError as error:
        return error.type
    except RecursionError as error:
        raise BrokenError("the parser recursed too deep") from error
    check_records(value, case.document)
    return "unavailable" if isinstance(value, Unavailability) else "records"


def check_records(value: object, document: Any) -> None:
    """Hold records against the lake's contract, and against the document they were read from.

    Raises:
        BrokenError: They do not fit, or say what the document does not.
    """
    for name, row in to_rows(value):
        if to_arrow(BY_NAME[name], [row], committed_at=NOW).num_rows != 1:
            raise BrokenError(f"a row does not fit {name}")
    if document is not None:
        _hold_values(value, _written(document))
        for video in _videos(value):
            _hold_counts(video, document)


def to_rows(value: object) -> Rows:
    """The rows of the lake that records become."""
    rows: Rows = [("raw.videos", video_row(video, **ORIGIN)) for video in _videos(value)]
    if isinstance(value, Track):
        rows.append(("raw.tracks", observation_row(value, **ORIGIN)))
    if isinstance(value, Account):
        rows.append(("raw.accounts", observation_row(value, **ORIGIN)))
    if isinstance(value, HashtagInfo):
        rows.append(("raw.hashtags", observation_row(value, **ORIGIN)))
    return rows + _page_rows(value)


def _page_rows(value: object) -> Rows:
    seen = {"surface": "any", "observed_at": NOW}
    if isinstance(value, SearchPage):
        row = search_page_row(value, term="t", place=SearchPosition())
        return [("raw.search_pages", {**row, **seen, **ORIGIN})]
    if isinstance(value, ChartIndex):
        return [("raw.chart_issues", {**row, **ORIGIN}) for row in chart_issue_rows(value)]
    if isinstance(value, ChartPage):
        rows = chart_song_rows(value, volid=None)
        return [("raw.chart_songs", {**row, **ORIGIN}) for row in rows]
    return []


def _videos(value: object) -> tuple[Video, ...]:
    if isinstance(value, Video):
        return (value,)
    return value.videos if isinstance(value, VideoPage | SearchPage) else ()


def _written(document: Any) -> set[tuple[str, str]]:
    """Every plain value of a document with its key, as text."""
    whole = {"": document}
    return {
        (str(key).removesuffix(DUPLICATE), str(container[key]).strip())
        for container, key in places(whole)
        if isinstance(container, dict) and isinstance(container[key], str | int)
    }


def _hold_values(record: object, written: set[tuple[str, str]]) -> None:
    """A 0 or an empty text in a record stands in the document under its own name."""
    for name, value in _plain_values(record):
        is_zero = value == 0 and type(value) is int and name not in _COUNTED_BY_US
        if is_zero and not _stands(name, "0", written):
            raise BrokenError(f"{name} is 0, and the document does not say so")
        if value == "" and name not in _MAY_BE_EMPTY:
            raise BrokenError(f"{name} is an empty text")


def _stands(name: str, text: str, written: set[tuple[str, str]]) -> bool:
    return any((key, text) in written for key in _WRITTEN_AS.get(name, {name}))


def _plain_values(record: object) -> Iterator[tuple[str, object]]:
    """Names and values of a record and of the records in it; the place of a search is ours."""
    if isinstance(record, SearchPosition):
        return
    if isinstance(record, tuple):
        for one in record:
            yield from _plain_values(one)
    elif is_dataclass(record):
        for field in fields(record):
            value = getattr(record, field.name)
            if isinstance(value, tuple) or is_dataclass(value):
                yield from _plain_values(value)
            else:
                yield field.name, value


def _hold_counts(video: Video, document: Any) -> None:
    """Every count of a work is one that the document shows beside the work's id."""
    shown = [
        container[statistics]
        for container, key in places({"": document})
        if str(key).removesuffix(DUPLICATE) == "aweme_id" and str(container[key]) == video.aweme_id
        for statistics in ("statistics", f"statistics{DUPLICATE}")
        if isinstance(container.get(statistics), dict)
    ]
    for name in COUNTS:
        value = getattr(video.statistics, name)
        if value is not None and value not in {_number(one, name) for one in shown}:
            raise BrokenError(f"{name} of {video.aweme_id} is {value}, which nobody shows")


def _number(statistics: dict[str, Any], name: str) -> int | None:
    for key in (f"{name}{DUPLICATE}", name):  # of a doubled key the last one counts
        if key in statistics:
            value = statistics[key]
            found = parse_count(value) if isinstance(value, str) else None
            return value if type(value) is int else None if found is None else found.value
    return None
