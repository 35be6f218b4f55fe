-- title: Genuine share of lists
-- title_zh: 作品列表的真实占比
-- description: Of the videos that the list of a music id showed on a day: how many name this id, and how many sound like it.
-- description_zh: 音乐 ID 的作品列表每天展示的作品中，使用该 ID 的数量，以及音频与之一致的数量。
-- parameter: music_id text: only the list of this music id / 仅此音乐 ID 的列表
select music_id, day, row_count, named_row_count, own_row_count, own_share,
    compared_row_count, audio_row_count, audio_share, foreign_audio_row_count
from marts.list_shares
where $music_id is null or music_id = $music_id
order by music_id, day
