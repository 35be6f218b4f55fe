"""The data contract: every table of the lake, what one row of it is, its key and its columns.

The data dictionary, the asset checks and the engine's views are derived from `TABLES`. Ids are
text; times are `timestamp[us, UTC]`; a column is nullable unless it stands in `required`.
A later column is added at the end with the table's `version` raised: opening a store adds it.
"""

from dataclasses import dataclass

import pyarrow as pa

TEXT = pa.string()
WHOLE = pa.int64()
REAL = pa.float64()
FLAG = pa.bool_()
TIME = pa.timestamp("us", tz="UTC")
BYTES = pa.binary()
TEXTS = pa.list_(pa.string())


@dataclass(frozen=True, slots=True)
class Column:
    """One column: `meaning` gives the unit where there is one."""

    name: str
    type: pa.DataType
    meaning: str
    required: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """One table of the lake. `name` is `layer.noun`, the same word for asset, SQL and folder."""

    name: str
    row: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    version: int = 1

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema that every appended row must fit."""
        return pa.schema(
            [
                pa.field(column.name, column.type, nullable=not column.required)
                for column in self.columns
            ]
        )

    @property
    def folder(self) -> str:
        """Where the table lies below the lake's root: `layer/noun`."""
        return self.name.replace(".", "/")


def _must(name: str, type_: pa.DataType, meaning: str) -> Column:
    return Column(name, type_, meaning, required=True)


def _may(name: str, type_: pa.DataType, meaning: str) -> Column:
    return Column(name, type_, meaning)


_JOB = _may("job_id", TEXT, "job that caused the row; null for a single request")
_OBSERVED = _must("observed_at", TIME, "when the platform showed it")
_SURFACE = _must("surface", TEXT, "surface that showed it")
_COMMITTED = _must("committed_at", TIME, "when the row was written; `as of` reads filter on it")
_CAPTURE = _may("capture_id", TEXT, "capture that read it")
_ALGORITHM = _must("algorithm", TEXT, "verification algorithm and version")

