-- One row per track and music id of `marts.genealogy`.

, met as (
    select
        track_music_id, source_music_id as music_id,
        min(first_confirmed_at) as first_confirmed_at,
        count(*) filter (relation = 'variant') as variant_video_count
    from carrying
    group by all
)
select
    track_key,
    asked.label,
    genealogy.*,
    coalesce(variant_video_count, 0) as variant_video_count,
    first_confirmed_at,
    first_confirmed_at > previous_at as is_new
from asked
join marts.genealogy as genealogy using (track_music_id)
left join before using (track_key)
left join met using (track_music_id, music_id)
order by
    place, evidence = 'name', confirmed_video_count desc, genealogy.created_at nulls last,
    genealogy.music_id
