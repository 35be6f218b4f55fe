-- One row per observed video.
-- Counts are of its best observation, as in the answers of the service: the newest with all four
-- counts exact, else the newest with likes, else the newest. Every other value is that of the best
-- observation that shows it, since no surface shows all; ids are the newest known.
with
ordered as (
    -- `newest` orders by time of observation, then of writing; as one number it sorts fast
    select
        *,
        (epoch_us(observed_at)::hugeint << 60)
            + (epoch_us(committed_at)::hugeint << 8)
            + (hash(surface) % 256)::hugeint as newest
    from seen.videos
),
ranked as (
    select
        *,
        (statistics_complete::hugeint << 112)
            + ((digg_count is not null)::hugeint << 111)
            + newest as quality
    from ordered
),
observed as (
    select
        aweme_id,
        arg_max(sec_uid, newest) as sec_uid,
        arg_max(music_id, newest) as music_id,
        arg_max(
            struct_pack(
                is_exact := is_exact,
                statistics_complete := statistics_complete,
                digg_count := digg_count,
                comment_count := comment_count,
                collect_count := collect_count,
                share_count := share_count,
                observed_at := observed_at
            ),
            quality
        ) as best,
        -- `arg_max` passes over rows in which the value is null, but not over an empty list
        arg_max("desc", quality) as "desc",
        arg_max(share_url, quality) as share_url,
        arg_max(media_type, quality) as media_type,
        arg_max(hashtag_ids, quality) as hashtag_ids,
        arg_max(hashtag_names, quality) as hashtag_names,
        arg_max(images_count, quality) as images_count,
        arg_max(duration_ms, quality) as duration_ms,
        count(*) as observation_count,
        coalesce(
            -- a stated time stands, also in rows of the first release, which have no other; from
            -- the year 10000 on, it is no time in seconds
            arg_max(
                case when create_time < 253402300800 then to_timestamp(create_time) end, newest
            ),
            arg_max(created_at, newest)
        ) as created_at,
        min(observed_at) as first_observed_at,
        max(observed_at) as last_observed_at
    from ranked
    group by aweme_id
)
select
    aweme_id,
    sec_uid,
    music_id,
    "desc",
    share_url,
    media_type,
    hashtag_ids,
    hashtag_names,
    best.is_exact as is_exact,
    best.statistics_complete as statistics_complete,
    best.digg_count as digg_count,
    best.comment_count as comment_count,
    best.collect_count as collect_count,
    best.share_count as share_count,
    images_count,
    duration_ms,
    observation_count,
    created_at,
    best.observed_at as counts_observed_at,
    first_observed_at,
    last_observed_at
from observed
