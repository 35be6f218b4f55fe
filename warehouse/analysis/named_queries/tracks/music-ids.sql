-- title: Music ids that carry a recording
-- title_zh: 含有同一录音的音乐 ID
-- description: Each music id under which confirmed videos of a track were found.
-- description_zh: 每首音乐的已确认作品所使用的各个音乐 ID。
-- parameter: music_id text: only this track / 仅此音乐
select music_id, source_music_id, any_value(source_music_title) as title,
    count(distinct aweme_id) as videos, min(expansion_round) as first_round
from marts.confirmed_videos
where $music_id is null or music_id = $music_id
group by music_id, source_music_id
order by music_id, videos desc, source_music_id
