-- The tracks that are asked for, and the videos that carry them; the other files go on with it.

with
asked as (
    select
        unnest($keys::varchar[]) as track_key,
        unnest($labels::varchar[]) as label,
        unnest($music_ids::varchar[]) as track_music_id,
        unnest($results::varchar[]) as result_job_id,
        unnest($previous::varchar[]) as previous_job_id,
        unnest(range(len($keys::varchar[]))) as place
),
before as (
    -- the coverage of a scan is kept for good, its result is not; a copied result has no coverage
    select track_key, coalesce(max(coverage.committed_at), min(results.committed_at)) as previous_at
    from asked
    left join marts.coverage as coverage on coverage.job_id = previous_job_id
    left join marts.job_results as results on results.job_id = previous_job_id
    group by track_key
),
variants as (
    select
        track_music_id,
        candidate_aweme_id as aweme_id,
        arg_max(comparison, (committed_at, score, comparison_id)) as best
    from marts.audio_comparisons as comparison
    where verdict = 'variant' and track_music_id in (select track_music_id from asked)
    group by all
),
carrying as (
    select
        track_music_id, aweme_id, 'confirmed' as relation, link_type, source_music_id,
        comparison_id, job_id, first_confirmed_at, is_in_newest_result
    from marts.track_videos
    where track_music_id in (select track_music_id from asked)
    union all by name
    select
        track_music_id, aweme_id, 'variant' as relation, best.candidate_music_id as source_music_id,
        best.comparison_id as comparison_id, best.job_id as job_id
    from variants
    anti join marts.track_videos using (track_music_id, aweme_id)
)
