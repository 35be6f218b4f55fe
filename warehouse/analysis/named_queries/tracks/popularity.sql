-- title: Who made a track popular
-- title_zh: 谁带火了音乐
-- description: Confirmed videos of a scan in the order of publication: creator, followers, likes, and their share of all likes.
-- description_zh: 一次扫描已确认的作品，按发布时间排列：创作者、粉丝数、点赞数及其占全部点赞的比例。
-- parameter: music_id text: only this track / 仅此音乐
-- parameter: job_id text: this scan; empty: the newest of each track / 指定扫描，留空则取每首音乐最新一次
with newest as (
    select job_id from marts.job_results
    where job_id in (select job_id from marts.coverage)
    qualify row_number() over (partition by music_id order by committed_at desc, job_id) = 1
),
confirmed as (
    select job_id, music_id, aweme_id, sec_uid, committed_at from marts.confirmed_videos
    where ($music_id is null or music_id = $music_id)
        and case when coalesce($job_id, '') = '' then job_id in (select job_id from newest)
            else job_id = $job_id end
),
-- as the scan saw them: later observations do not count
observed as (
    select
        confirmed.job_id, aweme_id,
        arg_max(digg_count, (statistics_complete, digg_count is not null, observed_at)) as likes,
        arg_max(
            -- from the year 10000 on, it is no time in seconds
            case when create_time < 253402300800 then to_timestamp(create_time) end, observed_at
        ) as stated_at,
        arg_max(created_at, observed_at) as created_at,
        arg_max("desc", observed_at) as "desc",
        arg_max(share_url, observed_at) as share_url,
        arg_max(nickname, observed_at) as nickname
    from confirmed
    join seen.videos using (aweme_id)
    where observed_at <= confirmed.committed_at
    group by confirmed.job_id, aweme_id
),
published as (
    select
        confirmed.*, observed.* exclude (job_id, aweme_id, nickname, stated_at, created_at),
        coalesce(stated_at, created_at) as published_at,
        case when stated_at is not null then 'stated' when created_at is not null then 'id' end
            as published_at_source,
        coalesce(accounts.nickname, observed.nickname) as nickname, accounts.follower_count
    from confirmed
    left join observed using (job_id, aweme_id)
    left join marts.account_summaries as accounts
        on accounts.job_id = confirmed.job_id and accounts.sec_uid = confirmed.sec_uid
)
select
    music_id, published_at, published_at_source, sec_uid, nickname, follower_count,
    aweme_id, "desc", share_url, likes,
    row_number() over (partition by job_id order by likes desc nulls last, aweme_id) as likes_rank,
    likes / nullif(sum(likes) over (partition by job_id), 0) as likes_share,
    (sum(likes) over running)::bigint as likes_until_then,
    sum(likes) over running / nullif(sum(likes) over (partition by job_id), 0) as share_until_then,
    (sum(likes) over (partition by job_id))::bigint as all_likes, job_id
from published
window running as (
    partition by job_id order by published_at nulls last, aweme_id
    rows between unbounded preceding and current row
)
order by music_id, published_at nulls last, aweme_id
