"""Treatment of columns in pseudonymised exports.

A column without a decision is left out, so that a new column leaks nothing. The keyed hash itself
is in `warehouse.exports.pseudonyms`.
"""

from typing import Literal

from warehouse.tables.column import BYTES, TEXT, TEXT_LIST, Column

Treatment = Literal["kept", "account", "work", "entity", "out"]
"""`account` and `work` (a video): a keyed hash replaces the id, the same in every table.

`entity`: a hash if the row's surface is about an account, a video or a search; else kept. `out`:
left out.
"""

_ACCOUNTS = frozenset({"sec_uid"})
_VIDEOS = frozenset(
    {
        "aweme_id",
        "candidate_aweme_id",
        "first_aweme_id",
        "reference_aweme_id",
        "source_aweme_id",
        "top_aweme_id",
    }
)
_ENTITIES = frozenset({"entity_id", "source_entity_id"})
_KEPT = frozenset({
    "album_audio_id", "album_id", "algorithm", "annotation_id", "asked_by", "association_type",
    "assumption", "not_audited_reason", "not_estimated_reason", "unit",
    "candidate_music_id", "capture_id", "ch_id", "codec", "comparison_id", "confidence",
    "content_type", "data_provider", "direction", "erasure_id", "error_type", "feature_version",
    "copy_evidence", "copy_of_music_id", "created_at_check", "evidence", "source_basis",
    "created_at_source", "follower_count_source", "music_service_track_id", "reference_source",
    "searched", "service_track_id",
    "hashtag_ids", "job_id", "kind", "lead_reason", "library_version", "limits", "link_id",
    "link_type", "media_type", "method", "music_id", "music_ids", "newest_job_id",
    "not_comparable_reason",
    "observation", "origin", "outcome", "parameters", "parser_version", "probe_id", "question",
    "reference_music_id", "relation", "report_id", "result_list", "said", "scan_job_id",
    "search_relevance_level", "segment", "song_hash", "song_key",
    "revision", "source_music_id", "source_surface", "stage", "stop_reason", "surface",
    "title_relation", "track_music_id", "verdict", "via_music_id", "volid",
})  # fmt: skip
LEFT_OUT = frozenset({
    "artist", "author", "avatar_url", "backtrace", "came", "candidate_sha256", "cover_url", "desc",
    "detail_msg",
    "hashtag_names", "ip_location", "key_paths", "mapped_artist", "mapped_title", "marks",
    "music_author", "music_mapped_artist", "music_mapped_title", "music_title", "name",
    "next_backtrace", "next_search_id", "nickname", "nil_type", "note", "notice", "owner_nickname",
    "payload_sha256", "reason", "reference_sha256", "said_by", "salt", "search_id", "search_terms",
    "sha256", "share_url", "short_id", "signature", "sound_sha256", "source_music_title",
    "source_path", "term", "title", "uid", "unique_id", "went",
})  # fmt: skip
"""Names, texts, links, and hashes that anyone with the same sound or body could compute."""


def treatment_of(column: Column) -> Treatment:
    """Return the treatment of a column. Numbers, times and booleans are kept."""
    if column.name in _ACCOUNTS:
        return "account"
    if column.name in _VIDEOS:
        return "work"
    if column.name in _ENTITIES:
        return "entity"
    # A text without a decision may name somebody, so it is left out.
    is_plain = column.type not in (TEXT, TEXT_LIST, BYTES)
    return "kept" if is_plain or column.name in _KEPT else "out"
