-- One row per account behind the confirmed videos of a job, most linked likes first.
-- `confirmed` has the confirmed videos, `profiles` the profiles that were read. A sum is of the
-- counts that are known; unknown is null, never 0.
with
ranked as (
    select
        *,
        row_number() over (
            partition by sec_uid
            order by digg_count desc nulls last, length(aweme_id), aweme_id
        ) as likes_rank
    from confirmed
    where sec_uid is not null
),
summed as (
    select
        sec_uid,
        first(nickname order by position) as nickname,
        first(unique_id order by position) as unique_id,
        count(*) as linked_video_count,
        sum(digg_count)::bigint as linked_digg_count,
        sum(comment_count)::bigint as linked_comment_count,
        sum(collect_count)::bigint as linked_collect_count,
        sum(share_count)::bigint as linked_share_count,
        bool_and(statistics_complete) as linked_statistics_complete,
        list(aweme_id order by likes_rank) filter (likes_rank <= $preview_limit) as aweme_ids
    from ranked
    group by sec_uid
)
select
    summed.sec_uid,
    coalesce(nullif(profiles.nickname, ''), summed.nickname) as nickname,
    coalesce(nullif(profiles.unique_id, ''), summed.unique_id) as unique_id,
    profiles.follower_count,
    profiles.follower_count_source,
    profiles.total_favorited,
    profiles.aweme_count,
    profiles.sec_uid is not null as profile_complete,
    linked_video_count,
    linked_digg_count,
    linked_comment_count,
    linked_collect_count,
    linked_share_count,
    linked_statistics_complete,
    aweme_ids
from summed
left join profiles on profiles.sec_uid = summed.sec_uid
order by linked_digg_count desc nulls last, summed.sec_uid
