"""Conversion between observed records, pages of searches and charts, and rows of the lake.

A field of a record is the column of its name; those of `Music` begin with `music_`. The lake adds
`committed_at`. Column types are in `tables`, SQL is in `queries`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from functools import cache

import orjson
import zstandard

from warehouse.home import OWN_WORLDS
from warehouse.records import evidence
from warehouse.records.charts import ChartIndex, ChartIssue, ChartPage, ChartSong
from warehouse.records.errors import WarehouseUnavailableError
from warehouse.records.search import SearchPage, SearchPosition
from warehouse.records.values import ReadOnlyRow, Row
from warehouse.records.videos import (
    COUNTS,
    Account,
    Author,
    Hashtag,
    HashtagInfo,
    Music,
    Statistics,
    Track,
    Unavailability,
    Video,
)

# Compression of whole documents (job results, captured bodies) into one cell: zstd.

_LEVEL = 3  # level 10 takes ten times as long and saves 10 % on JSON
_MAX_BYTES = 256 * 1024 * 1024  # a cell that claims more is damaged


def pack_bytes(body: bytes) -> bytes:
    """Compress to one zstd frame with a checksum."""
    # With a checksum: a damaged cell is then an error, not another document.
    return zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True).compress(body)


def unpack_bytes(packed: bytes) -> bytes:
    """Decompress the result of `pack_bytes`.

    Raises:
        WarehouseUnavailableError: The cell is damaged.
    """
    try:
        # The size is checked first: a damaged cell must not allocate gigabytes.
        size = zstandard.frame_content_size(packed)
        if not 0 <= size <= _MAX_BYTES:
            raise WarehouseUnavailableError("a stored document has an invalid size")
        return zstandard.ZstdDecompressor().decompress(packed)
    except zstandard.ZstdError as error:
        raise WarehouseUnavailableError("a stored document is damaged") from error


def pack_document(document: Mapping[str, object]) -> bytes:
    """Serialise a document to compressed JSON."""
    return pack_bytes(orjson.dumps(dict(document)))


def unpack_document(packed: bytes) -> dict[str, object]:
    """Parse the result of `pack_document`.

    Raises:
        WarehouseUnavailableError: The cell is damaged.
    """
    try:
        document: dict[str, object] = orjson.loads(unpack_bytes(packed))
    except orjson.JSONDecodeError as error:
        raise WarehouseUnavailableError("a stored document is not JSON") from error
    return document


@cache
def _names(record: type) -> tuple[str, ...]:
    """Return the fields of a record, which are columns of the same name."""
    return tuple(field.name for field in fields(record))


# These fields of a video are no columns of that name.
_OTHER_FIELDS = frozenset(
    {"author", "music", "hashtags", "statistics", "local_source", "sound", "first_observed_at"}
)
_VIDEO = tuple(name for name in _names(Video) if name not in _OTHER_FIELDS)
_AUTHOR = _names(Author)
_MUSIC = {name if name == "music_id" else f"music_{name}": name for name in _names(Music)}
_NOT_SHOWN = ("aweme_id", "surface", "observed_at", "create_time", "share_url", "is_exact")
SHOWN_TOGETHER: Mapping[str, tuple[str, ...]] = {
    "sec_uid": _AUTHOR,
    "music_id": tuple(_MUSIC),
    "hashtag_ids": ("hashtag_ids", "hashtag_names"),
    **{name: (name,) for name in _VIDEO if name not in _NOT_SHOWN},
}
"""Columns that an observation may show of a video besides its counts and times: all fields of the
record but those of `_NOT_SHOWN`, which no other observation fills in. Columns whose
values belong together are one group; its key is the column that is null if they are not shown."""


def video_row(
    video: Video, *, capture_id: str | None, job_id: str | None, data_provider: str
) -> Row:
    """Return the row of `raw.videos`."""
    # Null means unknown hashtags, an empty list a video without hashtags.
    hashtags, birth, music_birth = video.hashtags, video.birth, video.music_birth
    return {
        **{name: getattr(video, name) for name in _VIDEO},
        # A video without an author or music has nulls in these columns.
        **{name: getattr(video.author, name, None) for name in _AUTHOR},
        **{column: getattr(video.music, name, None) for column, name in _MUSIC.items()},
        **{name: getattr(video.statistics, name) for name in COUNTS},
        "hashtag_ids": None if hashtags is None else [hashtag.ch_id for hashtag in hashtags],
        "hashtag_names": None if hashtags is None else [hashtag.name for hashtag in hashtags],
        "statistics_complete": video.statistics_complete,
        "created_at": birth.at if birth else None,
        "created_at_source": birth.source if birth else None,
        "music_created_at": music_birth.at if music_birth else None,
        "capture_id": capture_id,
        "job_id": job_id,
        "data_provider": data_provider,
    }


def video_from_row(row: ReadOnlyRow, *, first_observed_at: datetime | None = None) -> Video:
    """Build a video from a row of `raw.videos`; `first_observed_at` is the time of its first."""
    provider = row["data_provider"]
    ids, names = row["hashtag_ids"], row["hashtag_names"]
    hashtags = None
    if ids is not None and names is not None:
        pairs = zip(ids, names, strict=True)
        hashtags = tuple(Hashtag(ch_id=ch_id, name=name) for ch_id, name in pairs)
    return Video(
        **{name: row[name] for name in _VIDEO},
        author=None if row["sec_uid"] is None else Author(**{n: row[n] for n in _AUTHOR}),
        music=None
        if row["music_id"] is None
        else Music(**{name: row[column] for column, name in _MUSIC.items()}),
        hashtags=hashtags,
        statistics=Statistics(**{name: row[name] for name in COUNTS}),
        local_source=provider if provider in OWN_WORLDS else None,
        first_observed_at=first_observed_at,
    )


def observation_row(
    record: Track | Account | HashtagInfo,
    *,
    capture_id: str | None,
    job_id: str | None,
    data_provider: str,
) -> Row:
    """Return the row of `raw.tracks`, `raw.accounts` or `raw.hashtags`."""
    kind: type = type(record)
    row = {
        **{name: getattr(record, name) for name in _names(kind)},
        "capture_id": capture_id,
        "job_id": job_id,
        "data_provider": data_provider,
    }
    if isinstance(record, Track):  # of these records only tracks have a time of creation
        birth = record.birth
        row["created_at"] = birth.at if birth else None
        row["created_at_source"] = birth.source if birth else None
    return row


def track_from_row(row: ReadOnlyRow) -> Track:
    """Build a track from a row of `raw.tracks`."""
    return Track(**_columns(row, Track))


def account_from_row(row: ReadOnlyRow) -> Account:
    """Build an account from a row of `raw.accounts`."""
    return Account(**_columns(row, Account))


def hashtag_from_row(row: ReadOnlyRow) -> HashtagInfo:
    """Build a hashtag from a row of `raw.hashtags`."""
    return HashtagInfo(**_columns(row, HashtagInfo))


def _columns(row: ReadOnlyRow, record: type) -> Row:
    return {name: row[name] for name in _names(record)}


def unavailability_from_row(row: ReadOnlyRow) -> Unavailability:
    """Build the reason why a video is not shown from the row of its capture in `raw.captures`."""
    return Unavailability(
        reason="unavailable",
        filter_reason=row["reason"],
        notice=row.get("notice"),
        detail_msg=row.get("detail_msg"),
    )


def comparison_from_row(row: ReadOnlyRow) -> evidence.Comparison:
    """Build a comparison from a row of `marts.audio_comparisons`."""
    pair = {name: row[name] for name in _names(evidence.PairEvidence)}
    pair["searched"] = _searched_range(row.get("searched"))
    built = {"pair", "limits", "reference_source"}
    rest = {name: row[name] for name in _names(evidence.Comparison) if name not in built}
    stored = row.get("reference_source")  # rows of earlier releases have none
    source: evidence.ReferenceSource = "music_service" if stored == "music_service" else "platform"
    limits = evidence.MatchThresholds(**orjson.loads(row["limits"]))
    return evidence.Comparison(
        pair=evidence.PairEvidence(**pair), limits=limits, reference_source=source, **rest
    )


def _searched_range(stored: str | None) -> evidence.SearchedRange | None:
    if stored is None:  # a pair that was not compared, or a row of an earlier release
        return None
    values = orjson.loads(stored)
    # JSON has no tuples, and a frozen record compares them.
    for name in ("speed", "tempo", "semitones", "tempo_with_pitch"):
        values[name] = tuple(values[name])
    return evidence.SearchedRange(**values)


SONG_COLUMNS = _names(ChartSong)


def search_page_row(page: SearchPage, *, term: str, place: SearchPosition) -> Row:
    """Return the row of `raw.search_pages`; its provenance columns come from the capture."""
    return {
        "term": term,
        "cursor": place.cursor,
        "search_id": place.search_id,
        "backtrace": place.backtrace,
        "next_cursor": page.next_position.cursor,
        "next_search_id": page.next_position.search_id,
        "next_backtrace": page.next_position.backtrace,
        "has_more": page.has_more,
        "nil_type": page.nil_type,
        "item_count": len(page.videos),
        "skipped_cards": page.skipped_cards,
        "is_cut": page.is_cut,
    }


def search_page_from_row(row: ReadOnlyRow, videos: Sequence[Video]) -> SearchPage:
    """Build a page from a row of `raw.search_pages` and the videos it showed."""
    return SearchPage(
        videos=tuple(videos),
        next_position=SearchPosition(
            cursor=row["next_cursor"],
            search_id=row["next_search_id"],
            backtrace=row["next_backtrace"],
        ),
        has_more=row["has_more"],
        nil_type=row["nil_type"],
        skipped_cards=row["skipped_cards"],
        is_cut=bool(row["is_cut"]),
    )


def chart_issue_rows(index: ChartIndex) -> list[Row]:
    """Return rows of `raw.chart_issues` without their provenance columns."""
    return [
        {
            **{name: getattr(issue, name) for name in _names(ChartIssue)},
            "is_latest": issue.volid == index.latest_volid,
        }
        for issue in index.issues
    ]


def chart_index_from_rows(rows: Sequence[ReadOnlyRow]) -> ChartIndex:
    """Build the list of issues from rows of `raw.chart_issues`, in the order of the rows."""
    # Rows of an index that named no latest issue have no such row.
    latest = next((row["volid"] for row in rows if row["is_latest"]), None)
    return ChartIndex(issues=tuple(map(chart_issue_from_row, rows)), latest_volid=latest)


def chart_issue_from_row(row: ReadOnlyRow) -> ChartIssue:
    """Build an issue from a row of `raw.chart_issues`."""
    return ChartIssue(**_columns(row, ChartIssue))


def chart_song_rows(page: ChartPage, *, volid: str | None) -> list[Row]:
    """Return rows of `raw.chart_songs` without their provenance columns.

    `volid` is the requested issue.
    """
    return [
        {
            **{name: getattr(song, name) for name in SONG_COLUMNS},
            "volid": page.volid or volid,
            "chart_date": page.chart_date,
            "surface": page.surface,
            "observed_at": page.observed_at,
        }
        for song in page.songs
    ]


def chart_song_from_row(row: ReadOnlyRow) -> ChartSong:
    """Build a song from a row of `raw.chart_songs`."""
    return ChartSong(**_columns(row, ChartSong))
