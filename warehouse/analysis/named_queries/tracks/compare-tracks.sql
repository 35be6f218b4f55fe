-- title: Tracks side by side
-- title_zh: 多首音乐对比
-- description: Usage, engagement and coverage of scanned tracks, all their scans together.
-- description_zh: 已扫描音乐的使用量、互动与覆盖范围，汇总全部扫描。
-- parameter: music_ids text: music ids, comma-separated; empty: all scanned / 音乐 ID，用逗号分隔，留空表示全部
with chosen as (
    select * from marts.tracks
    where coalesce(trim($music_ids), '') = ''
        or list_contains(string_split(replace($music_ids, ' ', ''), ','), track_music_id)
),
used as (
    select
        track_music_id,
        count(*) as videos,
        count(distinct track_videos.sec_uid) as accounts,
        count(distinct source_music_id) as music_ids,
        median(digg_count) as median_likes,
        sum(digg_count)::bigint as likes,
        sum(hot_score(digg_count, comment_count, collect_count, share_count))::bigint as hot_score,
        count(*) - count(digg_count + comment_count + collect_count + share_count)
            as videos_without_all_counts,
        min(videos.created_at) as first_published_at
    from marts.track_videos left join marts.videos using (aweme_id)
    group by track_music_id
),
variants as (
    select music_id as track_music_id, count(distinct aweme_id) as variants
    from marts.variants group by music_id
),
estimates as (
    select job_id as newest_job_id, estimated_count, lower_count, upper_count
    from marts.coverage_estimates where unit = 'music_id'
)
select
    track_music_id as music_id, title, artist,
    coalesce(videos, 0) as videos, coalesce(accounts, 0) as accounts,
    coalesce(used.music_ids, 0) as music_ids,
    median_likes, likes, hot_score, coalesce(videos_without_all_counts, 0) as videos_without_all_counts,
    coalesce(variants, 0) as variants,
    estimated_count as estimated_music_ids, lower_count as lower_music_ids, upper_count as upper_music_ids,
    first_published_at, result_count as scans, last_result_at, newest_job_id
from chosen
left join used using (track_music_id)
left join variants using (track_music_id)
left join estimates using (newest_job_id)
order by last_result_at desc nulls last, music_id
