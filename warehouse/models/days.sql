-- One row per day (UTC) from the first observation to the last, also without one.
-- A capture that was replayed is one capture.
with
bounds as (
    select min(first_at)::date as first_day, max(last_at)::date as last_day
    from (
        select min(observed_at) as first_at, max(observed_at) as last_at from raw.captures
        union all
        select min(observed_at), max(observed_at) from seen.videos
        union all
        select min(observed_at), max(observed_at) from seen.accounts
    ) as observed
),
calendar as (
    select unnest(generate_series(first_day, last_day, interval 1 day))::date as day
    from bounds
),
captured as (
    select
        observed_at::date as day,
        count(*) filter (capture_id not in (from seen.replayed)) as capture_count,
        sum(request_count)::bigint as request_count
    from raw.captures
    group by 1
)
select
    day,
    isodow(day) as weekday,
    isodow(day) >= 6 as is_weekend,
    coalesce(capture_count, 0) as capture_count,
    coalesce(request_count, 0) as request_count,
    date_trunc('week', day)::date as week_start_date,
    date_trunc('month', day)::date as month_start_date
from calendar
left join captured using (day)
