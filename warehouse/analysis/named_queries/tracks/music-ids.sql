-- title: Music ids that carry a recording
-- description: Each music id under which confirmed videos of a track were found.
-- parameter: music_id text: only this track
select music_id, source_music_id, any_value(source_music_title) as title,
    count(distinct aweme_id) as videos, min(expansion_round) as first_round
from marts.confirmed_videos
where $music_id is null or music_id = $music_id
group by music_id, source_music_id
order by music_id, videos desc, source_music_id
