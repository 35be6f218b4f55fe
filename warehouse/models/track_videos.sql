-- One row per track and video that a scan confirmed to carry the recording.
-- How it was confirmed is of the newest scan that confirmed it.
with
confirmed as (
    select
        music_id as track_music_id,
        aweme_id,
        arg_max(row, (committed_at, job_id)) as newest,
        arg_max(sec_uid, (committed_at, job_id)) as sec_uid,
        list(job_id) as job_ids,
        count(*) as confirmation_count,
        min(committed_at) as first_confirmed_at,
        max(committed_at) as last_confirmed_at
    from marts.confirmed_videos as row
    group by music_id, aweme_id
),
results as (
    -- only a scan has coverage: a copied result and a discovery are no newer state of the track
    select music_id as track_music_id, arg_max(job_id, (committed_at, job_id)) as newest_job_id
    from marts.job_results
    where job_id in (select job_id from marts.coverage)
    group by music_id
)
select
    track_music_id,
    aweme_id,
    sec_uid,
    newest.source_music_id as source_music_id,
    newest.job_id as job_id,
    newest.comparison_id as comparison_id,
    newest.link_type as link_type,
    coalesce(list_contains(job_ids, newest_job_id), false) as is_in_newest_result,
    confirmation_count,
    first_confirmed_at,
    last_confirmed_at
from confirmed
left join results using (track_music_id)
