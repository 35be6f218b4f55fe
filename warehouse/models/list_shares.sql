-- One row per music id and day (UTC) on which its official list was read.
-- A row of a list is a video that it showed on the day, however often: its items, and the foreign
-- rows that were observed with them and are none.
with
shown as (
    select distinct
        captures.entity_id as music_id,
        captures.observed_at::date as day,
        rows.aweme_id
    from (
        select capture_id, aweme_id from seen.capture_items
        union
        select capture_id, aweme_id from seen.videos where surface = 'music_list'
    ) as rows
    join raw.captures as captures using (capture_id)
    where captures.surface = 'music_list'
),
recordings as (
    -- the tracks whose recording the music id carries
    select track_music_id, track_music_id as music_id from marts.tracks
    union
    select track_music_id, source_music_id from marts.track_videos
),
verdicts as (
    select track_music_id, candidate_aweme_id as aweme_id, verdict
    from marts.audio_comparisons
    where verdict <> 'not_comparable'
    union
    -- what a rejected candidate says of its reference is nothing
    select track_music_id, reference_aweme_id, verdict
    from marts.audio_comparisons
    where verdict = 'confirmed'
),
heard as (
    select music_id, aweme_id, bool_or(verdict = 'confirmed') as is_confirmed
    from recordings
    join verdicts using (track_music_id)
    group by music_id, aweme_id
),
counted as (
    select
        shown.music_id,
        shown.day,
        count(*) as row_count,
        count(videos.music_id) as named_row_count,
        count(*) filter (videos.music_id = shown.music_id) as own_row_count,
        count(heard.aweme_id) as compared_row_count,
        count(*) filter (heard.is_confirmed) as audio_row_count,
        count(*) filter (heard.is_confirmed and videos.music_id <> shown.music_id)
            as foreign_audio_row_count
    from shown
    left join marts.videos as videos using (aweme_id)
    left join heard on heard.music_id = shown.music_id and heard.aweme_id = shown.aweme_id
    group by shown.music_id, shown.day
)
select
    *,
    own_row_count / nullif(named_row_count, 0) as own_share,
    audio_row_count / nullif(compared_row_count, 0) as audio_share
from counted
