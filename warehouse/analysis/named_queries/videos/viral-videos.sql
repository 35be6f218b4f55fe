-- title: Confirmed videos above a number of likes
-- description: Each confirmed video once, with the highest number of likes in a ranking.
-- parameter: least integer = 10000: likes from which a video counts
select music_id, aweme_id, max(digg_count) as likes, min(rank) as best_rank
from marts.rankings
group by music_id, aweme_id
having max(digg_count) >= $least
order by likes desc, aweme_id
