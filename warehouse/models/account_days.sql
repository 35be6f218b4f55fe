-- One row per account and day (UTC) on which its profile was observed.
-- Counts are the last of the day. What was gained is against the day before with that count; of
-- followers, with a count of the same field: another field counts other people.
with
observed as (
    select
        sec_uid,
        observed_at::date as day,
        arg_max(follower_count, (observed_at, committed_at, surface)) as follower_count,
        arg_max(coalesce(follower_count_source, ''), (observed_at, committed_at, surface))
            filter (follower_count is not null) as follower_count_source,
        arg_max(aweme_count, (observed_at, committed_at, surface)) as aweme_count,
        arg_max(total_favorited, (observed_at, committed_at, surface)) as likes_received_count,
        count(*) as observation_count,
        max(observed_at) as last_observed_at
    from seen.accounts
    group by sec_uid, day
),
compared as (
    select
        *,
        lag(follower_count ignore nulls) over (
            partition by sec_uid, follower_count_source order by day
        ) as previous_follower_count,
        lag(aweme_count ignore nulls) over earlier as previous_aweme_count,
        lag(likes_received_count ignore nulls) over earlier as previous_likes_received_count
    from observed
    window earlier as (partition by sec_uid order by day)
)
select
    sec_uid,
    day,
    follower_count,
    aweme_count,
    likes_received_count,
    follower_count - previous_follower_count as followers_gained,
    aweme_count - previous_aweme_count as videos_gained,
    likes_received_count - previous_likes_received_count as likes_gained,
    observation_count,
    last_observed_at
from compared
