"""Conversion between observed records and rows of the lake.

A field of a record is the column of its name; those of `Music` begin with `music_`. The lake adds
`committed_at`. Column types are in `tables`, SQL is in `queries`.
"""

from collections.abc import Collection
from dataclasses import fields

import orjson

from warehouse.records.evidence import (
    Comparison,
    MatchThresholds,
    PairEvidence,
    ReferenceSource,
    SearchedRange,
)
from warehouse.records.times import Birth
from warehouse.records.values import ReadOnlyRow, Row
from warehouse.records.videos import (
    Account,
    Author,
    Hashtag,
    HashtagInfo,
    Music,
    Statistics,
    Track,
    UnavailableVideo,
    Video,
)


def _names(record: type, *, without: Collection[str] = ()) -> tuple[str, ...]:
    """Return the fields of a record that are columns of the same name."""
    return tuple(field.name for field in fields(record) if field.name not in without)


_VIDEO = _names(Video, without={"author", "music", "hashtags", "statistics"})
_AUTHOR = _names(Author)
_MUSIC = {name if name == "music_id" else f"music_{name}": name for name in _names(Music)}
_STATISTICS = _names(Statistics)
_TRACK, _ACCOUNT, _HASHTAG = _names(Track), _names(Account), _names(HashtagInfo)


def video_row(
    video: Video, *, capture_id: str | None, job_id: str | None, data_provider: str
) -> Row:
    """Return the row of `raw.videos`."""
    return {
        **_picked(video, _VIDEO),
        **_picked(video.author, _AUTHOR),
        **{column: getattr(video.music, name, None) for column, name in _MUSIC.items()},
        **_picked(video.statistics, _STATISTICS),
        "hashtag_ids": [hashtag.ch_id for hashtag in video.hashtags],
        "hashtag_names": [hashtag.name for hashtag in video.hashtags],
        "statistics_complete": video.statistics_complete,
        **_birth(video.birth),
        "music_created_at": video.music_birth.at if video.music_birth else None,
        **_origin(capture_id, job_id, data_provider),
    }


def video_from_row(row: ReadOnlyRow) -> Video:
    """Build a video from a row of `raw.videos`."""
    names = zip(row["hashtag_ids"] or (), row["hashtag_names"] or (), strict=True)
    return Video(
        **{name: row[name] for name in _VIDEO},
        author=None if row["sec_uid"] is None else Author(**{n: row[n] for n in _AUTHOR}),
        music=None
        if row["music_id"] is None
        else Music(**{name: row[column] for column, name in _MUSIC.items()}),
        hashtags=tuple(Hashtag(ch_id=ch_id, name=name) for ch_id, name in names),
        statistics=Statistics(**{name: row[name] for name in _STATISTICS}),
    )


def track_row(
    track: Track, *, capture_id: str | None, job_id: str | None, data_provider: str
) -> Row:
    """Return the row of `raw.tracks`."""
    return {
        **_picked(track, _TRACK),
        **_birth(track.birth),
        **_origin(capture_id, job_id, data_provider),
    }


def track_from_row(row: ReadOnlyRow) -> Track:
    """Build a track from a row of `raw.tracks`."""
    return Track(**{name: row[name] for name in _TRACK})


def account_row(
    account: Account, *, capture_id: str | None, job_id: str | None, data_provider: str
) -> Row:
    """Return the row of `raw.accounts`."""
    return {**_picked(account, _ACCOUNT), **_origin(capture_id, job_id, data_provider)}


def account_from_row(row: ReadOnlyRow) -> Account:
    """Build an account from a row of `raw.accounts`."""
    return Account(**{name: row[name] for name in _ACCOUNT})


def hashtag_row(
    hashtag: HashtagInfo, *, capture_id: str | None, job_id: str | None, data_provider: str
) -> Row:
    """Return the row of `raw.hashtags`."""
    return {**_picked(hashtag, _HASHTAG), **_origin(capture_id, job_id, data_provider)}


def hashtag_from_row(row: ReadOnlyRow) -> HashtagInfo:
    """Build a hashtag from a row of `raw.hashtags`."""
    return HashtagInfo(**{name: row[name] for name in _HASHTAG})


def _birth(birth: Birth | None) -> Row:
    return {
        "created_at": birth.at if birth else None,
        "created_at_source": birth.source if birth else None,
    }


def _picked(record: object | None, names: tuple[str, ...]) -> Row:
    return {name: None if record is None else getattr(record, name) for name in names}


def _origin(capture_id: str | None, job_id: str | None, data_provider: str) -> Row:
    return {"capture_id": capture_id, "job_id": job_id, "data_provider": data_provider}


def unavailable_video_from_row(row: ReadOnlyRow) -> UnavailableVideo:
    """Build a video that is not shown from the row of its capture in `raw.captures`.

    What the platform says of it in sentences is not stored.
    """
    return UnavailableVideo(
        aweme_id=row["entity_id"], reason="unavailable", filter_reason=row["reason"]
    )


def comparison_from_row(row: ReadOnlyRow) -> Comparison:
    """Build a comparison from a row of `marts.audio_comparisons`."""
    pair = {field.name: row[field.name] for field in fields(PairEvidence)}
    pair["searched"] = _searched_range(row.get("searched"))
    rest = {
        field.name: row[field.name]
        for field in fields(Comparison)
        if field.name not in {"pair", "limits", "reference_source"}
    }
    stored = row.get("reference_source")  # rows of earlier releases have none
    source: ReferenceSource = "music_service" if stored == "music_service" else "platform"
    limits = MatchThresholds(**orjson.loads(row["limits"]))
    return Comparison(pair=PairEvidence(**pair), limits=limits, reference_source=source, **rest)


def _searched_range(stored: str | None) -> SearchedRange | None:
    if stored is None:  # a pair that was not compared, or a row of an earlier release
        return None
    values = orjson.loads(stored)
    for name in ("speed", "tempo", "semitones", "tempo_with_pitch"):
        values[name] = tuple(values[name])
    return SearchedRange(**values)
