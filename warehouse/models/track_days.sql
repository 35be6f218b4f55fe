-- One row per track and day (UTC) on which a confirmed video of it was observed.
-- Likes are compared over the same videos only, so that finding more videos is no growth. The
-- platform's counts of all music ids are added up only if each of them was observed on the day.
with
observed as (
    select track_videos.track_music_id, video_days.*
    from marts.track_videos as track_videos
    join marts.video_days as video_days using (aweme_id)
),
carrying as (
    select track_music_id, track_music_id as music_id from marts.track_videos
    union
    select track_music_id, source_music_id from marts.track_videos
),
uses as (
    select
        track_music_id,
        day,
        sum(use_count)::bigint as counted_use_count,
        bool_and(use_count_exact) as is_exact,
        count(*) as counted_music_id_count
    from carrying
    join marts.music_id_days as music_id_days using (music_id)
    group by track_music_id, day
),
carriers as (
    select track_music_id, count(*) as confirmed_music_id_count
    from carrying
    group by track_music_id
),
days as (
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
)
select
    days.track_music_id,
    days.day,
    observed_video_count,
    compared_video_count,
    compared_digg_count,
    previous_digg_count,
    likes_gained,
    comments_gained,
    collects_gained,
    shares_gained,
    own.use_count as use_count,
    own.use_count_exact as use_count_exact,
    own.use_count_step as use_count_step,
    own.use_count_observed_at as use_count_observed_at,
    case when counted_music_id_count = confirmed_music_id_count then counted_use_count end
        as confirmed_use_count,
    case when counted_music_id_count = confirmed_music_id_count then uses.is_exact end
        as confirmed_use_count_exact,
    coalesce(counted_music_id_count, 0) as counted_music_id_count,
    confirmed_music_id_count,
    last_observed_at
from days
join carriers using (track_music_id)
left join uses on uses.track_music_id = days.track_music_id and uses.day = days.day
left join marts.music_id_days as own
    on own.music_id = days.track_music_id and own.day = days.day
