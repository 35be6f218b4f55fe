-- One row per account that was read or that published an observed video.
-- Each value is the newest known one, of its profile before that of its videos.
with
profiles as (
    select
        sec_uid,
        arg_max(nickname, (observed_at, committed_at, surface)) as nickname,
        arg_max(unique_id, (observed_at, committed_at, surface)) as unique_id,
        arg_max(follower_count, (observed_at, committed_at, surface)) as follower_count,
        arg_max(following_count, (observed_at, committed_at, surface)) as following_count,
        arg_max(aweme_count, (observed_at, committed_at, surface)) as aweme_count,
        arg_max(total_favorited, (observed_at, committed_at, surface)) as likes_received_count,
        count(*) as profile_observation_count,
        min(observed_at) as first_observed_at,
        max(observed_at) as last_observed_at
    from seen.accounts
    group by sec_uid
),
named as (
    -- a page lists many videos of an account: of equally new ones, any but always the same
    select
        *,
        (epoch_us(observed_at)::hugeint << 60)
            + (hash(concat_ws(' ', aweme_id, surface, committed_at)) >> 8)::hugeint as newest
    from seen.videos
    where sec_uid is not null
),
authors as (
    select
        sec_uid,
        arg_max(nickname, newest) as nickname,
        arg_max(unique_id, newest) as unique_id,
        count(distinct aweme_id) as observed_video_count,
        min(observed_at) as first_observed_at,
        max(observed_at) as last_observed_at
    from named
    group by sec_uid
),
ids as (
    select sec_uid from profiles
    union
    select sec_uid from authors
)
select
    sec_uid,
    coalesce(profiles.unique_id, authors.unique_id) as unique_id,
    coalesce(profiles.nickname, authors.nickname) as nickname,
    follower_count,
    following_count,
    aweme_count,
    likes_received_count,
    coalesce(observed_video_count, 0) as observed_video_count,
    coalesce(profile_observation_count, 0) as profile_observation_count,
    least(profiles.first_observed_at, authors.first_observed_at) as first_observed_at,
    greatest(profiles.last_observed_at, authors.last_observed_at) as last_observed_at
from ids
left join profiles using (sec_uid)
left join authors using (sec_uid)
