-- title: Confirmed videos by week of publication
-- title_zh: 按发布周统计已确认作品
-- description: For each track and week, the videos published in it and until then.
-- description_zh: 每首音乐每周发布的作品数，以及截至当周的累计数。
-- parameter: music_ids text: music ids, comma-separated; empty: all scanned / 音乐 ID，用逗号分隔，留空表示全部
with weeks as (
    select track_music_id as music_id, date_trunc('week', created_at)::date as week, count(*) as videos
    from marts.track_videos join marts.videos using (aweme_id)
    where created_at is not null
        and (
            coalesce(trim($music_ids), '') = ''
            or list_contains(string_split(replace($music_ids, ' ', ''), ','), track_music_id)
        )
    group by all
)
select
    music_id, week, videos,
    sum(videos) over (partition by music_id order by week)::bigint as until_then
from weeks
order by music_id, week
