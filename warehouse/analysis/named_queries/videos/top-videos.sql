-- title: Most liked confirmed videos
-- title_zh: 点赞最多的已确认作品
-- description: The ranking of the newest scan of each track, or of one track.
-- description_zh: 每首音乐（或指定音乐）最新一次扫描的排行。
-- parameter: music_id text: only this track / 仅此音乐
-- parameter: top integer = 20: rows of each track / 每首音乐的行数
with newest as (
    select job_id from marts.job_results
    where job_id in (select job_id from marts.coverage)
    qualify row_number() over (partition by music_id order by committed_at desc, job_id) = 1
)
select music_id, rank, aweme_id, link_type, digg_count, comment_count, collect_count, share_count,
    hot_score
from marts.rankings join newest using (job_id)
where rank <= $top and ($music_id is null or music_id = $music_id)
order by music_id, rank
