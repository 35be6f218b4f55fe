"""Which jobs were about which track: also those whose result retention has deleted."""

JOBS_OF_TRACKS = """(
    select music_id as track_music_id, job_id from marts.job_results
    union
    select music_id, job_id from marts.rankings
    union
    select music_id, job_id from marts.confirmed_videos
    union
    select track_music_id, job_id from marts.audio_comparisons
)"""
"""SQL of `track_music_id, job_id`. What a job found outlasts its result."""
