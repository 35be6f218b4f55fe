-- title: Growth of videos
-- title_zh: 作品的增长
-- description: Likes between the first and the last exact observation of each video; unknown of one observation.
-- description_zh: 每个作品首次与最近一次精确观测之间的点赞数变化；仅观测一次时未知。
-- parameter: top integer = 20: number of videos / 作品数
select aweme_id,
    min(observed_at) as first_observed_at,
    max(observed_at) as last_observed_at,
    arg_max(digg_count, observed_at) as likes,
    case when min(observed_at) < max(observed_at)
        then arg_max(digg_count, observed_at) - arg_min(digg_count, observed_at)
    end as new_likes
from seen.videos
where statistics_complete
group by aweme_id
order by new_likes desc nulls last, aweme_id
limit $top
