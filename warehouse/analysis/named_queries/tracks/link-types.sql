-- title: How videos were confirmed
-- description: Confirmed videos of each track by kind of evidence.
select music_id, link_type, count(distinct aweme_id) as videos
from marts.confirmed_videos
group by music_id, link_type
order by music_id, videos desc, link_type
