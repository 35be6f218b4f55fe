-- One row per ranked video of a job, in the job's sort order: the rows of marts.rankings.
-- `confirmed` has the confirmed videos with their hot score and what the order ranks by
-- (`sort_value`), the greatest first. Unknown values come last, ties are broken by the id.
with
ranked as (
    select
        *,
        row_number() over (
            order by sort_value desc nulls last, length(aweme_id), aweme_id
        ) as rank
    from confirmed
    where not $viral_only or digg_count >= $viral_threshold
)
select
    rank,
    aweme_id,
    link_type,
    digg_count,
    comment_count,
    collect_count,
    share_count,
    hot_score,
    statistics_complete,
    create_time
from ranked
where rank <= $count
order by rank