TABLES: tuple[Table, ...] = (
    Table(
        "raw.payloads",
        "distinct body read from outside, compressed",
        ("sha256",),
        (
            _must("sha256", TEXT, "hash of the uncompressed body"),
            _must("body", BYTES, "the body, zstd-compressed"),
            _must("size_bytes", WHOLE, "uncompressed size"),
            _may("content_type", TEXT, "content type as answered"),
            _COMMITTED,
        ),
    ),
    Table(
        "raw.captures",
        "attempt to read a surface for an entity",
        ("capture_id",),
        (
            _must("capture_id", TEXT, "id of the attempt"),
            _must("surface", TEXT, "surface asked"),
            _must("entity_id", TEXT, "music id, account, video or term asked about"),
            _must("sequence", WHOLE, "number of the capture of this surface and entity"),
            _must("outcome", TEXT, "ok, unavailable, or the type of the upstream error"),
            _may("reason", TEXT, "the platform's own word, or what did not fit"),
            _may("http_status", WHOLE, "status of the last answer"),
            _must("request_count", WHOLE, "requests made, repeats and second source included"),
            _may("item_count", WHOLE, "items on the page"),
            _may("cursor_in", WHOLE, "cursor asked with"),
            _may("cursor_out", WHOLE, "cursor answered"),
            _may("has_more", FLAG, "the platform's signal that more exists"),
            _may("payload_sha256", TEXT, "body in raw.payloads"),
            _may("source_path", TEXT, "path the body came from, without host and secrets"),
            _must("parser_version", TEXT, "parser that read it"),
            _must("data_provider", TEXT, "provider that read it"),
            _JOB,
            _OBSERVED,
            _COMMITTED,
        ),
    ),
    Table(
        "raw.capture_items",
        "item on a captured page, with its position",
        ("capture_id", "position"),
        (
            _must("capture_id", TEXT, "capture that showed the item"),
            _must("position", WHOLE, "place on the page, from 0"),
            _must("surface", TEXT, "surface of the capture"),
            _must("entity_id", TEXT, "entity of the capture"),
            _must("sequence", WHOLE, "sequence of the capture"),
            _must("aweme_id", TEXT, "video shown"),
            _COMMITTED,
        ),
    ),
    Table(
        "raw.videos",
        "observation of a video",
        ("aweme_id", "observed_at", "surface"),
        (
            _must("aweme_id", TEXT, "video"),
            _SURFACE,
            _OBSERVED,
            _CAPTURE,
            _may("desc", TEXT, "caption"),
            _may("create_time", WHOLE, "publication, unix seconds"),
            _may("share_url", TEXT, "public link"),
            _may("media_type", TEXT, "video or photo"),
            _may("is_top", FLAG, "pinned by its author"),
            _may("sec_uid", TEXT, "author"),
            _may("uid", TEXT, "author's numeric id"),
            _may("unique_id", TEXT, "author's handle"),
            _may("nickname", TEXT, "author's display name"),
            _may("avatar_url", TEXT, "author's picture"),
            _may("music_id", TEXT, "music id the video uses"),
            _may("music_title", TEXT, "title of that music id"),
            _may("music_author", TEXT, "artist of that music id"),
            _may("music_duration_s", WHOLE, "length of that sound in seconds"),
            _may("music_is_original_sound", FLAG, "user sound rather than a released track"),
            _may("music_mapped_title", TEXT, "named song the platform links the sound to"),
            _may("duration_ms", WHOLE, "length of the video in milliseconds"),
            _may("width", WHOLE, "width in pixels"),
            _may("height", WHOLE, "height in pixels"),
            _may("cover_url", TEXT, "cover picture"),
            _may("images_count", WHOLE, "pictures of a photo post"),
            _may("hashtag_ids", TEXTS, "hashtag ids"),
            _may("hashtag_names", TEXTS, "hashtag names, same order"),
            _may("digg_count", WHOLE, "likes"),
            _may("comment_count", WHOLE, "comments"),
            _may("collect_count", WHOLE, "bookmarks"),
            _may("share_count", WHOLE, "shares"),
            _must("is_exact", FLAG, "false when a count was shown rounded"),
            _must("statistics_complete", FLAG, "all four counts read exactly"),
            _must("data_provider", TEXT, "provider that read it"),
            _JOB,
            _COMMITTED,
        ),
    ),
    Table(
        "raw.accounts",
        "observation of an account",
        ("sec_uid", "observed_at", "surface"),
        (
            _must("sec_uid", TEXT, "account"),
            _SURFACE,
            _OBSERVED,
            _CAPTURE,
            _may("uid", TEXT, "numeric id"),
            _may("unique_id", TEXT, "handle"),
            _may("short_id", TEXT, "short number"),
            _may("nickname", TEXT, "display name"),
            _may("signature", TEXT, "self-description"),
            _may("avatar_url", TEXT, "picture"),
            _may("follower_count", WHOLE, "followers"),
            _may("following_count", WHOLE, "accounts followed"),
            _may("aweme_count", WHOLE, "works published"),
            _may("total_favorited", WHOLE, "likes received"),
            _may("favoriting_count", WHOLE, "likes given"),
            _may("ip_location", TEXT, "region shown"),
            _must("data_provider", TEXT, "provider that read it"),
            _JOB,
            _COMMITTED,
        ),
    ),
    Table(
        "raw.tracks",
        "observation of a music id",
        ("music_id", "observed_at", "surface"),
        (
            _must("music_id", TEXT, "music id"),
            _SURFACE,
            _OBSERVED,
            _CAPTURE,
            _may("title", TEXT, "title"),
            _may("author", TEXT, "artist"),
            _may("owner_nickname", TEXT, "who uploaded the sound"),
            _may("duration_s", WHOLE, "length in seconds"),
            _may("is_original_sound", FLAG, "user sound rather than a released track"),
            _may("cover_url", TEXT, "cover picture"),
            _may("source_aweme_id", TEXT, "video a user sound was taken from"),
            _must("data_provider", TEXT, "provider that read it"),
            _JOB,
            _COMMITTED,
        ),
    ),
    Table(
        "raw.sounds",
        "decoded sound, or why it cannot be compared",
        ("sound_sha256", "feature_version"),
        (
            _must("sound_sha256", TEXT, "hash of the encoded sound as read"),
            _must("feature_version", TEXT, "version of the feature extraction"),
            _must("aweme_id", TEXT, "video the sound was read from"),
            _may("music_id", TEXT, "music id of that video"),
            _may("features", BYTES, "uncentred features, packed; null when not comparable"),
            _may("duration_s", REAL, "decoded length in seconds"),
            _may("sample_rate_hz", WHOLE, "native sample rate"),
            _may("codec", TEXT, "codec of the sound stream"),
            _may("not_comparable_reason", TEXT, "why no features could be taken"),
            _must("library_version", TEXT, "versions of decoder and numeric libraries"),
            _JOB,
            _OBSERVED,
            _COMMITTED,
        ),
    ),
    Table(
        "marts.candidates",
        "job and candidate video: where it came from and what became of it",
        ("job_id", "aweme_id", "committed_at"),
        (
            _must("job_id", TEXT, "job"),
            _must("aweme_id", TEXT, "candidate video"),
            _must("source_surface", TEXT, "surface that showed it first in this job"),
            _must("source_entity_id", TEXT, "music id or account whose page showed it"),
            _must("priority", REAL, "order in which candidates were taken, higher first"),
            _may("music_id", TEXT, "music id read from its detail"),
            _must("outcome", TEXT, "pooled, confirmed, rejected, not_comparable, unavailable, ..."),
            _may("reason", TEXT, "why"),
            _COMMITTED,
        ),
    ),
    Table(
        "marts.audio_comparisons",
        "compared pair with its evidence",
        ("comparison_id",),
        (
            _must("comparison_id", TEXT, "pair"),
            _must("job_id", TEXT, "job"),
            _must("track_music_id", TEXT, "track the job is about"),
            _must("reference_aweme_id", TEXT, "reference work"),
            _must("candidate_aweme_id", TEXT, "candidate work"),
            _must("reference_music_id", TEXT, "music id of the reference"),
            _must("candidate_music_id", TEXT, "music id of the candidate"),
            _may("reference_sha256", TEXT, "sound of the reference in raw.sounds"),
            _may("candidate_sha256", TEXT, "sound of the candidate in raw.sounds"),
            _must("verdict", TEXT, "confirmed, variant, rejected or not_comparable"),
            _must("reason", TEXT, "why"),
            _may("segment", TEXT, "whole or local"),
            _may("chroma_distance", REAL, "1 - chroma correlation"),
            _may("mfcc_distance", REAL, "1 - MFCC correlation"),
            _may("overlap_s", REAL, "length compared in seconds"),
            _may("reference_start_s", REAL, "start in the reference in seconds"),
            _may("candidate_start_s", REAL, "start in the candidate in seconds"),
            _may("peak_agreement", REAL, "share of spectral peaks that agree"),
            _may("score", REAL, "composite score, 0 to 1"),
            _may("speed", REAL, "candidate speed over reference speed"),
            _may("semitones", REAL, "pitch shift of the candidate"),
            _must("limits", TEXT, "thresholds applied, as JSON"),
            _ALGORITHM,
            _must("feature_version", TEXT, "version of the feature extraction"),
            _must("library_version", TEXT, "versions of the numeric libraries"),
            _COMMITTED,
        ),
    ),
    Table(
        "marts.confirmed_videos",
        "track, job and video confirmed to carry the recording",
        ("music_id", "aweme_id", "job_id"),
        (
            _must("music_id", TEXT, "track"),
            _must("aweme_id", TEXT, "confirmed video"),
            _must("job_id", TEXT, "job that confirmed it"),
            _must("link_type", TEXT, "exact_music_id, audio_fingerprint_match or ..._graph"),
            _must("source_music_id", TEXT, "music id the video uses"),
            _may("source_music_title", TEXT, "title of that music id"),
            _may("sec_uid", TEXT, "author"),
            _may("comparison_id", TEXT, "evidence; null for exact_music_id"),
            _may("reference_aweme_id", TEXT, "work it was compared with"),
            _must("expansion_round", WHOLE, "round of the job that found it, from 0"),
            _ALGORITHM,
            _COMMITTED,
        ),
    ),
    Table(
        "marts.variants",
        "track, job and video that carries the recording at another speed or pitch",
        ("music_id", "aweme_id", "job_id"),
        (
            _must("music_id", TEXT, "track"),
            _must("aweme_id", TEXT, "video"),
            _must("job_id", TEXT, "job that heard it"),
            _must("source_music_id", TEXT, "music id the video uses"),
            _may("sec_uid", TEXT, "author"),
            _must("kind", TEXT, "speed, tempo or pitch"),
            _must("speed", REAL, "tempo of the video over tempo of the track"),
            _must("semitones", REAL, "pitch shift of the video"),
            _must("comparison_id", TEXT, "evidence"),
            _ALGORITHM,
            _COMMITTED,
        ),
    ),
    Table(
        "marts.expansion_rounds",
        "round of a job",
        ("job_id", "round"),
        (
            _must("job_id", TEXT, "job"),
            _must("round", WHOLE, "number of the round, from 0"),
            _must("music_ids", TEXTS, "music ids verified in this round"),
            _must("new_confirmed_count", WHOLE, "videos confirmed in this round"),
            _COMMITTED,
        ),
    ),
    Table(
        "marts.coverage",
        "source of a job and stop reason: what it was asked and gave",
        ("job_id", "surface", "stop_reason"),
        (
            _must("job_id", TEXT, "job"),
            _must("surface", TEXT, "source"),
            _must("requests", WHOLE, "requests made"),
            _must("pages", WHOLE, "pages read"),
            _must("items", WHOLE, "items shown"),
            _must("new_items", WHOLE, "items not seen before in this job"),
            _must("stop_reason", TEXT, "why reading stopped"),
            _COMMITTED,
        ),
    ),
    Table(
        "marts.rankings",
        "job and ranked video, in the job's own order",
        ("job_id", "rank"),
        (
            _must("job_id", TEXT, "job"),
            _must("rank", WHOLE, "place, from 1"),
            _must("aweme_id", TEXT, "video"),
            _must("music_id", TEXT, "track"),
            _must("link_type", TEXT, "how it is linked to the track"),
            _may("digg_count", WHOLE, "likes"),
            _may("comment_count", WHOLE, "comments"),
            _may("collect_count", WHOLE, "bookmarks"),
            _may("share_count", WHOLE, "shares"),
            _may("hot_score", WHOLE, "likes + 4 comments + 3 collects + 8 shares"),
            _must("statistics_complete", FLAG, "all four counts read exactly"),
            _may("create_time", WHOLE, "publication, unix seconds"),
            _COMMITTED,
        ),
    ),
    Table(
        "marts.job_results",
        "job: its result as one compressed immutable document",
        ("job_id",),
        (
            _must("job_id", TEXT, "job"),
            _must("music_id", TEXT, "track"),
            _must("document", BYTES, "the result, zstd-compressed JSON"),
            _must("confirmed_count", WHOLE, "confirmed videos in it"),
            _ALGORITHM,
            _COMMITTED,
        ),
    ),
)
BY_NAME: dict[str, Table] = {table.name: table for table in TABLES}
