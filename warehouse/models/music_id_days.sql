-- One row per music id and day (UTC) on which the platform's count of its videos was observed.
-- The count is the last of the day. A day without an observation has no row: nothing is filled in.
with
observed as (
    select
        music_id, use_count, use_count_exact, use_count_step, observed_at, committed_at, surface
    from seen.tracks
    where use_count is not null
    union all
    select
        music_id, music_use_count, music_use_count_exact, music_use_count_step, observed_at,
        committed_at, surface
    from seen.videos
    where music_use_count is not null
),
days as (
    select
        music_id,
        observed_at::date as day,
        arg_max(row, (observed_at, committed_at, surface, use_count)) as newest,
        count(*) as observation_count
    from observed as row
    group by music_id, day
)
select
    music_id,
    day,
    newest.use_count as use_count,
    newest.use_count_exact as use_count_exact,
    newest.use_count_step as use_count_step,
    newest.use_count - lag(newest.use_count) over earlier as uses_gained,
    lag(newest.use_count) over earlier as previous_use_count,
    lag(day) over earlier as previous_date,
    observation_count,
    newest.observed_at as use_count_observed_at
from days
window earlier as (partition by music_id order by day)
