-- title: Accounts by likes of their confirmed videos
-- title_zh: 按已确认作品的点赞数排列的账号
-- description: From the newest scan of each track, or of one track.
-- description_zh: 取每首音乐（或指定音乐）的最新一次扫描。
-- parameter: music_id text: only this track / 仅此音乐
-- parameter: top integer = 20: number of accounts / 账号数
with newest as (
    select job_id from marts.job_results
    where job_id in (select job_id from marts.coverage)
    qualify row_number() over (partition by music_id order by committed_at desc, job_id) = 1
)
select music_id, nickname, sec_uid, follower_count, linked_video_count, linked_digg_count
from marts.account_summaries join newest using (job_id)
where $music_id is null or music_id = $music_id
order by linked_digg_count desc nulls last, music_id, sec_uid
limit $top
