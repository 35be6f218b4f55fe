-- title: Confirmed videos by day of publication
-- title_zh: 按发布日期排列的已确认作品
-- description: Videos that rankings contain and that were published on or after a day.
-- description_zh: 排行中在指定日期当天或之后发布的作品。
-- parameter: since date = 2025-01-01: first day, in UTC / 起始日期（UTC）
select distinct music_id, aweme_id, to_timestamp(create_time) as published_at, link_type
from marts.rankings
where to_timestamp(create_time) >= $since::date
order by published_at desc, aweme_id, link_type
