-- title: How videos were confirmed
-- title_zh: 作品的确认方式
-- description: Confirmed videos of each track by kind of evidence.
-- description_zh: 每首音乐的已确认作品，按匹配依据统计。
select music_id, link_type, count(distinct aweme_id) as videos
from marts.confirmed_videos
group by music_id, link_type
order by music_id, videos desc, link_type
