-- One row per video and day (UTC) with an observation of it.
-- Counts are of the last observation of the day that read all four exactly: those of lists are
-- trimmed or late. What was gained is against the day before with counts, however long ago.
with
counted as (
    -- `newest` orders by time of observation, then of writing; as one number it sorts fast
    select
        *,
        observed_at::date as day,
        (epoch_us(observed_at)::hugeint << 60)
            + (epoch_us(committed_at)::hugeint << 8)
            + (hash(surface) % 256)::hugeint as newest
    from seen.videos
),
observed as (
    select
        aweme_id,
        day,
        arg_max(digg_count, newest) filter (statistics_complete) as digg_count,
        arg_max(comment_count, newest) filter (statistics_complete) as comment_count,
        arg_max(collect_count, newest) filter (statistics_complete) as collect_count,
        arg_max(share_count, newest) filter (statistics_complete) as share_count,
        count(*) as observation_count,
        max(observed_at) as last_observed_at
    from counted
    group by aweme_id, day
),
compared as (
    select
        *,
        lag(digg_count ignore nulls) over earlier as previous_digg_count,
        lag(comment_count ignore nulls) over earlier as previous_comment_count,
        lag(collect_count ignore nulls) over earlier as previous_collect_count,
        lag(share_count ignore nulls) over earlier as previous_share_count,
        lag(if(digg_count is null, null, day) ignore nulls) over earlier as previous_day
    from observed
    window earlier as (partition by aweme_id order by day)
)
select
    aweme_id,
    day,
    digg_count,
    comment_count,
    collect_count,
    share_count,
    digg_count - previous_digg_count as likes_gained,
    comment_count - previous_comment_count as comments_gained,
    collect_count - previous_collect_count as collects_gained,
    share_count - previous_share_count as shares_gained,
    previous_digg_count,
    observation_count,
    if(digg_count is null, null, previous_day) as previous_date,
    last_observed_at
from compared
