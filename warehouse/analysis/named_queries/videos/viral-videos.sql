-- title: Confirmed videos above a number of likes
-- title_zh: 点赞数超过指定值的已确认作品
-- description: Each confirmed video once, with the highest number of likes in a ranking.
-- description_zh: 每个已确认作品一行，取其在各排行中的最高点赞数。
-- parameter: least integer = 10000: likes from which a video counts / 最低点赞数
select music_id, aweme_id, max(digg_count) as likes, min(rank) as best_rank
from marts.rankings
group by music_id, aweme_id
having max(digg_count) >= $least
order by likes desc, aweme_id
