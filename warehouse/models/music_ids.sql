-- One row per music id that was read, used by an observed video, or scanned.
-- Each value is the newest known one, of its own page before that of videos which use it.
with
pages as (
    select
        music_id,
        arg_max(title, (observed_at, committed_at, surface)) as title,
        arg_max(author, (observed_at, committed_at, surface)) as artist,
        arg_max(mapped_title, (observed_at, committed_at, surface)) as mapped_title,
        arg_max(mapped_artist, (observed_at, committed_at, surface)) as mapped_artist,
        arg_max(source_aweme_id, (observed_at, committed_at, surface)) as source_aweme_id,
        arg_max(service_track_id, (observed_at, committed_at, surface)) as service_track_id,
        arg_max(is_original_sound, (observed_at, committed_at, surface)) as is_original_sound,
        arg_max(duration_s, (observed_at, committed_at, surface)) as duration_s,
        max(created_at) as created_at,
        count(*) as page_observation_count,
        min(observed_at) as first_observed_at,
        max(observed_at) as last_observed_at
    from seen.tracks
    group by music_id
),
named as (
    -- many videos of one page use the same music id: of equally new ones, any but always the same
    select
        *,
        (epoch_us(observed_at)::hugeint << 60)
            + (hash(concat_ws(' ', aweme_id, surface, committed_at)) >> 8)::hugeint as newest
    from seen.videos
    where music_id is not null
),
uses as (
    select
        music_id,
        arg_max(music_title, newest) as title,
        arg_max(music_author, newest) as artist,
        arg_max(music_mapped_title, newest) as mapped_title,
        arg_max(music_mapped_artist, newest) as mapped_artist,
        arg_max(music_service_track_id, newest) as service_track_id,
        arg_max(music_is_original_sound, newest) as is_original_sound,
        arg_max(music_duration_s, newest) as duration_s,
        arg_max(music_created_at, newest) as created_at,
        count(distinct aweme_id) as observed_video_count,
        min(observed_at) as first_observed_at,
        max(observed_at) as last_observed_at
    from named
    group by music_id
),
counted as (
    select music_id, arg_max(row, day) as newest from marts.music_id_days as row group by music_id
),
ids as (
    select music_id from pages
    union
    select music_id from uses
    union
    select track_music_id from marts.tracks
    union
    select source_music_id from marts.confirmed_videos
    union
    select source_music_id from marts.variants
)
select
    music_id,
    source_aweme_id,
    coalesce(pages.service_track_id, uses.service_track_id) as service_track_id,
    coalesce(pages.title, uses.title) as title,
    coalesce(pages.artist, uses.artist) as artist,
    coalesce(pages.mapped_title, uses.mapped_title) as mapped_title,
    coalesce(pages.mapped_artist, uses.mapped_artist) as mapped_artist,
    coalesce(pages.is_original_sound, uses.is_original_sound) as is_original_sound,
    coalesce(pages.duration_s, uses.duration_s) as duration_s,
    newest.use_count as use_count,
    newest.use_count_exact as use_count_exact,
    newest.use_count_step as use_count_step,
    newest.use_count_observed_at as use_count_observed_at,
    coalesce(observed_video_count, 0) as observed_video_count,
    coalesce(page_observation_count, 0) as page_observation_count,
    coalesce(pages.created_at, uses.created_at) as created_at,
    least(pages.first_observed_at, uses.first_observed_at) as first_observed_at,
    greatest(pages.last_observed_at, uses.last_observed_at) as last_observed_at
from ids
left join pages using (music_id)
left join uses using (music_id)
left join counted using (music_id)
