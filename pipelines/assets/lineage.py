"""Where the columns of the marts come from, by names. Data alone; a test holds it to the contract.

A column that is made here (a verdict, a distance, a place) has no entry.
"""

from collections.abc import Mapping

_SCREENS = ("raw/music_first_screen", "raw/author_first_screens", "raw/hashtag_first_screens")
_COUNTS = ("digg_count", "comment_count", "collect_count", "share_count")


def _same(table: str, *columns: str) -> dict[str, tuple[str, ...]]:
    return {column: (f"{table}.{column}",) for column in columns}


COLUMNS_FROM: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "marts.candidates": {
        "aweme_id": tuple(f"{step}.aweme_id" for step in _SCREENS),
        "source_surface": tuple(f"{step}.surface" for step in _SCREENS),
        "source_entity_id": tuple(f"{step}.entity_id" for step in _SCREENS),
        "music_id": ("raw/music_first_screen.aweme_id",),
    },
    "marts.audio_comparisons": {
        "track_music_id": ("raw.tracks.music_id",),
        "reference_aweme_id": ("raw.sounds.aweme_id",),
        "candidate_aweme_id": ("raw.sounds.aweme_id",),
        "reference_music_id": ("raw.videos.music_id",),
        "candidate_music_id": ("raw.videos.music_id",),
        "reference_sha256": ("raw.sounds.sound_sha256",),
        "candidate_sha256": ("raw.sounds.sound_sha256",),
        "chroma_distance": ("raw.sounds.features",),
        "mfcc_distance": ("raw.sounds.features",),
        "overlap_s": ("raw.sounds.features",),
        "peak_agreement": ("raw.sounds.features",),
        **_same("raw.sounds", "feature_version", "library_version"),
    },
    "marts.annotations": _same("marts.audio_comparisons", "comparison_id"),
    "marts.confirmed_videos": {
        "music_id": ("raw.tracks.music_id",),
        "aweme_id": ("raw.videos.aweme_id",),
        "source_music_id": ("raw.videos.music_id",),
        "source_music_title": ("raw.videos.music_title",),
        "sec_uid": ("raw.videos.sec_uid",),
        **_same("marts.audio_comparisons", "comparison_id", "reference_aweme_id"),
    },
    "marts.variants": {
        "music_id": ("raw.tracks.music_id",),
        "aweme_id": ("raw.videos.aweme_id",),
        "source_music_id": ("raw.videos.music_id",),
        "sec_uid": ("raw.videos.sec_uid",),
        **_same("marts.audio_comparisons", "comparison_id", "speed", "semitones"),
    },
    "marts.expansion_rounds": {
        "music_ids": ("raw.videos.music_id",),
        "new_confirmed_count": ("marts.confirmed_videos.aweme_id",),
    },
    "marts.rankings": {
        **_same("marts.confirmed_videos", "aweme_id", "music_id", "link_type"),
        **_same("raw.videos", *_COUNTS, "statistics_complete", "create_time"),
        "hot_score": tuple(f"raw.videos.{column}" for column in _COUNTS),
    },
    "marts.account_summaries": {
        **_same("marts.confirmed_videos", "music_id", "sec_uid"),
        **_same("raw.accounts", "nickname", "unique_id", "follower_count", "total_favorited"),
        **_same("raw.accounts", "aweme_count"),
        "linked_video_count": ("marts.confirmed_videos.aweme_id",),
        **{f"linked_{column}": (f"raw.videos.{column}",) for column in _COUNTS},
        "top_aweme_id": ("raw.videos.aweme_id", "raw.videos.digg_count"),
    },
    "marts.discovered_videos": {
        "track_music_id": ("raw.tracks.music_id",),
        **_same("raw.videos", "aweme_id", "music_id"),
        **_same("marts.audio_comparisons", "comparison_id"),
    },
    "marts.search_related": {
        "aweme_id": ("raw.capture_items.aweme_id",),
        "music_id": ("raw.videos.music_id",),
        "search_terms": ("raw.search_pages.term",),
    },
    "marts.job_results": {
        "music_id": ("marts.rankings.music_id",),
        "document": ("marts.rankings.aweme_id", "marts.rankings.hot_score"),
        "confirmed_count": ("marts.confirmed_videos.aweme_id",),
    },
    "raw.capture_items": _same("raw.captures", "capture_id", "surface", "entity_id", "sequence"),
    "raw.captures": {"payload_sha256": ("raw.payloads.sha256",)},
    **{
        table: _same("raw.captures", "capture_id", "surface", "observed_at")
        for table in ("raw.videos", "raw.accounts", "raw.hashtags")
    },
}
"""Table, column, and the columns it comes from: `layer.table.column`, or `layer/step.column`."""
