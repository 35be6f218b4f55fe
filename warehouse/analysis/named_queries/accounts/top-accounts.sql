-- title: Accounts by likes of their confirmed videos
-- description: From the newest scan of each track, or of one track.
-- parameter: music_id text: only this track
-- parameter: top integer = 20: number of accounts
with newest as (
    select job_id from marts.job_results
    qualify row_number() over (partition by music_id order by committed_at desc, job_id) = 1
)
select music_id, nickname, sec_uid, follower_count, linked_video_count, linked_digg_count
from marts.account_summaries join newest using (job_id)
where $music_id is null or music_id = $music_id
order by linked_digg_count desc nulls last, music_id, sec_uid
limit $top
