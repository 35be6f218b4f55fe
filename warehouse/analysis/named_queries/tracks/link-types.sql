-- title: How videos were confirmed
-- title_zh: 作品的确认方式
-- description: Confirmed videos of each track by the kind of evidence of the newest scan that confirmed them.
-- description_zh: 每首音乐的已确认作品，按最近一次确认时的匹配依据统计。
with newest as (
    select music_id, aweme_id, arg_max(link_type, (committed_at, job_id)) as link_type
    from marts.confirmed_videos
    group by music_id, aweme_id
)
select music_id, link_type, count(*) as videos
from newest
group by music_id, link_type
order by music_id, videos desc, link_type
