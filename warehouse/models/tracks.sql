-- One row per track that a scan was about.
with
concluded as (
    select music_id as track_music_id from marts.job_results
    where music_id not like 'keyword:%'
    union
    select music_id from marts.confirmed_videos
    union
    select music_id from marts.variants
    union
    select music_id from marts.rankings
    union
    select music_id from marts.account_summaries
    union
    select track_music_id from marts.discovered_videos
    union
    select track_music_id from marts.audio_comparisons
),
results as (
    -- only a scan has coverage: a copied result and a discovery are no newer state of the track
    select
        music_id as track_music_id,
        arg_max(job_id, (committed_at, job_id)) as newest_job_id,
        count(*) as result_count,
        arg_max(confirmed_count, (committed_at, job_id)) as confirmed_video_count,
        min(committed_at) as first_result_at,
        max(committed_at) as last_result_at
    from marts.job_results
    where job_id in (select job_id from marts.coverage)
    group by music_id
),
confirmed as (
    select
        music_id as track_music_id,
        count(distinct aweme_id) as ever_confirmed_video_count,
        count(distinct source_music_id) as music_id_count,
        count(distinct sec_uid) as account_count
    from marts.confirmed_videos
    group by music_id
),
counted as (
    select music_id as track_music_id, arg_max(row, day) as newest
    from marts.music_id_days as row
    group by music_id
),
named as (
    select
        music_id as track_music_id,
        arg_max(title, (observed_at, committed_at, surface)) as title,
        arg_max(author, (observed_at, committed_at, surface)) as artist
    from seen.tracks
    group by music_id
)
select
    track_music_id,
    newest_job_id,
    title,
    artist,
    newest.use_count as use_count,
    newest.use_count_exact as use_count_exact,
    newest.use_count_step as use_count_step,
    newest.use_count_observed_at as use_count_observed_at,
    coalesce(result_count, 0) as result_count,
    confirmed_video_count,
    coalesce(ever_confirmed_video_count, 0) as ever_confirmed_video_count,
    coalesce(music_id_count, 0) as music_id_count,
    coalesce(account_count, 0) as account_count,
    first_result_at,
    last_result_at
from concluded
left join results using (track_music_id)
left join confirmed using (track_music_id)
left join named using (track_music_id)
left join counted using (track_music_id)
