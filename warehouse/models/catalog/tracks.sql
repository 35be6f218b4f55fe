-- One row per track: what all its scans found, its newest estimates, what changed.

, found as (
    select
        track_key,
        count(*) filter (relation = 'confirmed') as confirmed_video_count,
        count(*) filter (relation = 'variant') as variant_video_count,
        count(distinct videos.sec_uid) filter (relation = 'confirmed') as account_count,
        sum(digg_count) filter (relation = 'confirmed')::bigint as digg_count,
        sum(comment_count) filter (relation = 'confirmed')::bigint as comment_count,
        sum(collect_count) filter (relation = 'confirmed')::bigint as collect_count,
        sum(share_count) filter (relation = 'confirmed')::bigint as share_count,
        count(*) filter (first_confirmed_at > previous_at) as new_video_count
    from asked
    join carrying using (track_music_id)
    left join before using (track_key)
    left join marts.videos as videos on videos.aweme_id = carrying.aweme_id
    group by track_key
),
linked as (
    select track_music_id, source_music_id, min(first_confirmed_at) as first_confirmed_at
    from carrying
    where relation = 'confirmed'
    group by all
),
music_ids as (
    select
        track_key,
        count(*) as music_id_count,
        count(*) filter (first_confirmed_at > previous_at) as new_music_id_count
    from asked
    join linked using (track_music_id)
    left join before using (track_key)
    group by track_key
),
of_job as (
    select job_id, aweme_id from marts.confirmed_videos
    where job_id in (select result_job_id from asked union select previous_job_id from asked)
),
missing as (
    -- known only of two scans, which have coverage: a result copied from an equal job has no rows
    select track_key, count(earlier.aweme_id) filter (newest.aweme_id is null)
        as missing_video_count
    from asked
    left join of_job as earlier on earlier.job_id = previous_job_id
    left join of_job as newest
        on newest.job_id = result_job_id and newest.aweme_id = earlier.aweme_id
    where result_job_id in (select job_id from marts.coverage)
        and previous_job_id in (select job_id from marts.coverage)
    group by track_key
),
jobs as (
    from {jobs_of_tracks}
    where track_music_id in (select track_music_id from asked)
),
estimates as (
    select track_music_id, unit, arg_max(row, committed_at) as estimate
    from marts.coverage_estimates as row
    join jobs using (job_id)
    group by all
),
audits as (
    select track_music_id, arg_max(row, committed_at) as audit
    from marts.random_audits as row
    join jobs using (job_id)
    group by all
)
select
    track_key,
    tracks.title,
    tracks.artist,
    coalesce(music_id_count, 0) as music_id_count,
    coalesce(found.confirmed_video_count, 0) as confirmed_video_count,
    coalesce(found.variant_video_count, 0) as variant_video_count,
    coalesce(found.account_count, 0) as account_count,
    found.digg_count,
    found.comment_count,
    found.collect_count,
    found.share_count,
    previous_at,
    case when previous_at is not null then coalesce(new_music_id_count, 0) end
        as new_music_id_count,
    case when previous_at is not null then coalesce(new_video_count, 0) end as new_video_count,
    missing_video_count,
    music.estimate.method as music_id_method,
    music.estimate.estimated_count as music_id_estimate,
    music.estimate.lower_count as music_id_lower,
    music.estimate.upper_count as music_id_upper,
    music.estimate.not_estimated_reason as music_id_not_estimated_reason,
    video.estimate.method as video_method,
    video.estimate.estimated_count as video_estimate,
    video.estimate.lower_count as video_lower,
    video.estimate.upper_count as video_upper,
    video.estimate.not_estimated_reason as video_not_estimated_reason,
    audit.upper_share as left_out_upper_share
from asked
left join before using (track_key)
left join marts.music_ids as tracks on tracks.music_id = asked.track_music_id
left join found using (track_key)
left join music_ids using (track_key)
left join missing using (track_key)
left join estimates as music
    on music.track_music_id = asked.track_music_id and music.unit = 'music_id'
left join estimates as video
    on video.track_music_id = asked.track_music_id and video.unit = 'video'
left join audits on audits.track_music_id = asked.track_music_id
order by place
