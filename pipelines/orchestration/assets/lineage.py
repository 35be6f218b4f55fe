"""The sources of mart columns, by name. Data only; a test checks it against the data contract.

A computed column (a verdict, a distance, a rank) has no entry.
"""

from collections.abc import Mapping

from warehouse.records.videos import COUNTS

_SCREENS = (
    "marts.music_first_screen",
    "marts.author_first_screens",
    "marts.hashtag_first_screens",
)


def _same(table: str, *columns: str) -> dict[str, tuple[str, ...]]:
    return {column: (f"{table}.{column}",) for column in columns}


COLUMNS_FROM: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "marts.candidate_pool": {
        "source_surface": tuple(f"{table}.surface" for table in _SCREENS),
        **{
            column: tuple(f"{table}.{column}" for table in _SCREENS)
            for column in ("aweme_id", "source_entity_id", "music_id")
        },
    },
    "marts.video_details": _same("marts.candidate_pool", "aweme_id"),
    "marts.candidates": {
        **_same("marts.candidate_pool", "aweme_id", "source_surface", "source_entity_id"),
        "music_id": ("marts.video_details.music_id",),
    },
    "marts.account_profiles": _same("marts.confirmed_videos", "sec_uid"),
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
    "marts.coverage_estimates": {"observed_count": ("marts.confirmed_videos.aweme_id",)},
    "marts.random_audits": {
        "compared_count": ("marts.audio_comparisons.candidate_aweme_id",),
        "carrying_count": ("marts.audio_comparisons.verdict",),
    },
    "marts.rankings": {
        **_same("marts.confirmed_videos", "aweme_id", "music_id", "link_type"),
        **_same("raw.videos", *COUNTS, "statistics_complete", "create_time"),
        "hot_score": tuple(f"raw.videos.{column}" for column in COUNTS),
    },
    "marts.account_summaries": {
        **_same("marts.confirmed_videos", "music_id", "sec_uid"),
        **_same("raw.accounts", "nickname", "unique_id", "follower_count", "total_favorited"),
        **_same("raw.accounts", "aweme_count"),
        "linked_video_count": ("marts.confirmed_videos.aweme_id",),
        **{f"linked_{column}": (f"raw.videos.{column}",) for column in COUNTS},
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
    "marts.chart_platform": {
        "song_key": (
            "raw.chart_songs.song_hash",
            "raw.chart_songs.title",
            "raw.chart_songs.artist",
        ),
        **_same("raw.chart_songs", "title", "artist"),
        "music_id": (
            "raw.tracks.music_id",
            "raw.videos.music_id",
            "marts.confirmed_videos.source_music_id",
            "marts.variants.source_music_id",
            "marts.chart_links.music_id",
        ),
        "relation": ("marts.chart_links.said",),
        "music_title": ("raw.tracks.title", "raw.videos.music_title"),
        "music_author": ("raw.tracks.author", "raw.videos.music_author"),
        "best_rank": ("raw.chart_songs.rank",),
        "first_chart_date": ("raw.chart_songs.chart_date", "raw.chart_issues.chart_date"),
        "last_chart_date": ("raw.chart_songs.chart_date", "raw.chart_issues.chart_date"),
        "entry_after_date": ("raw.chart_songs.chart_date", "raw.chart_issues.chart_date"),
        "work_count": ("marts.confirmed_videos.aweme_id",),
        "digg_count": ("raw.videos.digg_count",),
        "first_observed_at": ("raw.videos.observed_at",),
        "last_observed_at": ("raw.videos.observed_at",),
        "rise_after": ("raw.videos.digg_count", "raw.videos.create_time"),
        "rise_before": ("raw.videos.digg_count",),
    },
    "raw.capture_items": _same("raw.captures", "capture_id", "surface", "entity_id", "sequence"),
    "raw.captures": {"payload_sha256": ("raw.payloads.sha256",)},
    **{
        table: _same("raw.captures", "capture_id", "surface", "observed_at")
        for table in ("raw.videos", "raw.accounts", "raw.hashtags")
    },
}
"""Sources by table and column: `layer.table.column`."""
