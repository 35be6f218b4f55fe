-- title: Confirmed videos by day of publication
-- title_zh: 按发布日期排列的已确认作品
-- description: Videos that rankings contain and that were published on or after a day, with their newest link.
-- description_zh: 排行中在指定日期当天或之后发布的作品，附其最新的关联方式。
-- parameter: since date = 2025-01-01: first day, in UTC / 起始日期（UTC）
select music_id, aweme_id, to_timestamp(max(create_time)) as published_at,
    arg_max(link_type, (committed_at, job_id)) as link_type
from marts.rankings
where to_timestamp(create_time) >= $since::date
group by music_id, aweme_id
order by published_at desc, aweme_id, music_id
