-- One row per track and day (UTC) on which a confirmed video of it was observed.
-- Likes are compared over the same videos only, so that finding more videos is no growth.
with
observed as (
    select track_videos.track_music_id, video_days.*
    from marts.track_videos as track_videos
    join marts.video_days as video_days using (aweme_id)
)
select
    track_music_id,
    day,
    count(*) as observed_video_count,
    count(likes_gained) as compared_video_count,
    (sum(digg_count) filter (likes_gained is not null))::bigint as compared_digg_count,
    (sum(previous_digg_count) filter (likes_gained is not null))::bigint as previous_digg_count,
    sum(likes_gained)::bigint as likes_gained,
    sum(comments_gained)::bigint as comments_gained,
    sum(collects_gained)::bigint as collects_gained,
    sum(shares_gained)::bigint as shares_gained,
    max(last_observed_at) as last_observed_at
from observed
group by track_music_id, day
